import { describe, expect, test } from "vitest";
import CORRELATIONS from "../../docs/papers/correlations.md?raw";
import README from "../../docs/papers/README.md?raw";
import dinhJson from "../../docs/results/dinh-figures.json";
import jestaedtJson from "../../docs/results/jestaedt-figures.json";
import cifarPetzkaJson from "../../docs/results/petzka-cifar10.json";
import petzkaJson from "../../docs/results/petzka-mnist.json";
import printedJson from "../../docs/results/petzka-printed.json";
import cifar10Table4Json from "../../docs/results/rangamani-cifar10.json";
import linesJson from "../../docs/results/rangamani-lines.json";
import table4Json from "../../docs/results/rangamani-mnist.json";
import powerJson from "../../docs/results/rangamani-power.json";
import publishedJson from "../../docs/results/rangamani-published.json";
import spacesJson from "../../docs/results/spaces.json";
import adamJson from "../../docs/results/spaces-adam.json";
import cifarSpacesJson from "../../docs/results/spaces-cifar10.json";
import cifarAdamJson from "../../docs/results/spaces-cifar10-adam.json";
import cifarGridJson from "../../docs/results/spaces-cifar10-grid.json";
import cifarGridIgnoredJson from "../../docs/results/spaces-cifar10-grid-defects.json";
import cifarKeptJson from "../../docs/results/spaces-cifar10-kept.json";
import cifarLowHighJson from "../../docs/results/spaces-cifar10-low-high.json";
import spacesGridJson from "../../docs/results/spaces-grid.json";
import gridIgnoredJson from "../../docs/results/spaces-grid-defects.json";
import spacesKeptJson from "../../docs/results/spaces-kept.json";
import lowHighJson from "../../docs/results/spaces-low-high.json";
import reparametrizedJson from "../../docs/results/spaces-reparametrized.json";
import tablesJson from "../../docs/results/tables.json";
import { dinhCharts } from "../../www/src/gallery/dinh";
import { jestaedtCharts, levelLine } from "../../www/src/gallery/jestaedt";
import { DRAWINGS, LIVE, NOT_LIVE, QUICK_HERE } from "../../www/src/gallery/live";
import { choices, figuredChart, rankingChart, saidOf, scatterChart, titleOf } from "../../www/src/gallery/petzka";
import { historyChart, linesChart, powerChart, seedsOf } from "../../www/src/gallery/rangamani";
import type {
  DinhFigures,
  JestaedtFigures,
  LinesStored,
  Petzka,
  Power,
  Spaces,
  Table4Stored,
  Tables,
} from "../../www/src/gallery/results";
import { counted, readPapers } from "../../www/src/gallery/rows";
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
import { piecesOf, typeset } from "../../www/src/gallery/words";
import { readQuery } from "../../www/src/link";
import { gridFindings, keptFindings, rescaledFindings } from "../../www/src/spaces/findings";
import { OF_CHOICES } from "../../www/src/spaces/looks";
import { keyOf, METHODS, type MethodId, run } from "../../www/src/spaces/methods";
import { type Curve, Results } from "../../www/src/spaces/results";
import type { TableFound } from "../../www/src/worker/protocol";
import type { RunPoint } from "../../www/src/worker/spaces-protocol";

