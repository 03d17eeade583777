import { describe, expect, test } from "vitest";
import { INPUT_MAPS } from "../../www/src/constructions";
import {
  bytesOf,
  hint,
  type Known,
  kindOf,
  known,
  piecesOf,
  secondsOf,
  type Training,
  type Work,
} from "../../www/src/estimates";
import type { FullReport } from "../../www/src/report/report";
import type { KnownCosts } from "../../www/src/store";
import { lineThrough, unlessWaited } from "../../www/src/worker/costs";
import type { InputMap, ModelInfo } from "../../www/src/worker/protocol";
import { INFO, landscape, model, state } from "./states";

const costs: KnownCosts = {
  step: { call: 0, sample: 1 },
  product: { call: 0, sample: 2 },
  evaluation: 0.5,
  plane: { begin: 3, point: 0.25 },
  dataBytes: 10,
  pointBytes: 100,
  vectorBytes: 1000,
  isBeside: false,
  weight: 1e-3,
};
const training: Training = { epochs: 3, batchSize: 64 };
const network = model({ samples: 1000, validationSamples: 100, measuredSamples: 500 });

function of(
  change: Partial<KnownCosts> = {},
  info: ModelInfo = network,
  more: Parameters<typeof state>[0] = {},
): Known {
  const found = known(state({ costs: { ...costs, ...change }, model: info, ...more }), training);
  if (!found) throw new Error("costs are known");
  return found;
}

const seconds = (work: Work, found: Known) =>
  piecesOf(work, found.state).reduce((sum, piece) => sum + (secondsOf(piece, found) ?? Number.NaN), 0);

