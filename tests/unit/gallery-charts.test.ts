import { describe, expect, test } from "vitest";
import { dinhCharts } from "../../www/src/gallery/dinh";
import { jestaedtCharts, levelLine } from "../../www/src/gallery/jestaedt";
import { choices, figuredChart, rankingChart, saidOf, scatterChart, titleOf } from "../../www/src/gallery/petzka";
import { historyChart, linesChart, powerChart, seedsOf } from "../../www/src/gallery/rangamani";
import {
  epochsChart,
  fixedCharts,
  lookBesideSgd,
  lookOf,
  lowHighCharts,
  methodsOf,
  ratesChart,
  rescaledChart,
} from "../../www/src/gallery/spaces";
import { table4Chart } from "../../www/src/gallery/table4";
import { tableChart } from "../../www/src/gallery/tables";
import type { TableFound } from "../../www/src/worker/protocol";
import {
  adam,
  cifar10Table4,
  cifarGrid,
  cifarGridIgnored,
  cifarKept,
  cifarLowHigh,
  cifarPetzka,
  cifarSpaces,
  dinh,
  grid,
  gridIgnored,
  jestaedt,
  kept,
  keptOf,
  lines,
  lowHigh,
  petzka,
  power,
  published,
  reparametrized,
  spaces,
  table4,
  tables,
  told,
} from "./stored";

