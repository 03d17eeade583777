import { expect, test } from "vitest";
import { advice } from "../../www/src/errors";

test("advice fits the code; what a person stopped needs none", () => {
  expect(advice("parse")).toMatch(/stays open/);
  expect(advice("backend_unavailable")).toMatch(/CPU/);
  expect(advice("aborted")).toBe("");
});
