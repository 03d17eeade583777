import type { ReportValues } from "isoflat";
import { describe, expect, test } from "vitest";
import { csvOf } from "../../www/src/figures/columns";
import { VERSION } from "../../www/src/figures/version";
import { number } from "../../www/src/format";
import { doubtsOf, factsOf, missingOf, partsOf } from "../../www/src/report/content";
import { measureIn } from "../../www/src/report/measures";
import {
  type FullReport,
  goesOn,
  joined,
  missingSections,
  readReport,
  reportTextOf,
  strangerOf,
  textOf,
  withOrigin,
} from "../../www/src/report/report";
import { described, INFO, model, state } from "./states";

const hessian = {
  maxEigenvalue: 9,
  maxEigenvalueResidual: 1e-9,
  minEigenvalue: -1,
  minEigenvalueResidual: 1e-7,
  spectralNorm: 9,
  topEigenvalues: [9, 4],
  trace: 70,
  frobeniusNorm: 17,
  frobeniusNormStandardError: 0.01,
  products: 55,
  converged: true,
  verified: true,
};
const report = (values: ReportValues = {}, change: Partial<FullReport> = {}): FullReport => ({
  network: "784-10",
  data: "MNIST",
  samples: 500,
  backend: INFO,
  stopped: false,
  sections: [],
  values,
  ...change,
});
const OPERATORS = [{ name: "hessian", title: "Hessian", metric: null }] as Parameters<typeof doubtsOf>[1];

describe("what a report is of", () => {
  const kept = { report: report({}, { network: "784-64-10" }), stamp: "a" };
  const here = state({ stamp: "a" });

  test("is no stranger to its own network, and to a stage that has none yet", () => {
    expect(strangerOf(kept, here)).toBeNull();
    expect(strangerOf(kept, { ...here, ready: false })).toBeNull();
    expect(strangerOf(kept, { ...here, model: null })).toBeNull();
    expect(strangerOf({ ...kept, stamp: null }, here)).toBeNull();
  });

  test("is said where the stage has another network, other samples or other weights", () => {
    expect(strangerOf(kept, { ...here, model: model({ summary: "784-8-10", measuredSamples: 50 }) })).toBe(
      "not of what is on the stage now: 784-8-10 on MNIST, 50 samples",
    );
    expect(strangerOf(kept, { ...here, model: model({ measuredSamples: 1000 }) })).toMatch(/on MNIST, 1.?000 samples$/);
    expect(strangerOf(kept, { ...here, stamp: "b" })).toBe("of other weights than those on the stage now");
  });
});

describe("a report's file", () => {
  const text = JSON.stringify({
    data: "MNIST",
    network: "784-10",
    samples: 5,
    backend: INFO,
    values: {},
    sections: [],
  });
  const file = (content: string, name = "isoflat-report.json") => new File([content], name);

  test("is told from other files, those of before it had a name of its own too", async () => {
    const saved = textOf(
      withOrigin(text, { date: "2020-01-01T00:00:00.000Z", isoflatVersion: "0.1.0", training: null }),
    );
    expect(await reportTextOf([file(saved)])).toBe(saved);
    expect(await reportTextOf([file(text)])).toBe(text);
    expect(await reportTextOf([file('{"isoflat": "result"}')])).toBeNull();
    expect(await reportTextOf([file(text, "weights.bin")])).toBeNull();
    expect(await reportTextOf([file(text), file(text)])).toBeNull();
  });

  test("may have the names of before, with underscores", () => {
    const before = { hessian: { max_eigenvalue: 3, eigenvalues: [1, 3] }, density: { hessian: { densityError: [0] } } };
    const read = readReport("old.json", JSON.stringify({ ...JSON.parse(text), values: before }));
    expect(read.values).toEqual({
      hessian: { maxEigenvalue: 3, eigenvalues: [1, 3] },
      density: { hessian: { densityError: [0] } },
    });
    expect(readReport("new.json", textOf(read)).values).toEqual(read.values);
  });

  test("says what is wrong with it", () => {
    expect(() => readReport("x.json", "{")).toThrow(/x.json is a report, but no JSON/);
    expect(() => readReport("x.json", '{"isoflat": "report"}')).toThrow(/does not say what it is of/);
    expect(() => readReport("x.json", JSON.stringify({ network: "a", data: "b", samples: 1 }))).toThrow(
      /without its values/,
    );
  });
});