describe("what is drawn of stored results", () => {
  const titles = new Map([["hessian.trace", "Hessian, trace"]]);

  test("Tables 2 and 3: every seed in both precisions, by λ", () => {
    for (const table of ["2", "3"] as const) {
      const { columns, rows, plot, keys } = tableChart(tables, table);
      expect(rows).toBe(2);
      expect(columns()[3]?.values.length).toBe(2 * 2 * 20);
      expect(keys.map(({ name }) => name)).toEqual(["f64", "f32", "f32, with a flip", "the paper"]);
      const [least, most] = [plot.x.at(plot.x.low), plot.x.at(plot.x.high)];
      const places = Array.from(columns()[3]?.values ?? [], (value) => plot.x.at(Number(value)));
      expect(places.every((at) => at >= least && at <= most)).toBe(true);
    }
  });

  test("Table 4: every seed of both networks with both sizes of batches, and the paper's means", () => {
    const { columns, plot, rows } = table4Chart(table4);
    expect(rows).toBe(new Set(table4.runs.map(({ network, batches }) => `${network} ${batches}`)).size);
    const [, , seeds, , , , norms, , papers] = columns().map(({ values }) => Array.from(values, Number));
    expect(seeds?.length).toBe(table4.runs.length);
    for (const value of [...(norms ?? []), ...(papers ?? [])]) expect(plot.x.at(value)).toBeGreaterThan(0);
  });

  test("Table 4 on CIFAR-10: both sizes of batches, none of them at a minimum yet", () => {
    const { columns, rows, name } = table4Chart(cifar10Table4, "cifar10");
    expect(rows).toBe(2);
    expect(name).not.toBe(table4Chart(published, "published").name);
    expect(Array.from(columns()[8]?.values ?? [], Number)).toEqual([1790, 28533]);
    for (const { training_loss } of cifar10Table4.runs) expect(training_loss).toBeGreaterThan(1);
  });

  test("Table 4 as the authors' program trains: small batches end lower, by as much as their loss is", () => {
    const { columns, keys, plot, rows } = table4Chart(published, "published");
    expect(rows).toBe(4);
    expect(columns()[6]?.values.length).toBe(published.runs.length);
    const nodewise = published.runs.flatMap((run) => run.nodewise_spectral_norm ?? []);
    expect(new Set(Array.from(columns()[7]?.values ?? []).filter((norm) => norm !== undefined))).toEqual(
      new Set(nodewise),
    );
    for (const norm of nodewise) expect(plot.x.at(norm)).toBeGreaterThan(0);
    expect(keys.map(({ name }) => name)).toContain("in the node-wise metric");
    for (const network of ["mnist_fc", "lenet"]) {
      const [small, large] = ["small", "large"].map((batches) =>
        published.runs.find((run) => run.network === network && run.batches === batches),
      );
      expect((large?.spectral_norm ?? 0) / (small?.spectral_norm ?? 0)).toBeGreaterThan(1e5);
      for (const run of [small, large]) {
        const ratio = (run?.spectral_norm ?? 0) / (run?.training_loss ?? 1);
        expect(ratio).toBeGreaterThan(1e6);
        expect(ratio).toBeLessThan(2e7);
      }
    }
  });

  test("Figure 1: every step of every seed, in both measures of how far it is", () => {
    for (const what of ["distances", "residuals"] as const) {
      const { columns, plot } = powerChart(power, what);
      expect(columns()[0]?.values.length).toBe(power.runs.reduce((sum, { norms }) => sum + norms.length, 0));
      for (const values of power.runs.map((run) => run[what]))
        expect(values.every((value) => Number.isFinite(value) && value > 0)).toBe(true);
      expect(plot.label).toContain("seed 2025 after 240 steps");
    }
    // The estimate never falls, by how power iteration is made.
    for (const { seed, norms } of power.runs) expect(norms, `seed ${seed}`).toEqual([...norms].sort((a, b) => a - b));
  });

  test("Figure 1 as the lab has run it: each step, against the norm that the table begins with", () => {
    const table: TableFound = {
      device: { backend: "cpu", precision: "f64" },
      seeds: [{ seed: 2019, before: 4, rows: [] }],
      power: null,
    };
    expect(historyChart(table)).toBeNull();
    const chart = historyChart({ ...table, power: { norms: [2, 3.9, 4], settled: false } });
    if (!chart) throw new Error("there is no chart");
    const { columns, plot, caption } = chart;
    expect(columns().map(({ values }) => Array.from(values))).toEqual([
      [1, 2, 3],
      [2, 3.9, 4],
      [0.5, expect.closeTo(0.025, 12), 0],
    ]);
    expect(plot.label).toContain("3 steps, after which the vector has not settled");
    expect(caption).toContain("seed 2019, 3 steps");
    expect(caption).toContain("λ is the largest eigenvalue by Lanczos, 4");
  });

  test("Figure 2: lines through both minima of a seed, in the same directions, that meet at t = 0", () => {
    expect(seedsOf(lines).length).toBeGreaterThan(1);
    for (const seed of seedsOf(lines)) {
      for (const lengths of ["layer", "filter"] as const) {
        const { columns, keys } = linesChart(lines, lengths, seed);
        const losses = Array.from(columns()[4]?.values ?? [], Number);
        expect(losses.length).toBe(2 * lines.directions * (lines.runs[0]?.t.length ?? 0));
        expect(losses.every((loss) => Number.isFinite(loss) && loss > 0)).toBe(true);
        expect(keys.map(({ name }) => name)).toEqual(["batches of 256", "batches of 5000"]);
      }
    }
    for (const run of lines.runs) {
      const middle = run.t.indexOf(0);
      const all = [...run.layer, ...run.filter];
      expect(new Set(all.map((line) => line[middle])).size, `${run.batches} ${run.seed}`).toBe(1);
      expect(all.every((line) => line.every((loss) => Number(loss) >= Number(line[middle])))).toBe(true);
    }
  });

  test("Dinh's figures: what they enclose is as large as is said of it", () => {
    const charts = dinhCharts(dinh);
    expect(charts.map(({ name }) => name)).toEqual([1, 2, 3, 4, 5, 6].map((figure) => `dinh-figure-${figure}`));
    for (const { columns, name } of charts) {
      const [, xs, ys] = columns().map(({ values }) => Array.from(values, Number));
      expect(xs?.length, name).toBeGreaterThan(100);
      expect([...(xs ?? []), ...(ys ?? [])].every(Number.isFinite), name).toBe(true);
    }
    const { found: one, theta, losses } = dinh.figure_1;
    // Between the grid's points next to the ends the loss passes L + ε.
    for (const end of [one.low, one.high]) {
      const after = theta.findIndex((value) => value > end);
      const [a = 0, b = 0] = [losses[after - 1], losses[after]].map((value) => (value ?? 0) - one.loss - one.height);
      expect(a * b).toBeLessThan(0);
    }
    const { alpha, point: before, moved: after } = dinh.figure_2.found;
    expect(after).toEqual([alpha * before[0], before[1] / alpha]);
    for (const { share, points } of dinh.figure_2.curves)
      for (const [x, y] of points) expect(x * y).toBeCloseTo(share * before[0] * before[1], 4);
    // The slope of η(θ) at θ̂ is b^a, and what is drawn has it.
    const { found: five, theta: thetas, maps } = dinh.figure_5;
    const at = thetas.indexOf(five.center);
    for (const { a, b, curvatures, eta } of maps) {
      const curvature = curvatures[five.minima.indexOf(five.center)] ?? 0;
      expect(curvature).toBeCloseTo(five.curvature / b ** (2 * a), 9);
      const [left = 0, right = 0] = [at - 1, at + 1].map(
        (index) => (eta[index] ?? 0) / ((thetas[index] ?? 0) - five.center),
      );
      for (const slope of [left, right]) expect(slope).toBeCloseTo((b + 4e-4) ** a, 4);
    }
    const { boxes } = dinh.figure_3.found;
    for (const [index, { low, high, volume }] of boxes.entries()) {
      expect((high[0] - low[0]) * (high[1] - low[1])).toBeCloseTo(volume, 12);
      expect(low[0]).toBeGreaterThan(boxes[index - 1]?.high[0] ?? 0);
    }
    const { point, moved, epsilon, highest_after: highest } = dinh.figure_4.found;
    expect(moved[0] * moved[1]).toBeCloseTo(point[0] * point[1], 12);
    expect(moved[0]).toBeLessThanOrEqual(epsilon);
    expect(Math.hypot(highest[0] - moved[0], highest[1] - moved[1])).toBeLessThanOrEqual(epsilon * (1 + 1e-9));
    const { center, delta } = dinh.figure_6.found;
    const [straight = [], bent = []] = [0, 5].map((index) => dinh.figure_6.lines[index]?.eta ?? []);
    // Its grid's outermost line is beyond the ball, the middle one goes through the centre.
    expect(straight.every(([x]) => Math.abs(x - (straight[0]?.[0] ?? 0)) < 1e-4)).toBe(true);
    expect(bent.some(([x, y]) => Math.hypot(x - center[0], y - center[1]) < delta)).toBe(true);
  });

  test("Jestädt's figures: level lines are where the loss is as high, lines of one function are drawn with gradients across them", () => {
    const charts = jestaedtCharts(jestaedt);
    expect(charts.map(({ name }) => name.replace("jestaedt-figure-", ""))).toEqual([
      "1-5-a",
      "1-5-b",
      "1-6",
      "4-9-a",
      "4-9-b-1",
      "4-9-b-6",
      "4-9-b-10",
    ]);
    const { figure_1_5: one, figure_1_6: two, figure_4_9: three } = jestaedt;
    for (const [index, names] of [
      [1, "w_1,w_2,loss"],
      [4, "w_2,w_3,loss"],
    ] as const)
      expect(
        charts[index]
          ?.columns()
          .map(({ name }) => name)
          .join(),
      ).toBe(names);
    const { reach, side } = three;
    const formulas = [
      (x: number, y: number) => x + y,
      ...[1, 6, 10].map((fixed) => (x: number, y: number) => y * (fixed + x)),
    ];
    const surfaces = [{ ...one.surface, of: (x: number, y: number) => x * y }].concat(
      three.surfaces.map(({ losses }, index) => ({ reach, side, losses, of: formulas[index] ?? Math.max })),
    );
    for (const { reach, side, losses, of } of surfaces) {
      for (const [index, loss] of losses.entries()) {
        const [x, y] = [index % side, Math.floor(index / side)].map((cells) => (cells * reach) / (side - 1));
        expect(loss).toBeCloseTo(Math.sin(of(x ?? 0, y ?? 0)), 2);
      }
    }
    for (const { output, points, arrows } of two.lines) {
      for (const [x, y] of points) expect(x * y).toBeCloseTo(output, 4);
      for (const { at, minus_gradient: minus } of arrows) {
        expect(minus[0]).toBeCloseTo(-Math.cos(output) * at[1], 4);
        expect(minus[1]).toBeCloseTo(-Math.cos(output) * at[0], 4);
      }
    }
    // As far as a grid tells, whose cells are a twelfth wide; and within it.
    for (const level of [-0.5, 0, 0.5]) {
      const places = levelLine({ reach, side, losses: three.surfaces[0]?.losses ?? [] }, level).filter(
        ([x]) => !Number.isNaN(x),
      );
      expect(places.length).toBeGreaterThan(side);
      for (const [x, y] of places) {
        expect(Math.abs(Math.sin(x + y) - level)).toBeLessThan(0.01);
        expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
        expect(Math.max(x, y)).toBeLessThanOrEqual(reach);
      }
    }
    const words = told("jestadt-figures-1-5-1-6-4-8-4-9");
    for (const { w_2_at_0: near, w_2_at_6: far } of three.found.minima_along_w_3) {
      expect(words).toContain(String(near));
      expect(words).toContain(String(far));
    }
    for (const { w_1: top } of one.found.first_maximum) expect(words).toContain(String(Number(top.toPrecision(3))));
  });

  test("Petzka: the runs that are kept, of every measure, before and after the rescaling", () => {
    expect(choices(petzka, titles).length).toBe(petzka.correlations.length);
    for (const { measure } of choices(petzka, titles)) {
      for (const isRescaled of [false, true]) {
        const { columns, plot } = scatterChart(petzka, measure, isRescaled, titles);
        const values = Array.from(columns().at(isRescaled ? -1 : -2)?.values ?? [], Number);
        expect(values.length, measure).toBe(keptOf(petzka));
        expect(
          values.every((value) => Number.isFinite(value) && plot.x.at(value) >= 0 && plot.x.at(value) <= 1),
          measure,
        ).toBe(true);
      }
    }
    expect(titleOf("petzka.rho_sum_per_layer, layer 3", titles)).toBe("ρ_σ, layer 3");
    expect(titleOf("hessian.trace", titles)).toBe("Hessian, trace");
    expect(saidOf(petzka, "petzka.kappa_trace, layer 2", false)).toMatch(
      /^r = 0\.79 \(0\.60 to 0\.90\), Kendall’s τ = 0\.63/,
    );
    expect(saidOf(petzka, "nothing", false)).toBe("no correlation is stored");
  });

  test("and of LeNet5 on CIFAR-10: each network with its initialisation, files with another name", () => {
    const { columns, caption, name } = scatterChart(cifarPetzka, "petzka.kappa_trace, layer 5", false, titles);
    expect(name).toBe("petzka-gap-cifar10");
    expect(caption).toContain("on CIFAR-10");
    const [initializations] = columns();
    // None of the fourth one's has converged.
    expect(new Set(Array.from(initializations?.values ?? [])).size).toBe(3);
    expect(rankingChart(cifarPetzka, titles).rows).toBeGreaterThan(15);
  });

  test("their correlations: three measures of five layers and the network's four; and all of the network", () => {
    const figured = figuredChart(petzka, titles);
    expect(figured.rows).toBe(3 * 5 + 4);
    expect(figured.columns()[1]?.values[0]).toBe("κ_τ, layer 1");
    const ranking = rankingChart(petzka, titles);
    expect(ranking.rows).toBe(petzka.correlations.filter(({ measure }) => !measure.includes("layer ")).length);
    const kendall = Array.from(ranking.columns()[5]?.values ?? [], Number);
    expect(kendall).toEqual([...kendall].sort((a, b) => b - a));
  });

  test("the thesis: each method's runs at each rate, and what blew up is not drawn as a number", () => {
    const rates = ratesChart(spaces);
    expect(rates.columns()[0]?.values.length).toBe(spaces.runs.length);
    expect(rates.plot.label).toMatch(/G-SGD, w_j as drawn diverged, diverged/);
    expect(rates.plot.label).toMatch(/^Lowest validation loss by learning rate: SGD 0\.0833, /);
    const epochs = epochsChart(adam, 1e-4);
    expect(epochs.columns()[3]?.values.length).toBe(4 * 3 * 20);
    const fixed = fixedCharts([kept, cifarKept], [grid, cifarGrid], [gridIgnored, cifarGridIgnored]);
    expect(fixed.map(({ keys }) => keys.length)).toEqual([5, 5, 6, 6, 6, 6]);
    expect(fixed.map(({ name }) => name)).toEqual([
      "jestaedt-kept",
      "jestaedt-kept-cifar10",
      "jestaedt-grid",
      "jestaedt-grid-cifar10",
      "jestaedt-grid-ignored",
      "jestaedt-grid-ignored-cifar10",
    ]);
    const rescaled = rescaledChart(reparametrized);
    expect(rescaled.plot.label).toContain("Fixed SGD, rescaled diverged, diverged, diverged, diverged, diverged;");
    expect(new Set(methodsOf(reparametrized).map((method) => JSON.stringify(lookOf(method)))).size).toBe(4);
    expect(new Set(methodsOf(grid).map((method) => lookOf(method).mark)).size).toBe(6);
    const onCifar = ratesChart(cifarSpaces);
    expect([onCifar.name, rates.name]).toEqual(["jestaedt-rates-cifar10", "jestaedt-rates"]);
    expect(onCifar.caption).toContain("3072-64-64-64-64-64-10 without biases on CIFAR-10");
    expect(epochsChart(cifarSpaces, 1e-2).columns()[3]?.values.length).toBe(4 * 3 * 5);
    expect(epochs.plot.label).toContain("Fixed Adam ends at 0.0");
    const [high, low] = lowHighCharts(lowHigh);
    expect([high?.name, low?.name]).toEqual(["jestaedt-high", "jestaedt-low"]);
    const names = lowHighCharts(cifarLowHigh).map(({ name }) => name);
    expect(names).toEqual(["jestaedt-high-cifar10", "jestaedt-low-cifar10"]);
    for (const chart of [high, low]) expect(chart?.columns()[3]?.values.length).toBe(6 * 3 * 20);
    expect(low?.plot.label).toMatch(/^Validation loss by epoch at rate 0\.0005: SGD ends at 1\.2/);
    expect(new Set(methodsOf(lowHigh).map((method) => JSON.stringify(lookBesideSgd(method)))).size).toBe(6);
  });
});
