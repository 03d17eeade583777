import { expect, test } from "vitest";
import { costInSeconds, costInWords } from "../../www/src/measure-costs";
import type { SampleCosts } from "../../www/src/worker/protocol";
import { model } from "./states";

const COSTS: SampleCosts = {
  callSeconds: 0,
  gradientSeconds: 1e-3,
  productSeconds: 2e-3,
  evaluationSeconds: 5e-4,
  dataBytes: 0,
  pointBytes: 0,
  vectorBytes: 0,
};

test("a pass is cheaper than a sweep, which takes one for each output, and a search takes most", () => {
  const seconds = (cost: "pass" | "sweep" | "eigenvalues" | "search") =>
    costInSeconds({ cost }, model({ measuredSamples: 100 }), COSTS, 1) ?? Number.NaN;
  expect(seconds("pass")).toBeCloseTo(0.1);
  expect(seconds("sweep")).toBeCloseTo(10 * seconds("pass"));
  expect(seconds("search")).toBeGreaterThan(seconds("eigenvalues"));
});

test("threads share the samples, and where too little is known nothing is said", () => {
  const one = costInSeconds({ cost: "pass" }, model(), COSTS, 1) ?? 0;
  expect(costInSeconds({ cost: "pass" }, model(), COSTS, 4)).toBeCloseTo(one / 4);
  expect(costInSeconds({ cost: "pass" }, null, COSTS, 1)).toBeNull();
  expect(costInSeconds({ cost: "pass" }, model(), null, 1)).toBeNull();
  expect(costInSeconds({ cost: "sweep" }, model({ layers: ["conv 3×3"] }), COSTS, 1)).toBeNull();
});

test("without piecewise linear activations a trace is estimated", () => {
  const smooth = model({ piecewiseLinear: false });
  expect(costInWords({ cost: "sweep" }, smooth)).toBe(costInWords({ cost: "probes" }, smooth));
  expect(costInWords({ cost: "sweep" }, model())).not.toBe(costInWords({ cost: "probes" }, model()));
});