describe("a report's numbers", () => {
  test("are found wherever they are, with what says how far to trust them", () => {
    const values = { loss: 0.5, hessian } as ReportValues;
    expect(measureIn(values, "loss")).toEqual({ value: 0.5, trust: "", converged: true });
    expect(measureIn(values, "hessian.spectral_norm")).toMatchObject({
      value: 9,
      trust: `residual ${number(1e-9, 1)}`,
    });
    expect(measureIn(values, "hessian.frobenius_norm")?.trust).toBe("± 0.01");
    expect(measureIn(values, "hessian.min_eigenvalue")?.trust).toBe(`residual ${number(1e-7, 1)}`);
    const unsure = { hessian: { ...hessian, converged: false } } as ReportValues;
    expect(measureIn(unsure, "hessian.max_eigenvalue")?.converged).toBe(false);
    expect(measureIn(unsure, "hessian.trace")?.converged).toBe(true);
    expect(measureIn(values, "petzka.kappa_max")).toBeNull();
    expect(measureIn(values, "riemannian.layerwise_flat.trace")).toBeNull();
    expect(measureIn(values, "epsilon_sharpness")).toBeNull();
    const sharpness = {
      epsilonSharpness: { value: 2, error: 0.1, converged: false, quadratic: 3 },
      riemannianSharpnessLayerwise: { value: 4, error: 0, converged: true },
      averageSharpness: { value: 5, standardError: 0.5, resolved: true },
    } as unknown as NonNullable<ReportValues["sharpness"]>;
    expect(measureIn({ sharpness }, "epsilon_sharpness")).toMatchObject({ value: 2, converged: false });
    expect(measureIn({ sharpness }, "epsilon_sharpness_quadratic")?.value).toBe(3);
    expect(measureIn({ sharpness }, "riemannian_sharpness.layerwise")?.value).toBe(4);
    expect(measureIn({ sharpness }, "average_sharpness")?.trust).toBe("± 0.5");
    const petzkaOf = (relativeFlatness: (number | null)[]) =>
      ({ petzka: { relativeFlatness } }) as unknown as Pick<ReportValues, "petzka">;
    expect(measureIn(petzkaOf([1, 2]), "petzka.relative_flatness_sum")?.value).toBe(3);
    // The measure sums convolutions too, of which a report has none.
    expect(measureIn(petzkaOf([1, null, 2]), "petzka.relative_flatness_sum")).toBeNull();
  });

  test("are in parts, of which those that were not computed are absent", () => {
    const descriptions = [described("loss"), described("hessian.trace")];
    const of = (values: ReportValues) => partsOf(report(values), { descriptions, operators: OPERATORS });
    expect(of({}).map(({ id }) => id)).toEqual([]);
    const [measures, spectra] = of({ loss: 0.5, hessian });
    expect([measures?.id, spectra?.id]).toEqual(["measures", "spectra"]);
    expect(measures?.tables[0]?.rows.map(([title, value]) => [title, value])).toEqual([
      ["loss", "0.50000"],
      ["hessian.trace", "70.000"],
    ]);
    expect(csvOf(spectra?.tables[0]?.columns ?? [])).toContain("hessian,9,1e-9,-1,1e-7,70,,17,0.01,55,true,true");
  });

  test("that are not sure are named, and where all is well none is", () => {
    expect(doubtsOf(report({ hessian }), OPERATORS)).toEqual([]);
    const doubts = doubtsOf(report({ hessian: { ...hessian, converged: false, verified: false } }), OPERATORS);
    expect(doubts.map((doubt) => doubt.slice(0, 8))).toEqual(["Hessian:", "Hessian:"]);
  });
});

test("a report says what it is of, and what is missing", () => {
  const sections: FullReport["sections"] = [
    { section: "point", seconds: 0.25, finished: true },
    { section: "hessian", seconds: 0, finished: false },
    { section: "spaces", seconds: 0, finished: false },
  ];
  const choice = { optimizer: "adam", learningRate: 0.001, batchSize: 64, epochs: 2, seed: 1 } as const;
  const facts = factsOf(
    report({}, { sections, date: "2020-02-03T04:05:06.789Z", training: { choice, stopped: true } }),
  );
  expect(facts).toEqual([
    ["Network", "784-10"],
    ["Data", "MNIST, 500 samples"],
    ["Trained", "2 epochs of Adam, stopped before their end, learning rate 0.001, batches of 64, seed 1"],
    ["Computed on", "CPU f64 (CPU)"],
    ["Computed in", "0.25 s"],
    ["Date", "2020-02-03, 04:05 UTC"],
  ]);
  expect(missingOf(report({}, { sections }))).toEqual(["spectrum of the Hessian", "parameter spaces"]);
});

describe("a report that was stopped", () => {
  const run = (section: "point" | "hessian" | "density", finished: boolean, seconds = 1) => ({
    section,
    finished,
    seconds,
  });
  const stopped = report(
    { loss: 1 },
    {
      stopped: true,
      isoflatVersion: VERSION,
      sections: [run("point", true), run("hessian", false), run("density", false)],
    },
  );
  const kept = { report: stopped, stamp: "a" };

  test("goes on at its own weights, samples and device, and nowhere else", () => {
    const here = state({ stamp: "a" });
    expect(goesOn(kept, here)).toBe(true);
    expect(goesOn(kept, { ...here, stamp: "b" })).toBe(false);
    expect(goesOn(kept, { ...here, ready: false })).toBe(false);
    expect(goesOn(kept, { ...here, engine: { info: { ...INFO, precision: "f32" } } })).toBe(false);
    expect(goesOn({ ...kept, report: { ...stopped, samples: 499 } }, here)).toBe(false);
    expect(goesOn({ ...kept, report: { ...stopped, isoflatVersion: "0" } }, here)).toBe(false);
    expect(goesOn({ report: stopped, stamp: null }, state({ stamp: null }))).toBe(false);
    expect(goesOn({ ...kept, report: { ...stopped, sections: [run("point", true)] } }, here)).toBe(false);
  });

  test("has what was there and what was found since, also where that was stopped again", () => {
    expect(missingSections(stopped)).toEqual(["hessian", "density"]);
    const found = report({ hessian } as ReportValues, {
      stopped: true,
      sections: [run("hessian", true, 5), run("density", false)],
    });
    const both = joined(stopped, found);
    expect(both.values).toEqual({ loss: 1, hessian });
    expect(both.sections).toEqual([run("point", true), run("hessian", true, 5), run("density", false)]);
    expect([both.stopped, missingSections(both)]).toEqual([true, ["density"]]);
  });
});