describe("estimates", () => {
  test("Dinh's constructions: by what they are asked with, and nothing where nothing is known", () => {
    const fast = { product: { call: 0, sample: 1e-5 }, weight: 1e-10 };
    const inputs = (map: InputMap, change = {}, info = network) =>
      secondsOf({ what: "inputs", asked: map }, of({ ...fast, ...change }, info));
    const [standardized = 0, whitened = 0, gaussianized = 0] = INPUT_MAPS.map((map) => inputs(map) ?? 0);
    expect(standardized).toBeGreaterThan(0);
    expect(whitened).toBeGreaterThan(standardized);
    expect(gaussianized).toBeGreaterThan(whitened);
    expect(inputs("whiten", { weight: null })).toBeNull();
    // Those of the loss and of ten outputs, against those of one.
    const narrow = inputs("standardize", {}, { ...network, outputs: 1 }) ?? 0;
    expect(standardized / narrow).toBeCloseTo(11 / 2);
    // Of a matrix of twice as many rows, eight times the arithmetic.
    const radial = (parameterCount: number) =>
      secondsOf(
        { what: "radial", asked: 100 },
        of({ product: { call: 0, sample: 0 }, weight: 0 }, model({ parameterCount })),
      ) ?? 0;
    const [small, large] = [radial(1000), radial(2000)];
    expect(small).toBeGreaterThan(0);
    expect(large / small).toBeCloseTo(8);
    expect(kindOf({ what: "inputs", asked: "whiten" }, state())).not.toBe(
      kindOf({ what: "inputs", asked: "gaussianize" }, state()),
    );
    expect(piecesOf("many", state()).map(({ what }) => what)).toEqual(["valley", "many"]);
    expect(piecesOf("radial", state()).map(({ what }) => what)).toEqual(["radial"]);
  });

  test("training: a step's share of every sample and a look at the validation images, each epoch", () => {
    expect(seconds("training", of())).toBe(3 * (1000 * 1 + 100 * 0.5));
    expect(bytesOf("training", of())).toEqual({ bytes: 1100 * 10 + 64 * 100 + 4 * 1000, vectors: 4 * 1000 });
  });

  test("training: what a step costs whatever its samples counts once a batch, the last one too", () => {
    const more = seconds("training", of({ step: { call: 1, sample: 1 } }));
    expect(more - seconds("training", of())).toBe(3 * Math.ceil(1000 / 64));
  });

  test("a batch is no larger than the data", () => {
    const few = model({ samples: 10, validationSamples: 0 });
    expect(bytesOf("training", of({}, few)).bytes).toBe(10 * 10 + 10 * 100 + 4 * 1000);
  });

  test("of a surface that was stopped the rows that are missing are to come", () => {
    const { landscapeChoice } = state();
    const about = JSON.stringify([landscapeChoice, false]);
    const growing = { trained: { ...landscape([[1, 2, 3]], 3), about } };
    const piece = { what: "surface", point: "trained" } as const;
    expect(secondsOf(piece, of())).toBe(500 * (3 + 9 * 0.25));
    expect(secondsOf(piece, of({}, network, { growing }))).toBe(500 * (3 + 6 * 0.25));
  });

  test("a landscape grows with the points of its grid, and eigenvectors cost products and memory", () => {
    const { landscapeChoice } = state();
    const at = (points: number) => of({}, network, { landscapeChoice: { ...landscapeChoice, points } });
    expect(seconds("landscape", at(41)) - seconds("landscape", at(21))).toBe((41 ** 2 - 21 ** 2) * 500 * 0.25);
    const eigenvectors = of({}, network, { landscapeChoice: { ...landscapeChoice, directions: "eigenvectors" } });
    expect(seconds("landscape", eigenvectors)).toBeGreaterThan(seconds("landscape", of()));
    expect(bytesOf("landscape", eigenvectors).vectors).toBeGreaterThan(bytesOf("landscape", of()).vectors);
  });

  test("fewer samples take less time, but not less than the calls", () => {
    const on = (measuredSamples: number) =>
      seconds("measures", of({ product: { call: 100, sample: 2 } }, model({ measuredSamples })));
    expect(on(500) / on(50)).toBeGreaterThan(1);
    expect(on(500) / on(50)).toBeLessThan(10);
  });

  test("a finer density takes longer", () => {
    const { spectrumChoice } = state();
    const at = (steps: number) =>
      seconds("spectrum", of({}, network, { spectrumChoice: { ...spectrumChoice, steps } }));
    expect(at(110) / at(10)).toBeGreaterThan(1);
  });

  test("a check takes its measures before and after each map", () => {
    const transformations = Array.from({ length: 4 }, () => ({ type: "layerwise" as const, lambda: [2, 0.5] }));
    const [piece] = piecesOf("check", state());
    const at = (count: number) =>
      piece
        ? secondsOf(
            piece,
            of({}, network, {
              checkChoice: { range: 10, searches: false, keys: [], transformations: transformations.slice(0, count) },
            }),
          )
        : 0;
    expect((at(4) ?? 0) / (at(1) ?? 0)).toBeCloseTo(5 / 2);
  });

  test("nothing is said while costs are not known", () => {
    expect(known(state(), training)).toBeNull();
  });

  test("work of one kind is told apart from another's", () => {
    const kinds = piecesOf("measures", state()).map((piece) => kindOf(piece, state()));
    expect(new Set(kinds).size).toBe(kinds.length);
  });
});

