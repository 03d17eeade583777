import { expect, test } from "vitest";
import { costInWords } from "../../www/src/measure-costs";
import { model } from "./states";

test("without piecewise linear activations a trace is estimated", () => {
  const smooth = model({ piecewiseLinear: false });
  expect(costInWords({ cost: "sweep" }, smooth)).toBe(costInWords({ cost: "probes" }, smooth));
  expect(costInWords({ cost: "sweep" }, model())).not.toBe(costInWords({ cost: "probes" }, model()));
});
