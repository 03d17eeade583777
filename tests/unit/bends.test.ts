import { describe, expect, test } from "vitest";
import { alphaFor, decadesOf, lambdaFor, noBend, refusalToRescale } from "../../www/src/bends";
import type { Valley } from "../../www/src/worker/protocol";

const chain = { depth: 3, homogeneous: true, tensors: null };
const valley: Valley = { layer: 1, block: 4, norm: 8, span: 1, line: { s: [], loss: [] } };
const product = (values: number[] | null) => values?.reduce((a, b) => a * b, 1);

describe("lambdaFor", () => {
  test("leaves the weights as they are at × 1, both ways", () => {
    expect(lambdaFor({ way: "bend", decades: 0 }, chain, null, false)).toEqual([1, 1, 1]);
    expect(lambdaFor({ way: "sharpen", decades: 0 }, chain, valley, true)).toEqual([1, 1, 1]);
  });

  test("shrinks the first layer by the root of the factor, and the others make up for it evenly", () => {
    const lambda = lambdaFor({ way: "bend", decades: 4 }, chain, null, false);
    expect(lambda?.[0]).toBeCloseTo(1e-2);
    expect(lambda?.[1]).toBeCloseTo(10);
    expect(lambda?.[2]).toBeCloseTo(10);
    expect(decadesOf({ ...noBend(3), lambda: lambda ?? [] })).toBeCloseTo(4);
  });

  test("shrinks the sharpest layer until its block has the norm asked for, against one neighbour", () => {
    const lambda = lambdaFor({ way: "sharpen", decades: 2 }, chain, valley, false);
    const alpha = lambda?.[1] ?? 1;
    expect(valley.block / alpha ** 2).toBeGreaterThan(valley.norm * 100);
    expect(lambda?.[0]).toBe(1);
    expect(product(lambda)).toBeCloseTo(1);
  });

  test("waits for the sharpest layer to be known", () => {
    expect(lambdaFor({ way: "sharpen", decades: 1 }, chain, null, false)).toBeNull();
  });

  test("keeps what meets in a graph in step", () => {
    // Layers 0 and 1 write one tensor, which layer 2 reads.
    const graph = { depth: 3, homogeneous: true, tensors: [{ writers: [0, 1], readers: [2] }] } as never;
    const lambda = lambdaFor({ way: "bend", decades: 2 }, graph, null, false);
    expect(lambda?.[0]).toBeCloseTo(0.1);
    expect(lambda?.[1]).toBeCloseTo(0.1);
    expect(lambda?.[2]).toBeCloseTo(10);
  });

  test("begins in a graph with the first layer that has a factor of its own", () => {
    // Layer 0 writes a tensor and reads it: what it gains it loses.
    const tensors = [
      { writers: [0, 1], readers: [0] },
      { writers: [2], readers: [3] },
    ];
    const graph = { depth: 4, homogeneous: true, tensors } as never;
    const lambda = lambdaFor({ way: "bend", decades: 2 }, graph, null, false);
    expect(lambda?.[1]).toBeCloseTo(0.1);
    expect(lambda?.[0]).toBeCloseTo(1);
  });
});

describe("alphaFor", () => {
  test("is a power of two where one is wanted, and then no larger", () => {
    const alpha = alphaFor(valley, 3, false);
    const exact = alphaFor(valley, 3, true);
    expect(Number.isInteger(Math.log2(exact))).toBe(true);
    expect(exact).toBeLessThanOrEqual(alpha);
    expect(exact).toBeGreaterThan(alpha / 2);
  });
});

describe("refusalToRescale", () => {
  test("names what is missing: two layers, homogeneous activations, in a graph a free tensor", () => {
    expect(refusalToRescale(chain)).toBeNull();
    expect(refusalToRescale({ ...chain, depth: 1 })).toMatch(/single layer/);
    expect(refusalToRescale({ ...chain, homogeneous: false })).toMatch(/not positively homogeneous/);
    expect(refusalToRescale({ ...chain, tensors: [] })).toMatch(/added to its inputs/);
  });
});
