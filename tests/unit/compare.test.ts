import type { MeasureValue } from "isoflat";
import { describe, expect, test } from "vitest";
import { compare, shouldStandStill } from "../../www/src/compare";

const value = (number: number, more: Partial<MeasureValue> = {}): MeasureValue => ({
  key: "hessian.trace",
  value: number,
  converged: true,
  ...more,
});

describe("compare", () => {
  test("takes for still what rounding explains, and in f32 more than in f64", () => {
    const [before, after] = [value(100), value(100.01)];
    expect(compare(before, after, "f32").verdict).toBe("still");
    expect(compare(before, after, "f64").verdict).toBe("moves");
    expect(compare(before, before, "f64").word).toBe("stands still, exactly");
  });

  test("adds what the numbers know of their own error", () => {
    const before = value(100, { standardError: 1 });
    expect(compare(before, value(102.9), "f64").verdict).toBe("still");
    expect(compare(before, value(103.1), "f64").verdict).toBe("moves");
    expect(compare(value(100, { residual: 5 }), value(104), "f64").verdict).toBe("still");
  });

  test("says nothing of a move that did not converge", () => {
    expect(compare(value(1), value(5, { converged: false }), "f64").verdict).toBe("unsure");
  });

  test("says which way and how far", () => {
    const up = compare(value(2), value(8), "f64");
    expect([up.symbol, up.ratio, up.word]).toEqual(["↗", 4, "moves, × 4.00"]);
    expect(compare(value(8), value(2), "f64").symbol).toBe("↘");
    const turned = compare(value(-1), value(3), "f64");
    expect(turned.word).toBe("moves, changes sign");
    expect(turned.ratio).toBeNaN();
  });
});

describe("shouldStandStill", () => {
  const still = { lambda: [1, 1], nodewise: null, permutation: null };
  const layerwise = { invariant: { layerwise: true, nodewise: false, permutation: true } };

  test("asks theory only about the maps that the bend has", () => {
    expect(shouldStandStill(layerwise, still)).toBe(true);
    expect(shouldStandStill(layerwise, { ...still, lambda: [2, 0.5] })).toBe(true);
    expect(shouldStandStill(layerwise, { ...still, nodewise: { seed: 1, range: 5 } })).toBe(false);
    expect(shouldStandStill(layerwise, { ...still, permutation: { seed: 1 } })).toBe(true);
  });
});
