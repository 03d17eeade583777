import { describe, expect, test } from "vitest";
import README from "../../docs/papers/README.md?raw";
import petzkaJson from "../../docs/results/petzka-mnist.json";
import spacesJson from "../../docs/results/spaces.json";
import adamJson from "../../docs/results/spaces-adam.json";
import tablesJson from "../../docs/results/tables.json";
import { DRAWINGS, LIVE } from "../../www/src/gallery/live";
import { choices, figuredChart, rankingChart, saidOf, scatterChart, titleOf } from "../../www/src/gallery/petzka";
import type { Petzka, Spaces, Tables } from "../../www/src/gallery/results";
import { counted, readPapers } from "../../www/src/gallery/rows";
import { epochsChart, methodsOf, ratesChart } from "../../www/src/gallery/spaces";
import { tableChart } from "../../www/src/gallery/tables";
import { piecesOf, typeset } from "../../www/src/gallery/words";
import { readQuery } from "../../www/src/link";

const [tables, petzka] = [tablesJson as unknown as Tables, petzkaJson as unknown as Petzka];
const [spaces, adam] = [spacesJson as unknown as Spaces, adamJson as unknown as Spaces];
const papers = readPapers(README);
const rows = papers.flatMap((paper) => paper.rows);
const row = (id: string) => rows.find((one) => one.id === id);

describe("the rows of docs/papers", () => {
  test("are of four papers, each with its authors, title and year", () => {
    expect(papers.map(({ id, year }) => `${id} ${year}`)).toEqual([
      "rangamani 2019",
      "petzka 2019",
      "dinh 2017",
      "jestadt 2025",
    ]);
    expect(papers.every(({ authors, title, rows }) => authors && title && rows.length > 2)).toBe(true);
  });

  test("have a command, or are done in the lab, unless they say why they were not run", () => {
    expect(rows.length).toBeGreaterThan(12);
    for (const { id, verdict, command, time, why } of rows) {
      if (verdict === "not run") expect(why, id).not.toBe("");
      else expect(command ?? time, id).toMatch(/^cargo |live in the lab/);
    }
  });

  test("with the command of the row above where it is the same", () => {
    expect(row("rangamani-table-3")?.command).toBe(row("rangamani-table-2")?.command);
    expect(row("rangamani-table-2")?.time).toBe("two minutes");
  });

  test("are counted by their verdicts", () => {
    const counts = counted(papers);
    expect(counts.map(({ verdict }) => verdict)).toEqual([
      "agrees",
      "agrees in part",
      "differs",
      "cannot say",
      "not run",
    ]);
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(rows.length);
  });

  test("are all there of what is drawn and done live, and those places know their addresses", () => {
    for (const id of [...Object.keys(DRAWINGS), ...Object.keys(LIVE)]) expect(row(id), id).toBeDefined();
    const addresses = Object.values(LIVE).flatMap((list) => list.map(({ to }) => to));
    const settings = addresses.flatMap((to) => to.split("?")[1] ?? []);
    expect(settings.length).toBeGreaterThan(2);
    for (const query of settings) expect(readQuery(query)?.spaces, query).not.toBeNull();
  });

  test("do not go without a word: what is wrong with them is said", () => {
    const table = (cells: string) =>
      `# T\n\n## Doe et al., *On Flatness* (2020)\n\n| | what | paper | here | command, time | verdict |\n| --- | --- | --- | --- | --- | --- |\n${cells}\n`;
    const good = "| Table 1 | a | b | c | `run`, a minute | agrees |";
    expect(readPapers(table(good))[0]?.rows[0]).toMatchObject({ id: "doe-table-1", command: "run", time: "a minute" });
    const faults: [string, RegExp][] = [
      ["| Table 1 | a | b | c | `run` | differs |", /its verdict has no reason/],
      ["| Table 1 | a | b | c | `run` | good: so |", /verdict is none of/],
      ["| Table 1 | a | b | c | | agrees |", /has a command or says/],
      ["| Table 1 | a | b | – | `run` | not run: dear |", /has a command or says/],
      ["| Table 1 | a | | c | `run` | agrees |", /a cell is empty/],
      ["| Table 1 | a | b | c | agrees |", /5 cells, not 6/],
      ["| Table 1 | a | b | c | the same | agrees |", /no row above/],
      [`${good}\n${good}`, /two rows of that name/],
    ];
    for (const [cells, said] of faults) expect(() => readPapers(table(cells)), cells).toThrow(said);
    expect(() => readPapers("## Nobody\n")).toThrow(/authors, \*title\* \(year\)/);
  });
});

