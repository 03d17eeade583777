import type { MeasureKey, PetzkaReport } from "isoflat";
import { describe, expect, test } from "vitest";
import { countOf, goesOnWith, isComplete, leftOf, nameOf, planOf } from "../../www/src/plan";
import { NO_DINH, type State } from "../../www/src/store";
import { DESCRIPTIONS, described, landscape, measured, model, state } from "./states";

const EXAMPLES: State["examples"] = { of: "test", labels: [], images: [], answers: [] };
const SUMMARY: State["bendSummary"] = { maxDifference: 0, maxOutput: 1, answers: [] };
const bend = { lambda: [2, 0.5], nodewise: null, permutation: null };
const ALL = { asked: [], all: true } as const;
const maps = [{ type: "layerwise" as const, lambda: [2, 0.5] }];

const whats = (change: Partial<State>, scope: Parameters<typeof planOf>[1] = ALL) =>
  planOf(state(change), scope).map((piece) =>
    "unit" in piece ? `${piece.what} ${piece.unit.name}` : nameOf(piece).trim(),
  );

const cell = (measure: MeasureKey | "outputs") => ({ measure, transformation: 0, agrees: true, verdict: "invariant" });

describe("goesOnWith", () => {
  const about = (of: State) => JSON.stringify([of.landscapeChoice, false]);
  const rows = { ...landscape([[1, 1, 1]], 3), about: about(state()) };

  test("says what Continue does: a training from its checkpoint, a surface from its rows, any other step anew", () => {
    const training = { epochs: 1, stopped: true, loss: 1, accuracy: 1 };
    const unfinished = { epochs: 1, stamp: "a" } as State["unfinished"];
    const at = (stamp: string) => goesOnWith(state({ stamp, training, unfinished, growing: { trained: rows } }));
    expect(at("a")).toMatch(/training from where/);
    // Another network was stopped once, too.
    expect(at("b")).toMatch(/1 of 3 rows are there/);
    expect(goesOnWith(state({ growing: { trained: rows } }))).toMatch(/1 of 3 rows are there/);
    expect(goesOnWith(state())).toMatch(/begins anew/);
  });

  test("rows of another choice are no beginning", () => {
    const { landscapeChoice } = state();
    const other = { ...landscapeChoice, seed: 7 };
    expect(goesOnWith(state({ growing: { trained: rows }, landscapeChoice: other }))).toMatch(/begins anew/);
  });
});

describe("isComplete", () => {
  const report = {} as PetzkaReport;
  const square = landscape([
    [1, 1],
    [1, 1],
  ]);
  const whole = state({
    descriptions: [described("loss")],
    lines: { trained: square },
    surfaces: { trained: square },
    layers: { trained: report },
    measures: { trained: new Map([["loss", measured("loss")]]), bent: new Map() },
    examples: EXAMPLES,
    accuracy: { trained: 0.9 },
    dinh: { ...NO_DINH, valley: { refusal: "none" } },
  });

  test("wants a landscape, layers and every measure of the trained point", () => {
    expect(isComplete(whole)).toBe(true);
    expect(isComplete({ ...whole, surfaces: {} })).toBe(false);
    expect(isComplete({ ...whole, lines: {} })).toBe(false);
    expect(isComplete({ ...whole, layers: {} })).toBe(false);
    expect(isComplete({ ...whole, descriptions: [described("loss"), described("hessian.trace")] })).toBe(false);
  });

  test("wants the same of the bent point once there is one", () => {
    const bend = { lambda: [2, 0.5], nodewise: null, permutation: null };
    expect(isComplete({ ...whole, bend })).toBe(false);
    const both = { trained: square, bent: square };
    const { trained } = whole.measures;
    expect(
      isComplete({
        ...whole,
        bend,
        bendSummary: SUMMARY,
        accuracy: { trained: 0.9, bent: 0.9 },
        lines: both,
        surfaces: both,
        layers: { trained: report, bent: report },
        measures: { trained, bent: trained },
      }),
    ).toBe(true);
  });

  test("does not wait for layers that a network with tanh has not", () => {
    expect(isComplete({ ...whole, layers: {}, model: model({ piecewiseLinear: false }) })).toBe(true);
  });
});

