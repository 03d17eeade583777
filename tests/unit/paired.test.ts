import { describe, expect, test } from "vitest";
import { interval, LEAST_SEEDS, logRatios, slope, T_95, together, verdictOn } from "../../www/src/spaces/paired";
import { BLOWN_UP, GUESSING } from "../../www/src/spaces/results";

describe("Student's t", () => {
  /** Of a value of so many degrees of freedom to lie within ± t: Simpson's rule over the angle whose tangent is t/√n, where the density is a power of the cosine. */
  const probability = (t: number, freedom: number): number => {
    const integral = (to: number): number => {
      const [steps, f] = [2000, (angle: number) => Math.cos(angle) ** (freedom - 1)];
      let sum = f(0) + f(to);
      for (let step = 1; step < steps; step++) sum += (step % 2 === 0 ? 2 : 4) * f((to * step) / steps);
      return (sum * to) / steps / 3;
    };
    return integral(Math.atan(t / Math.sqrt(freedom))) / integral(Math.PI / 2);
  };

  test("has 95 % within ± what the table says, to its last digit", () => {
    for (const [index, t] of T_95.entries()) {
      expect(probability(t - 0.0005, index + 1)).toBeLessThan(0.95);
      expect(probability(t + 0.0005, index + 1)).toBeGreaterThan(0.95);
    }
    expect(T_95).toHaveLength(9);
  });
});

describe("an interval", () => {
  test("is the mean ± t standard errors", () => {
    // Standard deviation 1 of three: 4.303/√3 either way.
    const { mean, low, high, seeds } = interval([1, 2, 3]);
    expect([mean, seeds]).toEqual([2, 3]);
    expect([low, high]).toEqual([expect.closeTo(2 - 2.4843, 3), expect.closeTo(2 + 2.4843, 3)]);
  });

  test("is everywhere of fewer seeds than are needed, and of those that say nothing", () => {
    for (const few of [[], [1], [1, 1], [1, 1, null]]) {
      expect(few.filter((value) => value !== null).length).toBeLessThan(LEAST_SEEDS);
      expect(interval(few)).toMatchObject({ low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY });
    }
    expect(interval([1, null, 1, 1])).toMatchObject({ mean: 1, low: 1, high: 1, seeds: 3 });
  });

  test("is no narrower than the grain of its values", () => {
    const { low, high } = interval([2, 2, 2], 1);
    expect(high - low).toBeCloseTo((2 * 4.303) / Math.sqrt(3), 10);
    expect(interval([1, 2, 3], 0.5)).toEqual(interval([1, 2, 3]));
  });

  test("covers the true mean 95 times of a hundred, whatever the number of seeds", () => {
    // Normal values by Box and Muller, from a generator of a fixed seed.
    let state = 12345;
    const uniform = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state + 0.5) / 2 ** 32;
    };
    const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    const trials = 20000;
    for (const seeds of [3, 5, 10]) {
      let covered = 0;
      for (let trial = 0; trial < trials; trial++) {
        const { low, high } = interval(Array.from({ length: seeds }, () => 7 + 2 * normal()));
        if (low < 7 && high > 7) covered++;
      }
      // The share's own standard error is 0.0015; five of them.
      expect(Math.abs(covered / trials - 0.95)).toBeLessThan(0.0077);
    }
  });
});

describe("a verdict", () => {
  const of = (low: number, high: number) => ({ mean: (low + high) / 2, low, high, seeds: 3 });

  test("agrees where all is as claimed, differs where nothing is, and else cannot say", () => {
    const between = { above: 0, below: 1 };
    expect(verdictOn(of(0.2, 0.8), between)).toBe("agrees");
    expect([of(-2, -1), of(2, 3)].map((each) => verdictOn(each, between))).toEqual(["differs", "differs"]);
    for (const each of [of(-1, 0.5), of(0.5, 2), of(-1, 2)]) expect(verdictOn(each, between)).toBe("cannot say");
    expect(verdictOn(of(5, 6), { above: 4 })).toBe("agrees");
    expect(verdictOn(of(5, 6), { below: 4 })).toBe("differs");
    expect(verdictOn(interval([9, 9]), { above: 4 })).toBe("cannot say");
  });

  test("on several claims agrees if all do, and differs if one does", () => {
    expect(together(["agrees", "agrees"])).toBe("agrees");
    expect(together(["agrees", "cannot say"])).toBe("cannot say");
    expect(together(["agrees", "cannot say", "differs"])).toBe("differs");
  });
});

describe("ratios of losses", () => {
  const lost = Number.POSITIVE_INFINITY;

  test("are of the same seed", () => {
    expect(logRatios([0.2, 0.9], [0.1, 0.9])).toEqual([Math.log(2), 0]);
    expect(logRatios([0.2, undefined], [undefined, 0.9])).toEqual([null, null]);
  });

  test("have a run that diverged for worse than any that did not, and say nothing of two", () => {
    const [worse, better, neither] = logRatios([lost, 1, lost], [1, lost, lost]);
    expect([worse, better]).toEqual([Math.log(BLOWN_UP), -Math.log(BLOWN_UP)].map((each) => expect.closeTo(each, 12)));
    expect(neither).toBeNull();
    expect(logRatios([lost], [GUESSING])[0]).toBeGreaterThan(0);
  });

  test("say nothing where neither has begun to learn", () => {
    expect(logRatios([GUESSING], [GUESSING * 1.01])).toEqual([null]);
    expect(logRatios([GUESSING], [GUESSING / 2])[0]).toBeCloseTo(Math.log(2));
  });

  test("of methods at their best say nothing where one has not begun to learn, unless it diverged", () => {
    const atBest = { atBest: true };
    expect(logRatios([GUESSING, 0.2], [0.2, GUESSING], atBest)).toEqual([null, null]);
    expect(logRatios([lost], [1], atBest)[0]).toBeCloseTo(Math.log(BLOWN_UP));
    expect(logRatios([0.4], [0.2], atBest)[0]).toBeCloseTo(Math.log(2));
  });
});

test("a slope is that of the line through the points, and needs three", () => {
  const line = [0, 1, 3].map((x) => [x, 5 - 2 * x] as const);
  expect(slope(line)).toBeCloseTo(-2, 12);
  expect(slope(line.slice(1))).toBeNull();
  expect(slope([0, 1, 3].map((y) => [2, y] as const))).toBeNull();
});