describe("what the rows say", () => {
  test("are the numbers that are stored", () => {
    for (const { table, device, median, paper } of tables.rows) {
      const of = row(`rangamani-table-${table}`);
      expect(of?.here, `${table} ${device.precision}`).toContain(median.toExponential(1).replace(/\.0e/, "e"));
      expect(of?.paper).toContain(paper.toExponential().replace("+", ""));
    }
    const figures = row("petzka-figures-3-to-6")?.here ?? "";
    for (const layer of [1, 2, 3, 4]) {
      const found = petzka.correlations.find(({ measure }) => measure === `petzka.kappa_trace, layer ${layer}`);
      expect(figures, `layer ${layer}`).toContain(found?.pearson.value.toFixed(2));
    }
    expect(figures).toContain(`${petzka.runs.length} runs, 7 of them above a training loss of ${petzka.largest_loss}`);
    const rescaling = row("petzka-figure-2-rescaling")?.here ?? "";
    const norm = petzka.correlations.find(({ measure }) => measure === "hessian.max_eigenvalue");
    expect(rescaling).toContain(`${norm?.pearson.value.toFixed(2)} → ${norm?.rescaled.pearson.value.toFixed(2)}`);
    const best = (of: Spaces, method: string): string => {
      const means = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5].map((rate) => {
        const own = of.runs.filter((run) => run.method === method && run.learning_rate === rate);
        const lowest = own.map(({ validation_loss }) => Math.min(...validation_loss.map((loss) => loss ?? Infinity)));
        return lowest.reduce((sum, loss) => sum + loss, 0) / lowest.length;
      });
      return Math.min(...means).toFixed(3);
    };
    const [sgd, withAdam] = [row("jestadt-figures-4-1-to-4-5-4-10"), row("jestadt-figures-4-1-to-4-5-with-adam")];
    for (const method of ["SGD", "G-SGD", "Fixed SGD"]) expect(sgd?.here, method).toContain(best(spaces, method));
    for (const method of methodsOf(adam)) expect(withAdam?.here, method).toContain(best(adam, method));
  });

  test("reads as people write numbers, and code stays what it is", () => {
    expect(typeset("from 1.7e-7 to 1e-5, not 1e-1")).toBe("from 1.7\u00a0×\u00a010⁻⁷ to 10⁻⁵, not 0.1");
    expect(typeset("layer1e5, x1e-7y")).toBe("layer1e5, x1e-7y");
    expect(typeset("the paper's 0.9 ± 0.1 at 95 % of 784-512×5")).toBe(
      "the paper’s 0.9\u00a0±\u00a00.1 at 95\u00a0% of 784-512×5",
    );
    expect(piecesOf("by `--rate 1e-5`, under *Spaces*, as [README](../x.md) says")).toEqual([
      "by ",
      { code: "--rate 1e-5" },
      ", under ",
      { stressed: "Spaces" },
      ", as ",
      "README",
      " says",
    ]);
  });
});

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

  test("Petzka: the runs that are kept, of every measure, before and after the rescaling", () => {
    expect(choices(petzka, titles).length).toBe(petzka.correlations.length);
    for (const { measure } of choices(petzka, titles)) {
      for (const isRescaled of [false, true]) {
        const { columns, plot } = scatterChart(petzka, measure, isRescaled, titles);
        const values = Array.from(columns().at(isRescaled ? -1 : -2)?.values ?? [], Number);
        expect(values.length, measure).toBe(21);
        expect(
          values.every((value) => Number.isFinite(value) && plot.x.at(value) >= 0 && plot.x.at(value) <= 1),
          measure,
        ).toBe(true);
      }
    }
    expect(titleOf("petzka.rho_sum_per_layer, layer 3", titles)).toBe("ρ_σ, layer 3");
    expect(titleOf("hessian.trace", titles)).toBe("Hessian, trace");
    expect(saidOf(petzka, "petzka.kappa_trace, layer 2", false)).toMatch(
      /^r = 0\.79 \(0\.54 to 0\.91\), Kendall’s τ = 0\.65/,
    );
    expect(saidOf(petzka, "nothing", false)).toBe("no correlation is stored");
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
    expect(rates.plot.label).toMatch(/^Lowest validation loss by learning rate: SGD 0\.0867, /);
    const epochs = epochsChart(adam, 1e-4);
    expect(epochs.columns()[3]?.values.length).toBe(4 * 3 * 20);
    expect(epochs.plot.label).toContain("Fixed Adam ends at 0.0");
  });
});
