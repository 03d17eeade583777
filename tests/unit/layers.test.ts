import { describe, expect, test } from "vitest";
import { inputOf, networkOf, type Row, rowsOf, shapes } from "../../www/src/layers";

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

  test("are none of a graph", () => {
    expect(rowsOf({ ...chain, layers: [{ type: "relu", name: "a" }] })).toBeNull();
    expect(rowsOf({ ...chain, layers: [{ type: "add", from: ["input", "input"] }] })).toBeNull();
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
    expect(shapes(chain, [4704, 4704, 1176, 1176, 10])).toEqual([
      "6 × 28 × 28",
      "6 × 28 × 28",
      "6 × 14 × 14",
      "1176",
      "10",
    ]);
    expect(shapes(chain, [60, null])).toEqual(["6 × 10", "", "", "", ""]);
  });
});

test("the shape of an input is read as people write it", () => {
  expect(inputOf("3 × 32 × 32")).toEqual([3, 32, 32]);
  expect(inputOf("3x32x32")).toEqual([3, 32, 32]);
  expect(inputOf(" 784 ")).toEqual([784]);
  for (const text of ["", "3, 32", "a", "0", "-1", "1.5", "1 2 3 4"]) expect(inputOf(text)).toBeNull();
});
