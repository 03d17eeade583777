import { expect, test } from "vitest";
import { advice, lostSaid } from "../../www/src/errors";
import { INFO } from "./states";

test("advice fits the code; what a person stopped needs none", () => {
  expect(advice("parse")).toMatch(/stays open/);
  expect(advice("backend_unavailable")).toMatch(/CPU/);
  expect(advice("aborted")).toBe("");
});

test("a device that was lost is said to be back only where it is", () => {
  const gpu = { ...INFO, backend: "gpu", precision: "f32" } as const;
  expect(lostSaid("gpu", gpu)).toMatch(/GPU was lost\. It has been set up again/);
  expect(lostSaid("gpu", INFO)).toMatch(/could not be had again\. The CPU has taken over, in f64/);
  expect(lostSaid("cpu", INFO)).not.toMatch(/GPU/);
  expect(advice("device_lost")).toMatch(/CPU.*load the page/);
});