describe("planOf", () => {
  test("begins with the stage, and ends with the searches", () => {
    expect(whats({})).toEqual([
      "examples",
      "line trained",
      "surface trained",
      "measures riemannian.layerwise_flat",
      "accuracy trained",
      "measures sweep",
      "valley",
      "layers trained",
      "measures hessian.frobenius_norm",
      "measures epsilon_sharpness",
    ]);
  });

  test("is of the stage alone where nobody wants more", () => {
    const stage = whats({}, { asked: [], all: false });
    expect(stage.at(-1)).toBe("accuracy trained");
    expect(stage).not.toContain("measures sweep");
  });

  test("computes no measure twice, though the stage wants one of an operator before the others", () => {
    const descriptions = [
      ...DESCRIPTIONS,
      described("hessian.spectral_norm", { cost: "eigenvalues" }),
      described("hessian.max_eigenvalue", { cost: "eigenvalues" }),
    ];
    const keys = planOf(state({ descriptions }), ALL).flatMap((piece) =>
      piece.what === "measures" ? piece.unit.keys : [],
    );
    expect(keys.toSorted()).toEqual(descriptions.map(({ key }) => key).toSorted());
  });

  test("bends before it asks anything of the bent point, and has none where nothing is bent", () => {
    const of = whats({ bend });
    expect(of[0]).toBe("bend");
    expect(of).toContain("surface bent");
    expect(whats({}).filter((what) => what.includes("bent"))).toEqual([]);
  });

  test("what a person asks for comes first, and is not there before it is asked for", () => {
    const asked = { spectrum: true, boxes: true } as const;
    expect(whats({ asked }).some((what) => what.startsWith("spectrum"))).toBe(false);
    expect(whats({ asked }, { asked: ["spectrum"], all: true }).slice(0, 2)).toEqual([
      "spectrum trained",
      "density trained",
    ]);
    expect(whats({ spectra: { trained: {} as never }, asked }, { asked: ["spectrum", "boxes"], all: false })[0]).toBe(
      "density trained",
    );
  });

  test("a check lacks the cells that are not there, quickest first, all of an operator together", () => {
    const keys = DESCRIPTIONS.map(({ key }) => key);
    const of = (invariance: State["invariance"]) =>
      planOf(
        state({
          asked: { check: true },
          checkChoice: { range: 10, searches: false, transformations: maps, keys },
          invariance,
        }),
        {
          asked: ["check"],
          all: false,
        },
      )
        .filter(({ what }) => what === "check")
        .map((piece) => ("unit" in piece ? piece.unit.keys : []));
    expect(of(null)).toEqual([
      ["loss", "hessian.trace", "petzka.rho_max", "path_norm_squared"],
      ["riemannian.layerwise_flat.spectral_norm"],
      ["hessian.frobenius_norm", "epsilon_sharpness"],
    ]);
    const cells = ["outputs", "loss", "hessian.trace", "petzka.rho_max", "path_norm_squared"] as const;
    expect(of({ cells: cells.map(cell) } as never)).toHaveLength(2);
  });

  test("traces of a network that is not piecewise linear are estimates: they belong to their operator", () => {
    const keys: MeasureKey[] = ["hessian.trace", "hessian.frobenius_norm"];
    const choice = {
      asked: { check: true },
      checkChoice: { range: 10, searches: false, transformations: maps, keys },
      model: model({ piecewiseLinear: false }),
    } as const;
    const [first] = planOf(state(choice), { asked: ["check"], all: false });
    expect(first && "unit" in first && first.unit.keys).toEqual(keys);
  });

  test("nothing is missing of a network that is still to be trained, but the table that is of another one", () => {
    expect(whats({ ready: false })).toEqual([]);
    const whole = { asked: ["table2", "table3"], all: true } as const;
    expect(whats({ ready: false, asked: { table2: 2, table3: 1 } }, whole)).toEqual([
      ...["table2  2019", "table2  2020", "power", "table3  2019"],
    ]);
  });

  test("of a table the seeds that are missing, and Algorithm 1 behind those of Table 2, each a piece of its own", () => {
    const seed = (seed: number) => ({ seed, before: 1, rows: [] });
    const device = { backend: "cpu", precision: "f64" } as const;
    const table2 = { device, seeds: [seed(2019)], power: null };
    const left = (change: Partial<State>) => leftOf(state(change), "table2");
    expect(left({ table2 })).toEqual([]);
    expect(left({ table2, asked: { table2: 3 } })).toEqual([
      { what: "table2", seed: 2020 },
      { what: "table2", seed: 2021 },
      { what: "power" },
    ]);
    expect(new Set(left({ asked: { table2: 3 } }).map(nameOf)).size).toBe(4);
    const power = { norms: [1], settled: true };
    expect(left({ table2: { ...table2, power }, asked: { table2: 1 } })).toEqual([]);
    const scope = { asked: ["table2"], all: true } as const;
    const asked = state({ table2, asked: { table2: 3 } });
    expect(countOf(asked, scope, { what: "table2", seed: 2020 })).toEqual({ done: 1, total: 3, of: "seeds" });
    expect(countOf(asked, scope, { what: "power" })).toBeNull();
  });

  test("sharpens where there is a valley, or may be one", () => {
    const sharpness = { way: "sharpen", decades: 3 } as const;
    expect(whats({ sharpness })).toContain("sharpen");
    // Where the twin is to be depends on it.
    expect(whats({ sharpness })[0]).toBe("valley");
    expect(whats({ sharpness, dinh: { ...NO_DINH, valley: { refusal: "none" } } })).not.toContain("sharpen");
  });
});

describe("countOf", () => {
  test("counts measures of both points, and cells of a check", () => {
    const measures = { trained: new Map([["loss", measured("loss")] as const]), bent: new Map() };
    const unit = { name: "sweep", keys: [], cost: "sweep" } as const;
    const of = (change: Partial<State>) =>
      countOf(state({ measures, ...change }), ALL, { what: "measures", point: "trained", unit: { ...unit, keys: [] } });
    expect(of({})).toEqual({ done: 1, total: 7, of: "measures" });
    expect(of({ bend })).toEqual({ done: 1, total: 14, of: "measures" });
    const checkChoice = {
      range: 10,
      searches: false,
      transformations: maps,
      keys: ["loss", "hessian.trace"] as MeasureKey[],
    };
    const invariance = { cells: [cell("outputs"), cell("loss")] } as never;
    expect(countOf(state({ checkChoice, invariance }), ALL, { what: "check", unit: { ...unit, keys: [] } })).toEqual({
      done: 2,
      total: 3,
      of: "cells",
    });
  });

  test("counts nothing that is not of it", () => {
    expect(countOf(state(), { asked: [], all: false }, { what: "accuracy", point: "trained" })).toBeNull();
    expect(countOf(state(), ALL, { what: "spectrum", point: "trained" })).toBeNull();
  });
});
