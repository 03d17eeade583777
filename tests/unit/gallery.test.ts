import { describe, expect, test } from "vitest";
import CORRELATIONS from "../../docs/papers/correlations.md?raw";
import README from "../../docs/papers/README.md?raw";
import { DRAWINGS, LIVE, NOT_LIVE, QUICK_HERE } from "../../www/src/gallery/live";
import type { Petzka, Spaces } from "../../www/src/gallery/results";
import { counted, readPapers } from "../../www/src/gallery/rows";
import { lookOf, methodsOf } from "../../www/src/gallery/spaces";
import { listOf, piecesOf, typeset } from "../../www/src/gallery/words";
import { readQuery } from "../../www/src/link";
import { gridFindings, keptFindings, rescaledFindings } from "../../www/src/spaces/findings";
import { OF_CHOICES } from "../../www/src/spaces/looks";
import { keyOf, METHODS, type MethodId, run } from "../../www/src/spaces/methods";
import { type Curve, Results } from "../../www/src/spaces/results";
import type { RunPoint } from "../../www/src/worker/spaces-protocol";
import {
  adam,
  cifar10Table4,
  cifarAdam,
  cifarGridIgnored,
  cifarPetzka,
  cifarSpaces,
  dinh,
  grid,
  gridIgnored,
  kept,
  keptOf,
  lines,
  papers,
  petzka,
  power,
  printed,
  published,
  reparametrized,
  row,
  rows,
  spaces,
  table4,
  tables,
  told,
} from "./stored";

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

  test("are read at a glance: what takes more words stands below the table", () => {
    for (const { id, here, why, time } of rows) {
      expect(here.length, id).toBeLessThan(260);
      expect(why.length, id).toBeLessThan(180);
      expect(time.length, id).toBeLessThan(180);
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
    const more = readPapers(`${table(good)}\nA note.\n\n### Table 1\n\nOne.\n\n![A drawing](x.svg)\n\n- a\n- b\n`)[0];
    expect([more?.rows[0]?.more, more?.notes]).toEqual([["One.", "- a\n- b"], ["A note."]]);
    expect(() => readPapers(`${table(good)}\n### Table 2\n\nOne.\n`)).toThrow(/doe, Table 2: there is no row/);
    for (const [cells, said] of faults) expect(() => readPapers(table(cells)), cells).toThrow(said);
    expect(() => readPapers("## Nobody\n")).toThrow(/authors, \*title\* \(year\)/);
  });
});