const [tables, petzka] = [tablesJson as unknown as Tables, petzkaJson as unknown as Petzka];
const [spaces, adam] = [spacesJson as unknown as Spaces, adamJson as unknown as Spaces];
const [cifarPetzka, cifarSpaces] = [cifarPetzkaJson as unknown as Petzka, cifarSpacesJson as unknown as Spaces];
const cifarAdam = cifarAdamJson as unknown as Spaces;
const [kept, grid] = [spacesKeptJson as unknown as Spaces, spacesGridJson as unknown as Spaces];
const [gridIgnored, cifarGridIgnored] = [
  gridIgnoredJson as unknown as Spaces,
  cifarGridIgnoredJson as unknown as Spaces,
];
const lowHigh = lowHighJson as unknown as Spaces;
const [cifarKept, cifarLowHigh] = [cifarKeptJson as unknown as Spaces, cifarLowHighJson as unknown as Spaces];
const [cifarGrid, reparametrized] = [cifarGridJson as unknown as Spaces, reparametrizedJson as unknown as Spaces];
const jestaedt = jestaedtJson as unknown as JestaedtFigures;
const [power, dinh] = [powerJson as unknown as Power, dinhJson as unknown as DinhFigures];
const lines = linesJson as unknown as LinesStored;
const table4 = table4Json as unknown as Table4Stored;
const published = publishedJson as unknown as Table4Stored;
const cifar10Table4 = cifar10Table4Json as unknown as Table4Stored;
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
    expect(papers.every(({ authors, title }) => authors && title)).toBe(true);
    expect(papers.map(({ rows }) => rows.length)).toEqual([7, 4, 2, 9]);
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
    expect(row("rangamani-table-2")?.time).toMatch(/^two minutes; live in the lab/);
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
    const known = [DRAWINGS, LIVE, NOT_LIVE, QUICK_HERE].flatMap((each) => Object.keys(each));
    for (const id of known) expect(row(id), id).toBeDefined();
    const addresses = Object.values(LIVE).flatMap((list) => list.map(({ to }) => to));
    const settings = addresses.flatMap((to) => to.split("?")[1] ?? []);
    expect(settings.length).toBeGreaterThan(2);
    for (const query of settings) expect(readQuery(query)?.spaces, query).not.toBeNull();
  });

  test("have a way to run them in the lab, or say why there is none", () => {
    for (const { id } of rows) expect(LIVE[id] ?? NOT_LIVE[id], id).toBeDefined();
  });

  test("say live in the lab exactly where a table is further down, or a quick version is run in the row", () => {
    const tables = rows.filter(({ id }) => LIVE[id]?.some(({ to }) => to === "table2" || to === "table3"));
    expect(tables.map(({ id }) => id)).toEqual(["rangamani-table-2", "rangamani-table-3", "rangamani-figure-1"]);
    for (const { id, time } of rows)
      expect(/live in the lab, under \*Papers\*/.test(time), id).toBe(
        tables.some((each) => each.id === id) || QUICK_HERE[id] !== undefined,
      );
  });

  test("of Rangamani's and Petzka's trainings are run here on little, or tell why they are not", () => {
    const trained = rows.filter(({ id }) => /^rangamani-(table-4|figure-2)|^petzka-figures?-/.test(id));
    expect(trained.length).toBe(7);
    const [here, not] = [trained, trained].map((all, which) =>
      all.filter(({ id }) => (QUICK_HERE[id] !== undefined) === (which === 0)),
    );
    expect(here?.length).toBe(6);
    for (const { id } of not ?? []) expect(NOT_LIVE[id], id).toMatch(/hours?|min|MB/);
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
    const first = row("rangamani-figure-1");
    const steps = power.runs.map(({ norms }) => norms.length);
    const within = power.runs.map(({ distances }) => 1 + distances.findIndex((distance) => distance < 0.01));
    const short = (value: number): string => value.toExponential(1);
    expect(first?.here).toContain(`${power.runs.length} seeds`);
    expect(first?.here).toContain(`after ${Math.min(...steps)} to ${Math.max(...steps)} products`);
    expect(first?.here).toContain(`largest eigenvalue after ${Math.min(...within)} to ${Math.max(...within)}.`);
    expect(first?.here).toContain(`${short(Math.max(...power.runs.map(({ difference }) => difference)))} from`);
    const residuals = power.runs.map(({ residuals, lanczos }) => (residuals.at(-1) ?? Number.NaN) / lanczos.value);
    expect(first?.here).toContain(`${short(Math.max(...residuals))} of it`);
    const fourth = row("rangamani-table-4-mnist")?.here ?? "";
    for (const { seeds, spectral_norm: norm, test_accuracy: right } of table4.rows.filter(({ seeds }) => seeds > 0)) {
      expect(fourth).toContain(`${seeds} seeds`);
      expect(fourth).toContain(`${norm.mean.toFixed(0)} ± ${norm.deviation?.toFixed(0)}`);
      expect(fourth).toContain(`${(100 * right.mean).toFixed(2)} ± ${(100 * (right.deviation ?? 0)).toFixed(2)}`);
    }
    const asPublished = row("rangamani-table-4-mnist-as-the-authors-program-trains")?.here ?? "";
    for (const { spectral_norm: norm, test_accuracy: right } of published.runs) {
      const said = norm < 1 ? norm.toExponential(1) : String(Number(norm.toPrecision(norm < 100 ? 3 : 4)));
      expect(asPublished).toContain(said);
      expect(asPublished).toContain((100 * right).toFixed(2));
    }
    const onCifar10 = row("rangamani-table-4-cifar-10")?.here ?? "";
    expect(onCifar10).toContain(`${cifar10Table4.epochs} epochs`);
    expect(onCifar10).toContain(`first ${cifar10Table4.measured} training images`);
    for (const { spectral_norm: norm, test_accuracy: right, training_loss: loss } of cifar10Table4.runs) {
      for (const value of [norm, loss, 100 * right]) expect(onCifar10).toContain(String(Number(value.toPrecision(3))));
    }
    const second = row("rangamani-figure-2");
    for (const { lengths, at } of lines.compared) {
      const [above, all] = [at, at].map((places, which) =>
        places.reduce((sum, place) => sum + (which === 0 ? place.above : place.of), 0),
      );
      expect(second?.here, lengths).toContain(`${above} of ${all}`);
    }
    for (const place of lines.compared[0]?.at.filter(({ t }) => Math.abs(t) === 1) ?? [])
      for (const ratio of place.ratios) expect(second?.here).toContain(ratio.toFixed(2));
    for (const batches of ["small", "large"] as const)
      for (const run of lines.runs.filter((each) => each.batches === batches))
        expect(second?.here).toContain((100 * run.test_accuracy).toFixed(1));
    const drawn = row("dinh-figures-1-to-6")?.here ?? "";
    const { figure_1: one, figure_3: three, figure_4: four, figure_5: five, figure_6: six } = dinh;
    expect(drawn).toContain(five.found.curvature.toPrecision(3));
    for (const { curvatures } of five.maps)
      for (const value of curvatures.slice(0, 2)) expect(drawn).toContain(String(Number(value.toPrecision(3))));
    for (const value of [one.found.width, one.found.rise, one.found.radius, three.found.boxes[0]?.volume ?? 0])
      expect(drawn).toContain(String(Number(value.toPrecision(3))));
    for (const value of [four.found.before, four.found.after, four.found.guaranteed])
      expect(drawn).toContain(value.toFixed(3));
    for (const value of [...six.found.eigenvalues.slice(-1), ...six.found.eigenvalues_in_eta.slice(-1)])
      expect(drawn).toContain(value.toFixed(2));
    const found = (of: Petzka, measure: string) => of.correlations.find((each) => each.measure === measure);
    const moved = (of: Petzka, measure: string): string => {
      const { pearson, rescaled } = found(of, measure) ?? {};
      return `${pearson?.value.toFixed(2)} → ${rescaled?.pearson.value.toFixed(2)}`;
    };
    const figures = row("petzka-figures-3-to-6")?.here ?? "";
    for (const layer of [1, 2, 3, 4]) {
      const value = found(petzka, `petzka.kappa_trace, layer ${layer}`)?.pearson.value;
      expect(figures, `layer ${layer}`).toContain(value?.toFixed(2));
    }
    const leftOut = petzka.runs.length - keptOf(petzka);
    expect(figures).toContain(
      `${petzka.runs.length} runs, ${leftOut} of them above a training loss of ${petzka.largest_loss}`,
    );
    // At the printed rate: what diverges, what stays where all classes are as likely, and what is left.
    const ends = printedJson.runs.map(({ training_loss }) => training_loss ?? Number.POSITIVE_INFINITY);
    const chance = ends.filter((loss) => Number.isFinite(loss) && Math.abs(loss - Math.log(10)) < 0.01).length;
    const learned = ends.filter((loss) => loss < 2.2);
    expect([ends.filter((loss) => loss === Number.POSITIVE_INFINITY).length, chance, learned.length]).toEqual([
      3, 6, 1,
    ]);
    const verdict = row("petzka-figures-3-to-6")?.why ?? "";
    expect(verdict).toContain("three of ten seeds diverge in the second epoch, six stay at chance");
    expect(verdict).toContain(`one comes to a loss of ${learned[0]?.toFixed(2)}`);
    const rescaling = row("petzka-figure-2-rescaling")?.here ?? "";
    expect(rescaling).toContain(moved(petzka, "hessian.max_eigenvalue"));
    const least = ["nodewise", "layerwise"].map((group) => found(petzka, `least_trace.${group}`));
    const digits = (of: "pearson" | "kendall") => least.map((each) => each?.[of].value.toFixed(2)).join(" and ");
    const sum = found(petzka, "petzka.kappa_trace_sum");
    const beside = (of: "pearson" | "kendall") => `${digits(of)} beside ${sum?.[of].value.toFixed(2)}`;
    expect(README).toContain(`τ ${beside("kendall")}, r ${beside("pearson")}`);
    const both = (of: Petzka, measure: string, between: string): string => {
      const { kendall, pearson } = found(of, measure) ?? {};
      return `${kendall?.value.toFixed(2)}${between}${pearson?.value.toFixed(2)}`;
    };
    expect(README).toContain(`τ ${both(petzka, "normalized_sharpness", ", r ")}, before and after`);
    expect(README).toContain(`τ ${both(cifarPetzka, "normalized_sharpness", " and r ")}`);
    expect(README).toContain(`the least trace over neurons has ${both(cifarPetzka, "least_trace.nodewise", " and ")}:`);
    const [sgd, withAdam] = [
      row("jestadt-figures-4-1-4-2-4-4-4-5-4-10"),
      row("jestadt-figures-4-1-4-2-4-4-4-5-with-adam"),
    ];
    const onCifar = row("jestadt-figures-4-1-4-2-4-4-4-5-cifar-10");
    for (const method of ["SGD", "G-SGD", "Fixed SGD"]) {
      expect(sgd?.here, method).toContain(lowestMean(spaces, method));
      expect(onCifar?.here, method).toContain(lowestMean(cifarSpaces, method));
    }
    const ofCifar = row("petzka-figures-1-and-2")?.here ?? "";
    expect(ofCifar).toContain(`${cifarPetzka.runs.length} networks`);
    for (const measure of ["petzka.kappa_trace, layer 5", "petzka.kappa, layer 5"])
      expect(ofCifar, measure).toContain(found(cifarPetzka, measure)?.pearson.value.toFixed(2));
    for (const measure of ["hessian.max_eigenvalue", "hessian.trace"])
      expect(ofCifar, measure).toContain(moved(cifarPetzka, measure));
    const adamOnCifar = row("jestadt-figures-4-1-4-2-4-4-4-5-with-adam-cifar-10");
    for (const method of methodsOf(adam)) {
      expect(withAdam?.here, method).toContain(lowestMean(adam, method));
      expect(adamOnCifar?.here, method).toContain(lowestMean(cifarAdam, method));
    }
  });

  test("and the table of all measures' correlations has each of the stored ones", () => {
    const two = (value: number): string => value.toFixed(2).replace("-", "−");
    const shown = ({ value, low, high }: { value: number; low: number; high: number }): string =>
      `${two(value)} (${two(low)} to ${two(high)})`;
    const parts = CORRELATIONS.split("\n## ").slice(1);
    for (const [index, { correlations }] of [petzka, cifarPetzka].entries()) {
      const lines = parts[index]?.split("\n").filter((line) => line.startsWith("| `")) ?? [];
      const expected = correlations.map(({ measure, kendall, pearson, rescaled }) =>
        [`\`${measure}\``, ...[kendall, pearson, rescaled.kendall, rescaled.pearson].map(shown)].join(" | "),
      );
      expect(lines.length).toBe(expected.length);
      for (const [at, line] of lines.entries()) expect(line).toContain(expected[at]);
    }
  });

  test("and how many rates a method learns at, by where the threshold is", () => {
    const counts = (of: Spaces, threshold: number): number[] =>
      ["SGD", "G-SGD", "Fixed SGD"].map((method) => learnedAt(of, method, threshold));
    expect([0.8, 0.9, 0.95].map((threshold) => counts(spaces, threshold))).toEqual([
      [3, 3, 3],
      [2, 2, 3],
      [2, 1, 1],
    ]);
    expect([0.25, 0.3, 0.35, 0.4, 0.45].map((threshold) => counts(cifarSpaces, threshold))).toEqual([
      [1, 4, 4],
      [1, 4, 4],
      [1, 3, 4],
      [1, 3, 3],
      [1, 1, 1],
    ]);
    expect(row("jestadt-figures-4-1-4-2-4-4-4-5-4-10")?.verdict).toBe("agrees in part");
    expect(row("jestadt-figures-4-1-4-2-4-4-4-5-cifar-10")?.verdict).toBe("agrees");
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

/** Runs that have learned their training set: how many. */
const keptOf = ({ runs, largest_loss: largest }: Petzka): number =>
  runs.filter(({ training_loss: loss }) => loss !== null && loss <= largest).length;

/** At how many rates every run of a method has an epoch with more of the test images right than that. */
function learnedAt(of: Spaces, method: string, threshold: number): number {
  const own = of.runs.filter((run) => run.method === method);
  const rates = [...new Set(own.map((run) => run.learning_rate))];
  const best = (rate: number): number[] =>
    own
      .filter((run) => run.learning_rate === rate)
      .map(({ validation_accuracy }) => Math.max(...validation_accuracy.map((right) => right ?? 0)));
  return rates.filter((rate) => Math.min(...best(rate)) > threshold).length;
}

/** Over a method's rates: of the mean of its runs. */
function lowestMean(of: Spaces, method: string): string {
  const means = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5].map((rate) => {
    const own = of.runs.filter((run) => run.method === method && run.learning_rate === rate);
    const lowest = own.map(({ validation_loss }) => Math.min(...validation_loss.map((loss) => loss ?? Infinity)));
    return lowest.reduce((sum, loss) => sum + loss, 0) / lowest.length;
  });
  return Math.min(...means).toFixed(3);
}

/** Stored runs as the lab's own findings take them. */
function resultsOf(of: Spaces): Results {
  const curves = new Map<string, Curve[]>();
  for (const { method, learning_rate, validation_loss, training_loss } of of.runs) {
    const [name = "", value = "1"] = method.split(" at ");
    const [id] = Object.entries(METHODS).find(([, known]) => known.name === name) ?? [];
    const points = validation_loss.map(
      (loss, epoch) => ({ validationLoss: loss ?? undefined, loss: training_loss[epoch] }) as RunPoint,
    );
    const key = keyOf(run(id as MethodId, learning_rate, Number(value)));
    const end = validation_loss.length < of.epochs ? "diverged" : "done";
    curves.set(key, [...(curves.get(key) ?? []), { points, end }]);
  }
  return new Results(curves, of.seeds);
}

describe("what Figures 4.6 and 4.7 come to", () => {
  test("is what the lab's findings say of the stored runs", () => {
    const [ones, , rates, standing] = [...keptFindings(resultsOf(kept)), ...gridFindings(resultsOf(grid))];
    expect([ones, rates, standing].map((finding) => finding?.verdict)).toEqual(["cannot say", "agrees", "cannot say"]);
    const fixed = row("jestadt-figures-4-6-and-4-7");
    expect(fixed?.verdict).toBe("agrees in part");
    const said = /is \S+ times as large \(\S+ to [\d.]+/.exec(rates?.here ?? "")?.[0] ?? "nothing";
    expect(fixed?.here).toContain(said.replace("(", "(95 % interval "));
    for (const method of ["SGD", "Fixed SGD", "Fixed SGD, kept", "G-SGD", "G-SGD, kept"])
      expect(fixed?.here, method).toContain(lowestMean(kept, method));
    for (const value of [0.1, 0.6, 1.7, 3])
      expect(fixed?.here, String(value)).toContain(lowestMean(grid, `Fixed SGD at ${value}`));
  });

  test("as the published program ignores the value: rates do not go with it, and none stands out", () => {
    for (const ignored of [gridIgnored, cifarGridIgnored])
      expect(gridFindings(resultsOf(ignored)).map(({ verdict }) => verdict)).toEqual(["cannot say", "agrees"]);
  });
});

describe("what section 4.2.2 comes to", () => {
  test("is what the lab's findings say of the stored runs", () => {
    const findings = rescaledFindings(resultsOf(reparametrized));
    expect(findings.map(({ verdict }) => verdict)).toEqual(["agrees", "agrees"]);
    expect(row("jestadt-section-4-2-2")?.verdict).toBe("agrees");
    for (const { here } of findings) expect(here).toMatch(/explodes at [35] of 5 rates and SGD at 0/);
  });

  test("is drawn in the lab's colours and marks", () => {
    for (const method of Object.values(METHODS))
      if ("choice" in method) expect(lookOf(method.name), method.name).toEqual(OF_CHOICES[method.choice]);
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
    const words = row("jestadt-figures-1-5-1-6-4-8-4-9")?.here ?? "";
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
