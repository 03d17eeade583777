import { describe, expect, test } from "vitest";
import { estimateOf, hint, type Settings } from "../../www/src/estimates";
import type { SampleCosts } from "../../www/src/worker/protocol";
import { model } from "./states";

const costs: SampleCosts = {
  callSeconds: 0,
  gradientSeconds: 1,
  productSeconds: 2,
  evaluationSeconds: 0.5,
  dataBytes: 10,
  pointBytes: 100,
  vectorBytes: 1000,
};
const settings: Settings = {
  threads: 1,
  points: 21,
  directions: "random",
  density: 100,
  training: { epochs: 3, batchSize: 64 },
};
const network = model({ samples: 1000, validationSamples: 100, measuredSamples: 500 });

describe("estimateOf", () => {
  test("training: a gradient of every sample and a look at the validation images, each epoch", () => {
    const { seconds, bytes, vectors } = estimateOf("training", costs, network, settings);
    expect(seconds).toBe(3 * (1000 * 1 + 100 * 0.5));
    expect(bytes).toBe(1100 * 10 + 64 * 100 + 4 * 1000);
    expect(vectors).toBe(4 * 1000);
  });

  test("training: what a call costs counts once a batch, the last one too", () => {
    const calls = { ...costs, callSeconds: 1 };
    const more = estimateOf("training", calls, network, settings).seconds;
    expect(more - estimateOf("training", costs, network, settings).seconds).toBe(3 * Math.ceil(1000 / 64));
  });

  test("a batch is no larger than the data", () => {
    const few = model({ samples: 10, validationSamples: 0 });
    expect(estimateOf("training", costs, few, settings).bytes).toBe(10 * 10 + 10 * 100 + 4 * 1000);
  });

  test("a landscape grows with the points of its grid, and eigenvectors cost products and memory", () => {
    const random = estimateOf("landscape", costs, network, settings);
    const larger = estimateOf("landscape", costs, network, { ...settings, points: 41 });
    expect(larger.seconds - random.seconds).toBe((41 ** 2 - 21 ** 2) * 500 * 0.5);
    const eigenvectors = estimateOf("landscape", costs, network, { ...settings, directions: "eigenvectors" });
    expect(eigenvectors.seconds).toBeGreaterThan(random.seconds);
    expect(eigenvectors.vectors).toBeGreaterThan(random.vectors);
  });

  test("threads divide the time as long as each has eight samples", () => {
    const on = (threads: number, measuredSamples: number) =>
      estimateOf("measures", costs, model({ measuredSamples }), { ...settings, threads }).seconds;
    expect(on(1, 800) / on(4, 800)).toBeCloseTo(4);
    expect(on(1, 16) / on(8, 16)).toBeCloseTo(2);
    expect(on(1, 4) / on(8, 4)).toBeCloseTo(1);
  });

  test("a finer density takes longer", () => {
    const seconds = (density: number) => estimateOf("spectrum", costs, network, { ...settings, density }).seconds;
    expect(seconds(1100) - seconds(100)).toBe(1000 * 500 * 2);
  });
});

describe("hint", () => {
  const little = { seconds: 1, bytes: 1e6, vectors: 1e5 };

  test("is silent about what is quick and small", () => {
    expect(hint("measures", little)).toBe("");
  });

  test("advises what would help: a smaller network before fewer samples, memory before time", () => {
    expect(hint("measures", { ...little, bytes: 3e9, vectors: 3e9, seconds: 1e4 })).toMatch(/smaller network/);
    expect(hint("measures", { ...little, bytes: 3e9, seconds: 1e4 })).toMatch(
      /not fit in memory: choose fewer samples/,
    );
    expect(hint("training", { ...little, seconds: 1e4 })).toMatch(/fewer training samples or epochs/);
    expect(hint("landscape", { ...little, seconds: 1e4 })).toMatch(/fewer points/);
    expect(hint("check", { ...little, seconds: 1e4 })).toMatch(/fewer measured samples/);
  });
});
