import type { NetworkJSON } from "isoflat";
import { describe, expect, test } from "vitest";
import { inputOf, networkOf, type Row, remove, rowsOf, shapes, title, usualShortcut } from "../../www/src/layers";

const chain = {
  input: [1, 28, 28] as [number, number, number],
  layers: [
    { type: "conv2d" as const, channels: 6, kernel: 5, padding: 2 },
    { type: "relu" as const },
    { type: "max_pool2d" as const, size: 2 },
    { type: "flatten" as const },
    { type: "dense" as const, units: 10 },
  ],
};

describe("rows of layers", () => {
  test("are a chain, there and back", () => {
    expect(networkOf(chain.input, rowsOf(chain) ?? [])).toEqual(chain);
  });

  test("are a graph of sums, there and back", () => {
    const residual: NetworkJSON = {
      input: [3, 8, 8],
      layers: [
        { type: "conv2d", channels: 4, kernel: 3, padding: 1, name: "conv1" },
        { type: "relu", name: "stem" },
        { type: "conv2d", channels: 8, kernel: 3, padding: 1, stride: 2, name: "layer1.0.conv1" },
        { type: "scale", name: "inside" },
        { type: "conv2d", channels: 8, kernel: 1, stride: 2, from: "stem", name: "layer1.0.downsample.0" },
        { type: "add", from: ["layer1.0.downsample.0", "inside"] },
        { type: "relu" },
        { type: "global_avg_pool2d" },
        { type: "flatten" },
        { type: "dense", units: 10 },
      ],
    };
    const rows = rowsOf(residual) ?? [];
    expect(networkOf(residual.input, rows)).toEqual(residual);
    expect(rows.map((row) => title(row)).slice(2, 5)).toEqual([
      "layer1.0.conv1: convolution 3 × 3, 8 channels",
      "inside: scale, of a batch normalisation",
      "layer1.0.downsample.0: convolution 1 × 1, 8 channels",
    ]);
    expect(shapes(residual.input, rows, [256, 256, 128, 128, 128, 128, 128, 8, 8, 10])[4]).toBe("8 × 4 × 4");
  });

  test("are none of what rows cannot say", () => {
    expect(rowsOf({ ...chain, layers: [{ type: "concat", from: ["input", "input"] }] })).toBeNull();
    expect(rowsOf({ ...chain, layers: [{ type: "relu", from: "nobody" }] })).toBeNull();
    expect(rowsOf({ ...chain, layers: [{ type: "add", from: ["input", "input", "input"] }] })).toBeNull();
  });

  test("who read a row that is taken out reads what it read", () => {
    const rows = rowsOf({
      input: [4],
      layers: [
        { type: "dense", units: 4, name: "a" },
        { type: "relu", name: "b" },
        { type: "dense", units: 4 },
        { type: "tanh" },
        { type: "add", from: ["input", "b"] },
      ],
    });
    remove(rows ?? [], 1);
    expect(networkOf([4], rows ?? []).layers).toEqual([
      { type: "dense", units: 4, name: "a" },
      { type: "dense", units: 4 },
      { type: "tanh" },
      { type: "add", from: ["input", "a"] },
    ]);
  });

  test("so does the row right behind it, which reads it without saying so", () => {
    const rows = rowsOf({
      input: [4],
      layers: [
        { type: "dense", units: 4, name: "a" },
        { type: "tanh", name: "b" },
        { type: "relu", from: "a" },
        { type: "dense", units: 4 },
        { type: "add", from: ["b", "a"] },
      ],
    });
    remove(rows ?? [], 2);
    expect(networkOf([4], rows ?? []).layers[2]).toEqual({ type: "dense", units: 4, from: "a" });
  });

  test("a sum adds the row before the one that it reads", () => {
    const rows = rowsOf(chain) ?? [];
    expect(usualShortcut(rows, 2)).toBe(rows[0]);
    expect(usualShortcut(rows, 1)).toBe("input");
    expect(usualShortcut(rows, 0)).toBe("input");
  });

  test("a sum names what it reads, wherever that has gone", () => {
    const rows = rowsOf({ input: [1, 4, 4], layers: [{ type: "relu" }, { type: "tanh" }] }) ?? [];
    const [first] = rows;
    const sum: Row = { layer: { type: "add" }, ...(first && { shortcut: first }) };
    rows.push(sum);
    rows.splice(2, 0, { layer: { type: "silu" } });
    expect(networkOf([1, 4, 4], rows).layers).toEqual([
      { type: "relu", name: "layer_1" },
      { type: "tanh" },
      { type: "silu", name: "layer_3" },
      { type: "add", from: ["layer_3", "layer_1"] },
    ]);
  });

  test("say what they give", () => {
    const rows = rowsOf(chain) ?? [];
    expect(shapes(chain.input, rows, [4704, 4704, 1176, 1176, 10])).toEqual([
      "6 × 28 × 28",
      "6 × 28 × 28",
      "6 × 14 × 14",
      "1176",
      "10",
    ]);
    expect(shapes(chain.input, rows, [60, null])).toEqual(["6 × 10", "", "", "", ""]);
  });
});

test("the shape of an input is read as people write it", () => {
  expect(inputOf("3 × 32 × 32")).toEqual([3, 32, 32]);
  expect(inputOf("3x32x32")).toEqual([3, 32, 32]);
  expect(inputOf(" 784 ")).toEqual([784]);
  for (const text of ["", "3, 32", "a", "0", "-1", "1.5", "1 2 3 4"]) expect(inputOf(text)).toBeNull();
});
