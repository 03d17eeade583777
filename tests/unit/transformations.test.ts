import type { FreeTensor } from "isoflat";
import { describe, expect, test } from "vitest";
import { checkTransformations, factorsOf, powersOf, transformationName } from "../../www/src/transformations";

const straight = { lambda: [1, 1, 1], nodewise: null, permutation: null };

test("the check draws what the bend does not say", () => {
  const maps = checkTransformations(straight, 3, 5);
  expect(maps.map(({ type }) => type)).toEqual([
    "random_layerwise",
    "random_nodewise",
    "random_permutation",
    "composition",
  ]);
  expect(maps[1]).toEqual({ type: "random_nodewise", seed: 1, low: 0.2, high: 5 });
});

test("the check takes the bend's own factors and seeds", () => {
  const bend = { lambda: [2, 1, 0.5], nodewise: { seed: 8, range: 3 }, permutation: { seed: 9 } };
  const [layerwise, nodewise, permutation, all] = checkTransformations(bend, 3, 5);
  expect(layerwise).toEqual({ type: "layerwise", lambda: [2, 1, 0.5] });
  expect(nodewise).toMatchObject({ seed: 8, high: 5 });
  expect(permutation).toEqual({ type: "random_permutation", seed: 9 });
  expect(all).toEqual({ type: "composition", of: [layerwise, nodewise, permutation] });
});

test("a single layer has no hidden units to rescale or reorder", () => {
  expect(checkTransformations({ ...straight, lambda: [1] }, 1, 5)).toHaveLength(1);
});

test("a tensor's writers and readers make up for each other", () => {
  // Two layers write the second tensor, one of which reads it too.
  const tensors = [
    { writers: [0], readers: [1] },
    { writers: [1, 2], readers: [2, 3] },
  ];
  expect(factorsOf(tensors, [1, 0], 4)).toEqual([10, 0.1, 1, 1]);
  expect(factorsOf(tensors, [0, 2], 4)).toEqual([1, 100, 1, 0.01]);
  expect(factorsOf(tensors, [], 4)).toEqual([1, 1, 1, 1]);
});

test("a drawn map has the name of its kind", () => {
  const [layerwise, nodewise, permutation, all] = checkTransformations(straight, 3, 5);
  const names = [layerwise, nodewise, permutation, all].map((map) => map && transformationName(map));
  expect(names).toEqual(["layer-wise", "node-wise", "permutation", "all three"]);
});

describe("powersOf", () => {
  test("finds the tensors' factors in those of the layers", () => {
    const tensors = [
      { writers: [0, 2], readers: [1, 3] },
      { writers: [1], readers: [2] },
      { writers: [3], readers: [4] },
    ] as FreeTensor[];
    const powers = [0.5, -1, 2];
    const found = powersOf(tensors, factorsOf(tensors, powers, 5));
    found.forEach((power, tensor) => {
      expect(power).toBeCloseTo(powers[tensor] ?? Number.NaN);
    });
  });
});
