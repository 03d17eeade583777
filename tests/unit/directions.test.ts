import type { ParameterBlock } from "isoflat";
import { expect, test } from "vitest";
import { norm, randomVector, scaled } from "../../www/src/worker/directions";

const blocks: ParameterBlock[] = [
  { layer: 0, kind: "weight", start: 0, end: 4, inputs: 2, outputs: 2 },
  { layer: 0, kind: "bias", start: 4, end: 6, inputs: 2, outputs: 2 },
];
const parameters = Float64Array.of(3, 4, 0, 0, 6, 8);
const raw = Float64Array.of(1, 0, 2, 1, 1, 1);

test("a seed gives the same standard normal entries every time, another seed others", () => {
  const vector = randomVector(10001, 5);
  expect(randomVector(10001, 5)).toEqual(vector);
  expect(randomVector(10001, 6)).not.toEqual(vector);
  const mean = vector.reduce((sum, x) => sum + x, 0) / vector.length;
  expect(Math.abs(mean)).toBeLessThan(0.05);
  expect(norm(vector) ** 2 / vector.length).toBeCloseTo(1, 1);
});

test("none: the whole vector at the length, and the one given stays", () => {
  const before = raw.slice();
  const vector = scaled(raw, parameters, blocks, "none", 10);
  expect(norm(vector)).toBeCloseTo(10);
  expect(raw).toEqual(before);
});

test("layer: each block at the length of the parameters there", () => {
  const vector = scaled(raw, parameters, blocks, "layer", 10);
  expect(norm(vector.subarray(0, 4))).toBeCloseTo(5);
  expect(norm(vector.subarray(4))).toBeCloseTo(10);
});

test("filter: each row at the length of its row, rows of zeros and biases not moved", () => {
  const vector = scaled(raw, parameters, blocks, "filter", 10);
  expect([...vector]).toEqual([5, 0, 0, 0, 0, 0]);
});
