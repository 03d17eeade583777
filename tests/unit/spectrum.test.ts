import { describe, expect, test } from "vitest";
import { type Ends, endsPlot, extent, ordinal } from "../../www/src/charts/spectrum";

const pairs = (...values: number[]) => values.map((value) => ({ value, residual: 0, converged: true }));
const ends = (top: number[], bottom: number[]): Ends => ({ top: pairs(...top), bottom: pairs(...bottom) });

describe("the ends of a spectrum, in words", () => {
  test("say nothing of an end that was not asked for", () => {
    expect(extent(ends([3.32], []))).toBe("λ up to 3.32");
    expect(extent(ends([], [-0.4, -0.1]))).toBe("λ from −0.400 on");
    expect(extent(ends([3.32, 2], [-0.4]))).toBe("λ from −0.400 to 3.32");
  });

  test("say that none is below 0 where that is known", () => {
    expect(extent(ends([3.32], []), true)).toBe("λ up to 3.32, and never below 0");
  });

  test("are by magnitude where power iteration has found them", () => {
    const found = { ...ends([-112], []), norms: new Float64Array([90, 112]) };
    expect(extent(found)).toBe("largest in magnitude: λ = −112");
    expect(endsPlot([{ point: "trained", value: found }]).x.ticks).toEqual([{ value: 1, label: "largest |λ|" }]);
  });
});

describe("the ends of a spectrum, drawn", () => {
  const labels = (top: number, bottom: number): string[] => {
    const values = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
    const { x } = endsPlot([{ point: "trained", value: ends(values(top), values(bottom)) }]);
    // Each has a place of its own.
    expect(new Set(x.ticks.map(({ value }) => value)).size).toBe(x.ticks.length);
    expect(x.ticks.every(({ value }) => value > x.low && value < x.high)).toBe(true);
    return x.ticks.map(({ label }) => label);
  };

  test("are counted as people count", () => {
    expect(labels(2, 2)).toEqual(["largest", "2nd", "2nd smallest", "smallest"]);
    expect(labels(21, 3)).toEqual(["largest", "21st", "3rd smallest", "smallest"]);
    expect([1, 4, 11, 12, 13, 22, 23, 101, 111, 113, 212].map(ordinal).join(" ")).toBe(
      "1st 4th 11th 12th 13th 22nd 23rd 101st 111th 113th 212th",
    );
  });

  test("may be one alone", () => {
    expect(labels(1, 0)).toEqual(["largest"]);
    expect(labels(0, 1)).toEqual(["smallest"]);
    expect(labels(0, 3)).toEqual(["3rd smallest", "smallest"]);
  });
});
