import { describe, expect, test } from "vitest";
import { lossTicks } from "../../www/src/charts/axes";
import { heightsOf, isWhole, lowest, rowsOf } from "../../www/src/charts/heights";
import { linear, log, type Scale, symlog } from "../../www/src/charts/scales";
import { landscape } from "./states";

const labels = ({ ticks }: Scale): string[] => ticks.map(({ label }) => label);

describe("scales", () => {
  test("a linear one has round ticks within its range", () => {
    const scale = linear(0, 1);
    expect([scale.at(0), scale.at(0.25), scale.at(1)]).toEqual([0, 0.25, 1]);
    expect(labels(scale)).toEqual(["0", "0.2", "0.4", "0.6", "0.8", "1"]);
    expect(labels(linear(-0.3, 0.3, 4))).toEqual(["−0.2", "0", "0.2"]);
  });

  test("one without an extent still says where its value is", () => {
    expect(Number.isFinite(linear(3, 3).at(3))).toBe(true);
  });

  test("a logarithmic one steps by powers of ten, and puts what is below it at the bottom", () => {
    const scale = log(1e-4, 1e4);
    expect(scale.at(1)).toBeCloseTo(0.5);
    expect([scale.at(0), scale.at(-5)]).toEqual([0, 0]);
    expect(labels(scale)).toEqual(["10⁻⁴", "0.01", "1", "100", "10⁴"]);
  });

  test("within two decades a logarithmic one has ticks between the powers", () => {
    expect(
      log(1, 50)
        .ticks.map(({ value }) => value)
        .sort((a, b) => a - b),
    ).toEqual([1, 2, 5, 10, 20, 50]);
  });

  test("one for both signs is odd, and monotonic through 0", () => {
    const scale = symlog(-1000, 1000, 0.1);
    expect(scale.at(0)).toBeCloseTo(0.5);
    expect(scale.at(30) + scale.at(-30)).toBeCloseTo(1);
    const at = [-1000, -1, -0.01, 0, 0.01, 1, 1000].map(scale.at);
    expect(at).toEqual([...at].sort((a, b) => a - b));
    expect(labels(scale)).toContain("−10");
  });
});

describe("heightsOf", () => {
  test("are linear where 1 + loss has no logarithm, and have levels there", () => {
    const deep = heightsOf([landscape([[-5, -3, -2, -1]])], "log");
    expect([deep.kind, deep.low, deep.high, deep.at(-3)]).toEqual(["linear", -5, -1, 0.5]);
    expect(deep.levels.length).toBeGreaterThan(3);
    expect(deep.levels.every((level) => level > -5 && level < -1)).toBe(true);
    expect(lossTicks(deep).map(({ label }) => label)).toContain("−3");
    expect(heightsOf([landscape([[-0.5, 1]])], "log").kind).toBe("log");
    // The depth of the shallower one is what counts.
    expect(heightsOf([landscape([[-5, -4]]), landscape([[-5, 100]])], "linear").high).toBe(-1);
  });

  const valley = landscape([[4, 1, 4]]);

  test("both points share a scale, from the lowest to the highest loss", () => {
    const { low, high, at } = heightsOf([valley, landscape([[2, 9, 2]])], "log");
    expect([low, high, at(1), at(9)]).toEqual([1, 9, 0, 1]);
    expect(at(100)).toBe(1);
  });

  test("on a linear scale a much deeper valley is cut, so that the other can be seen", () => {
    expect(heightsOf([valley, landscape([[4000, 1, 4000]])], "linear").high).toBe(16);
    expect(heightsOf([valley, landscape([[4000, 1, 4000]])], "log").high).toBe(4000);
  });

  test("what is no number lies at the top, and is never the lowest", () => {
    const broken = landscape([[Number.NaN, 2, 1, 3]]);
    const { at } = heightsOf([broken], "log");
    expect([at(Number.NaN), at(Number.POSITIVE_INFINITY), at(1)]).toEqual([1, 1, 0]);
    expect(lowest(broken)).toEqual({ i: 2, j: 0, loss: 1 });
    expect(lowest(landscape([[Number.NaN, Number.NaN]])).loss).toBeNaN();
  });

  test("losses that are not finite have no part in the scale", () => {
    const { low, high } = heightsOf([landscape([[Number.NaN, 2, Number.POSITIVE_INFINITY, 3]])], "log");
    expect([low, high]).toEqual([2, 3]);
    expect(heightsOf([landscape([[Number.NaN]])], "log").levels).toEqual([]);
  });

  test("levels rise, and lie within the scale", () => {
    const { levels, low, high } = heightsOf([landscape([[0.01, 100]])], "log");
    expect(levels.length).toBeGreaterThan(3);
    expect(levels).toEqual([...levels].sort((a, b) => a - b));
    expect(levels.every((level) => level > low && level < high)).toBe(true);
  });
});

test("a surface is whole when all its rows are there; the lowest point is by column and row", () => {
  const surface = landscape([
    [3, 2, 9],
    [1, 5, 6],
  ]);
  expect([rowsOf(surface), isWhole(surface)]).toEqual([2, false]);
  expect(lowest(surface)).toEqual({ i: 0, j: 1, loss: 1 });
});
