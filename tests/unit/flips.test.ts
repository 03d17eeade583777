import type { NetworkJSON } from "isoflat";
import { describe, expect, test } from "vitest";
import { type Beginning, beginningsOf, choicesAmong, flipsBetween } from "../../www/src/flips";

const C: NetworkJSON = {
  input: [1, 4, 4],
  layers: [
    { type: "conv2d", channels: 2, kernel: 1 },
    { type: "relu" },
    { type: "max_pool2d", size: 2 },
    { type: "flatten" },
    { type: "dense", units: 3 },
    { type: "relu" },
    { type: "dense", units: 2 },
  ],
};

describe("What a network's ReLUs and pools choose", () => {
  test("is among what their networks' beginnings give", () => {
    const found = beginningsOf(C);
    expect(found.map(({ chooses }) => chooses)).toEqual(["relu", "max_pool2d", "relu"]);
    expect(found.map(({ isAfterRelu }) => isAfterRelu)).toEqual([false, true, false]);
    expect(found.map(({ channels }) => channels)).toEqual([2, 2, 0]);
    // No network ends with a ReLU, and an image is given flat.
    const types = found.map(({ network }) => network.layers.map(({ type }) => type).join(" "));
    expect(types).toEqual(["conv2d flatten", "conv2d flatten", "conv2d relu max_pool2d flatten dense"]);
  });

  const relu: Beginning = { network: C, chooses: "relu", isAfterRelu: false, channels: 0 };
  const pool: Beginning = { network: C, chooses: "max_pool2d", isAfterRelu: true, channels: 1 };

  test("is on or off, and which of a window; where nothing is on, the first", () => {
    expect([...choicesAmong(new Float64Array([-1, 0, 2, 1e-300]), 2, relu)]).toEqual([0, 0, 1, 1]);
    const image = new Float64Array([1, 2, -5, -4, 3, 0, -6, -7, 9, 9, 0, 0, 9, 9, 0, 1]);
    expect([...choicesAmong(image, 1, pool)]).toEqual([2, 0, 0, 3]);
    expect([...choicesAmong(image, 1, { ...pool, isAfterRelu: false })]).toEqual([2, 1, 0, 3]);
    // Two samples of one window each, and a window that an odd image does not fill.
    expect([...choicesAmong(new Float64Array([1, 2, 3, 4, 4, 3, 2, 1]), 2, pool)]).toEqual([3, 0]);
    expect([...choicesAmong(new Float64Array([1, 2, 9, 4, 3, 9, 9, 9, 9]), 1, pool)]).toEqual([2]);
  });

  test("flips are counted once a sample and place", () => {
    const [a, b] = [
      [new Uint8Array([0, 1, 1]), new Uint8Array([3])],
      [new Uint8Array([0, 0, 1]), new Uint8Array([2])],
    ] as const;
    expect(flipsBetween(a, b)).toBe(2);
    expect(flipsBetween(a, a)).toBe(0);
  });
});
