import { describe, expect, test } from "vitest";
import { widthOf } from "../../www/src/charts/font";
import { linear, log, type Scale, symlog } from "../../www/src/charts/scales";
import { round, rounds } from "../../www/src/format";

const NBSP = "\u00a0";
const labels = ({ ticks }: Scale): string[] => ticks.map(({ label }) => label);

describe("round numbers", () => {
  test("have as many digits as they have", () => {
    expect([1e6, 1.5e6, -2.25e-7, 123456].map((value) => round(value))).toEqual([
      `1${NBSP}×${NBSP}10⁶`,
      `1.5${NBSP}×${NBSP}10⁶`,
      `−2.25${NBSP}×${NBSP}10⁻⁷`,
      `1.23456${NBSP}×${NBSP}10⁵`,
    ]);
    expect([0.1 + 0.2, 3e5 * 1.1, 0].map((value) => round(value))).toEqual(["0.3", `3.3${NBSP}×${NBSP}10⁵`, "0"]);
  });

  test("get as many more as tell those beside each other apart", () => {
    expect(rounds([1000.0001, 1000.0002])).toEqual(["1000.0001", "1000.0002"]);
    expect(rounds([0.125, 0.25], 1)).toEqual(["0.1", "0.3"]);
    expect(rounds([1, 1])).toEqual(["1", "1"]);
  });
});

describe("no two ticks of an axis have the same label", () => {
  const unique = (scale: Scale) => {
    const { ticks } = scale;
    expect(new Set(labels(scale)).size, labels(scale).join(" | ")).toBe(new Set(ticks.map(({ value }) => value)).size);
    expect(new Set(ticks.map(({ value }) => value)).size).toBe(ticks.length);
  };

  test("and none is a lie", () => {
    expect(labels(linear(0, 3e6))).toEqual([
      "0",
      ...["5", "1", "1.5", "2", "2.5", "3"].map((m, i) => `${m}${NBSP}×${NBSP}10${i === 0 ? "⁵" : "⁶"}`),
    ]);
  });

  test("on linear axes, wide or narrow, near 0 or far from it", () => {
    for (const size of [1e-9, 1e-4, 0.03, 1, 700, 1e5, 1.3e6, 4e12]) {
      for (const from of [0, -1, -0.37, 0.9, 0.999, 0.999_999_9]) {
        for (const count of [3, 4, 5, 6]) unique(linear(from * size, size, count));
      }
    }
    unique(linear(1, 1 + 1e-13));
    unique(linear(1e20, 1e20));
    expect(labels(linear(0, Number.NaN))).toEqual([]);
  });

  test("on logarithmic ones", () => {
    for (const low of [1e-9, 3e-5, 0.02, 1, 4e4, 1.1e6]) {
      for (const factor of [1, 1.2, 1.9, 3, 9.5, 20, 4e3, 1e9]) unique(log(low, low * factor));
    }
    unique(log(1, Number.POSITIVE_INFINITY));
    for (const unit of [1e-8, 1, 1e5]) unique(symlog(-30 * unit, 4e6 * unit, unit));
    unique(symlog(0, Number.POSITIVE_INFINITY, 1));
  });
});

test("a label's room grows with its digits, and less with exponents", () => {
  expect(widthOf("1.25 × 10⁻⁶")).toBeGreaterThan(widthOf("1.25"));
  expect(widthOf("10⁻⁶")).toBeLessThan(widthOf("1000"));
});