describe("estimates of what a person asks for", () => {
  const at =
    (info: ModelInfo, change: Partial<KnownCosts> = {}) =>
    (work: Work) =>
      seconds(work, of(change, info));

  test("a report is the dearer the more of it is missing", () => {
    const known = of({}, network);
    const [whole] = piecesOf("report", known.state);
    const sections = [
      { section: "hessian" as const, seconds: 1, finished: true },
      { section: "density" as const, seconds: 1, finished: false },
    ];
    const before = { sections } as FullReport;
    const [rest] = piecesOf("report", known.state, { before });
    expect(rest).toEqual({ what: "report", sections: ["density"] });
    expect(whole && rest && (secondsOf(whole, known) ?? 0) / (secondsOf(rest, known) ?? 0)).toBeGreaterThan(1.2);
  });

  test("a report has the sections that are defined for the network", () => {
    const smooth = state({ model: model({ piecewiseLinear: false, homogeneous: false }) });
    const [piece] = piecesOf("report", smooth);
    expect(piece).toMatchObject({ what: "report", sections: expect.not.arrayContaining(["petzka"]) });
    expect(piece).toMatchObject({ sections: expect.not.arrayContaining(["spaces"]) });
    expect(piece).toMatchObject({ sections: expect.arrayContaining(["point", "hessian", "sharpness"]) });
  });

  test("small networks’ spectra are computed whole, and their density is read off", () => {
    const small = of({}, model({ parameterCount: 1000 }));
    expect(secondsOf({ what: "report", sections: ["density"] }, small)).toBe(0);
    expect(
      secondsOf({ what: "report", sections: ["density"] }, of({}, model({ parameterCount: 1025 }))),
    ).toBeGreaterThan(0);
  });

  test("arithmetic on vectors counts where a product is short", () => {
    const few = model({ measuredSamples: 10 });
    const ratio = (work: Work, info: ModelInfo) => at(info, { weight: 1 })(work) / at(info, { weight: 0 })(work);
    expect(ratio("measures", few)).toBeGreaterThan(ratio("measures", network));
  });

  test("Table 2 takes the same whatever network there is, and is unknown before a dense one was", () => {
    const large = model({ parameterCount: 1e7, measuredSamples: 10 });
    expect(at(large)("table2")).toBe(at(network)("table2"));
    expect(at(network, { weight: null })("table2")).toBeNaN();
    expect(at(network, { weight: 2e-3 })("table2")).toBeCloseTo(2 * at(network)("table2"), 3);
  });

  test("a table takes as long as its seeds that are missing, and Table 3's take longer than Table 2's", () => {
    const device = { backend: INFO.backend, precision: INFO.precision };
    const table3 = { device, seeds: [{ seed: 2019, before: 1, rows: [] }], power: null };
    const pieces = (count: number, change = {}) => piecesOf("table3", state(change), { seeds: count });
    expect(pieces(5).map(({ what }) => what)).toEqual(Array(5).fill("table3"));
    expect(pieces(5, { table3 })).toHaveLength(4);
    expect(pieces(1, { table3 })).toHaveLength(1);
    const [second, third] = (["table2", "table3"] as const).map((what) =>
      secondsOf({ what, seed: 2019 }, of({}, network)),
    );
    expect(third).toBeGreaterThan(2 * (second ?? 0));
  });

  test("two whole spectra grow with the cube of the parameters; the valley comes first where it is missing", () => {
    const nothing: Partial<KnownCosts> = { product: { call: 0, sample: 0 }, weight: 0 };
    const many = (parameterCount: number) => at(model({ parameterCount }), nothing)("many");
    expect(many(4000) / many(2000)).toBeCloseTo(8);
    expect(piecesOf("many", state()).map(({ what }) => what)).toEqual(["valley", "many"]);
  });
});

describe("lineThrough", () => {
  test("two times give what is fixed and what grows", () => {
    const { call, sample } = lineThrough(100, 1.5, 500, 3.5);
    expect([call, sample]).toEqual([expect.closeTo(1), expect.closeTo(0.005)]);
  });

  test("noise makes no sample free and no call negative", () => {
    expect(lineThrough(100, 5, 500, 3).sample).toBeGreaterThan(0);
    expect(lineThrough(100, 0.1, 500, 3).call).toBe(0);
    expect(lineThrough(64, 2, 64, 2)).toEqual({ call: 0, sample: 2 / 64 });
  });
});

describe("unlessWaited", () => {
  test("a call that has waited for other work is not believed", () => {
    const tried = { call: 0.1, sample: 0.001 };
    expect(unlessWaited(tried, 500, 0.001)).toBe(tried);
    expect(unlessWaited({ call: 5, sample: 0.001 }, 500, 0.001)).toEqual({ call: 0, sample: 0.001 });
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
    expect(hint("many", { ...little, seconds: 1e4 })).toMatch(/smaller network/);
    expect(hint("table2", { ...little, seconds: 1e4 })).toBe("");
  });
});