describe("what the rows say", () => {
  test("are the numbers that are stored", () => {
    for (const { table, device, median, paper } of tables.rows) {
      const [of, paperOf] = [told(`rangamani-table-${table}`), row(`rangamani-table-${table}`)?.paper];
      expect(of, `${table} ${device.precision}`).toContain(median.toExponential(1).replace(/\.0e/, "e"));
      expect(paperOf).toContain(paper.toExponential().replace("+", ""));
    }
    const first = told("rangamani-figure-1");
    const steps = power.runs.map(({ norms }) => norms.length);
    const within = power.runs.map(({ distances }) => 1 + distances.findIndex((distance) => distance < 0.01));
    const short = (value: number): string => value.toExponential(1);
    expect(first).toContain(`${power.runs.length} seeds`);
    expect(first).toContain(`after ${Math.min(...steps)} to ${Math.max(...steps)} products`);
    expect(first).toContain(`largest eigenvalue after ${Math.min(...within)} to ${Math.max(...within)}.`);
    expect(first).toContain(`${short(Math.max(...power.runs.map(({ difference }) => difference)))} from`);
    const residuals = power.runs.map(({ residuals, lanczos }) => (residuals.at(-1) ?? Number.NaN) / lanczos.value);
    expect(first).toContain(`${short(Math.max(...residuals))} of it`);
    const fourth = told("rangamani-table-4-mnist");
    for (const { seeds, spectral_norm: norm, test_accuracy: right } of table4.rows.filter(({ seeds }) => seeds > 0)) {
      expect(fourth).toContain(`${seeds} seeds`);
      expect(fourth).toContain(`${norm.mean.toFixed(0)} ± ${norm.deviation?.toFixed(0)}`);
      expect(fourth).toContain(`${(100 * right.mean).toFixed(2)} ± ${(100 * (right.deviation ?? 0)).toFixed(2)}`);
    }
    const asPublished = told("rangamani-table-4-mnist-as-the-authors-program-trains");
    for (const { spectral_norm: norm, test_accuracy: right } of published.runs) {
      const said = norm < 1 ? norm.toExponential(1) : String(Number(norm.toPrecision(norm < 100 ? 3 : 4)));
      expect(asPublished).toContain(said);
      expect(asPublished).toContain((100 * right).toFixed(2));
    }
    const onCifar10 = told("rangamani-table-4-cifar-10");
    expect(onCifar10).toContain(`${cifar10Table4.epochs} epochs`);
    expect(onCifar10).toContain(`first ${cifar10Table4.measured} training images`);
    for (const { spectral_norm: norm, test_accuracy: right, training_loss: loss } of cifar10Table4.runs) {
      for (const value of [norm, loss, 100 * right]) expect(onCifar10).toContain(String(Number(value.toPrecision(3))));
    }
    const second = told("rangamani-figure-2");
    for (const { lengths, at } of lines.compared) {
      const [above, all] = [at, at].map((places, which) =>
        places.reduce((sum, place) => sum + (which === 0 ? place.above : place.of), 0),
      );
      expect(second, lengths).toContain(`${above} of ${all}`);
    }
    for (const place of lines.compared[0]?.at.filter(({ t }) => Math.abs(t) === 1) ?? [])
      for (const ratio of place.ratios) expect(second).toContain(ratio.toFixed(2));
    for (const batches of ["small", "large"] as const)
      for (const run of lines.runs.filter((each) => each.batches === batches))
        expect(second).toContain((100 * run.test_accuracy).toFixed(1));
    const drawn = told("dinh-figures-1-to-6");
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
    const figures = told("petzka-figures-3-to-6");
    for (const layer of [1, 2, 3, 4]) {
      const value = found(petzka, `petzka.kappa_trace, layer ${layer}`)?.pearson.value;
      expect(figures, `layer ${layer}`).toContain(value?.toFixed(2));
    }
    const leftOut = petzka.runs.length - keptOf(petzka);
    expect(figures).toContain(
      `${petzka.runs.length} runs, ${leftOut} of them above a training loss of ${petzka.largest_loss}`,
    );
    // At the printed rate: what diverges, what stays where all classes are as likely, and what is left.
    const ends = printed.runs.map(({ training_loss }) => training_loss ?? Number.POSITIVE_INFINITY);
    const chance = ends.filter((loss) => Number.isFinite(loss) && Math.abs(loss - Math.log(10)) < 0.01).length;
    const learned = ends.filter((loss) => loss < 2.2);
    expect([ends.filter((loss) => loss === Number.POSITIVE_INFINITY).length, chance, learned.length]).toEqual([
      3, 6, 1,
    ]);
    const verdict = told("petzka-figures-3-to-6");
    expect(verdict).toContain("three of ten seeds diverge in the second epoch, six stay at chance");
    expect(verdict).toContain(`one comes to a loss of ${learned[0]?.toFixed(2)}`);
    const rescaling = told("petzka-figure-2-rescaling");
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
      told("jestadt-figures-4-1-4-2-4-4-4-5-4-10"),
      told("jestadt-figures-4-1-4-2-4-4-4-5-with-adam"),
    ];
    const onCifar = told("jestadt-figures-4-1-4-2-4-4-4-5-cifar-10");
    for (const method of ["SGD", "G-SGD", "Fixed SGD"]) {
      expect(sgd, method).toContain(lowestMean(spaces, method));
      expect(onCifar, method).toContain(lowestMean(cifarSpaces, method));
    }
    const ofCifar = told("petzka-figures-1-and-2");
    expect(ofCifar).toContain(`${cifarPetzka.runs.length} networks`);
    for (const measure of ["petzka.kappa_trace, layer 5", "petzka.kappa, layer 5"])
      expect(ofCifar, measure).toContain(found(cifarPetzka, measure)?.pearson.value.toFixed(2));
    for (const measure of ["hessian.max_eigenvalue", "hessian.trace"])
      expect(ofCifar, measure).toContain(moved(cifarPetzka, measure));
    const adamOnCifar = told("jestadt-figures-4-1-4-2-4-4-4-5-with-adam-cifar-10");
    for (const method of methodsOf(adam)) {
      expect(withAdam, method).toContain(lowestMean(adam, method));
      expect(adamOnCifar, method).toContain(lowestMean(cifarAdam, method));
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
    expect(piecesOf("**4.6, at 1e-5**, *so*")).toEqual([{ strong: "4.6, at 10⁻⁵" }, ", ", { stressed: "so" }]);
    expect(listOf("1. one\n2. two")).toEqual({ items: ["one", "two"], isNumbered: true });
    expect(listOf("- one\n- two - three")).toEqual({ items: ["one", "two - three"], isNumbered: false });
    expect(listOf("At 0.5. So\n1. one")).toBeNull();
  });
});

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
    const fixed = told("jestadt-figures-4-6-and-4-7");
    expect(row("jestadt-figures-4-6-and-4-7")?.verdict).toBe("agrees in part");
    const said = /is \S+ times as large \(\S+ to [\d.]+/.exec(rates?.here ?? "")?.[0] ?? "nothing";
    expect(fixed).toContain(said.replace("(", "(95 % interval "));
    for (const method of ["SGD", "Fixed SGD", "Fixed SGD, kept", "G-SGD", "G-SGD, kept"])
      expect(fixed, method).toContain(lowestMean(kept, method));
    for (const value of [0.1, 0.6, 1.7, 3])
      expect(fixed, String(value)).toContain(lowestMean(grid, `Fixed SGD at ${value}`));
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
