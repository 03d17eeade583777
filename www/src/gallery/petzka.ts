/** Petzka's Figures 3 to 6 and the rescaling of Figure 2, on the same networks: measures against the gap, and how well each goes with it. */

import { type NamedRow, type RowsOptions, rowsPlot } from "../charts/rows";
import { linear, log, type Scale } from "../charts/scales";
import { type Mark, type XySeries, xyPlot } from "../charts/xy";
import { columnsOf } from "../figures/columns";
import { number } from "../format";
import { type Chart, markKey, suffixOf } from "./charts";
import type { Correlation, Petzka } from "./results";

/** Measures by their keys, as the engine calls them for people. */
export type Titles = ReadonlyMap<string, string>;

const LAYER = /^petzka\.(\w+), layer (\d+)$/;
const OF_LAYERS: Record<string, string> = {
  kappa: "κ",
  kappa_trace: "κ_τ",
  relative_flatness: "relative flatness",
  rho_max_per_layer: "largest ρ",
  rho_sum_per_layer: "ρ_σ",
};
/** What the paper's figures have: three measures of every layer, and the network's four. */
const FIGURED =
  /^petzka\.(kappa_trace|rho_sum_per_layer|rho_max_per_layer), layer|^petzka\.(kappa_trace|rho)_(max|sum)$/;
/** What the paper says of κ_τ of every layer. */
const CLAIMED = 0.7;
const MARKS: Mark[] = ["circle", "diamond", "square", "cross"];

export function titleOf(measure: string, titles: Titles): string {
  const [, family = "", layer = ""] = LAYER.exec(measure) ?? [];
  return family ? `${OF_LAYERS[family] ?? family}, layer ${layer}` : (titles.get(measure) ?? measure);
}

type Run = Petzka["runs"][number];

function measuredAt(run: Run, measure: string, isRescaled: boolean): number {
  const { measures = {}, layers = {} } = (isRescaled ? run.rescaled : run.at) ?? {};
  const [, family = "", layer = ""] = LAYER.exec(measure) ?? [];
  return (family ? layers[family]?.[Number(layer) - 1] : measures[measure]) ?? Number.NaN;
}

const gapOf = (run: Run): number => run.test_loss - run.training_loss;
const keptOf = ({ runs, largest_loss }: Petzka): Run[] => runs.filter((run) => run.training_loss <= largest_loss);

function setting({ network, data = "MNIST", training, epochs, largest_loss, runs }: Petzka): string {
  const kept = runs.filter((run) => run.training_loss <= largest_loss).length;
  return `${network} on ${data}, ${training} images, ${epochs} epochs of SGD${data === "MNIST" ? "" : " at most"}; ${kept} of ${runs.length} runs, those with a training loss of at most ${largest_loss}`;
}

/** With a little room at both ends; of many sizes by powers of ten. */
function scaleOf(values: number[]): Scale {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (low > 0 && high / low > 30) return log(low / 1.3, high * 1.3);
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return linear(low - room, high + room);
}

export function scatterChart(petzka: Petzka, measure: string, isRescaled: boolean, titles: Titles): Chart {
  const kept = keptOf(petzka);
  const batches = [...new Set(kept.map(({ batch }) => batch))].sort((a, b) => a - b);
  const look = (batch: number): { kind: string; mark: Mark } => {
    const index = batches.indexOf(batch) % MARKS.length;
    return { kind: `of-batch-${index}`, mark: MARKS[index] ?? "circle" };
  };
  const title = titleOf(measure, titles);
  const series = batches.map((batch): XySeries => {
    const own = kept.filter((run) => run.batch === batch);
    const points = own.map((run) => {
      const [x, y] = [measuredAt(run, measure, isRescaled), gapOf(run)];
      const begun = run.initialization ? `${run.initialization.replace("_", " ")}, ` : "";
      return { x, y, title: `${begun}batches of ${batch}, seed ${run.seed}: ${number(x)}, gap ${number(y)}` };
    });
    return { name: `batches of ${batch}`, ...look(batch), line: false, points };
  });
  const said = saidOf(petzka, measure, isRescaled);
  const options = {
    x: scaleOf(kept.map((run) => measuredAt(run, measure, isRescaled))),
    y: scaleOf(kept.map(gapOf)),
    xLabel: isRescaled ? `${title}, after the rescaling` : title,
    yLabel: "test loss − training loss",
    label: `${title}${isRescaled ? " after the rescaling" : ""} against the generalisation gap, ${kept.length} runs: ${said}`,
  };
  return {
    name: `petzka-gap${isRescaled ? "-rescaled" : ""}${suffixOf(petzka.data)}`,
    title: `${title}${isRescaled ? ", after a rescaling that changes no function," : ""} against the generalisation gap`,
    caption: `${setting(petzka)}; ${said}.`,
    plot: xyPlot(series, options),
    keys: batches.map((batch) => markKey(`batches of ${batch}`, look(batch).kind, look(batch).mark)),
    columns: () =>
      columnsOf(
        [
          ...["initialization", "batch", "seed", "learning_rate", "training_loss", "test_loss"],
          ...["measure", "value", "value_rescaled"],
        ],
        kept.map((run) => [
          run.initialization ?? "xavier_normal",
          run.batch,
          run.seed,
          run.learning_rate,
          run.training_loss,
          run.test_loss,
          measure,
          measuredAt(run, measure, false),
          measuredAt(run, measure, true),
        ]),
      ),
  };
}

/** How well it goes with the gap, in numbers. */
export function saidOf({ correlations }: Petzka, measure: string, isRescaled: boolean): string {
  const found = correlations.find((row) => row.measure === measure);
  if (!found) return "no correlation is stored";
  const { pearson, kendall } = isRescaled ? found.rescaled : found;
  const interval = ({ value, low, high }: typeof pearson): string =>
    `${number(value, 2)} (${number(low, 2)} to ${number(high, 2)})`;
  return `r = ${interval(pearson)}, Kendall’s τ = ${interval(kendall)}`;
}

/** All that a scatter can show, those first that go best with the gap. */
export const choices = ({ correlations }: Petzka, titles: Titles): { measure: string; title: string }[] =>
  correlations.map(({ measure }) => ({ measure, title: titleOf(measure, titles) }));

const wideAndNarrow = (rows: NamedRow[], options: RowsOptions): Pick<Chart, "plot" | "narrow"> => ({
  plot: rowsPlot(rows, options),
  narrow: rowsPlot(rows, { ...options, isNarrow: true }),
});

const UNIT = (): Scale => linear(-1, 1, 4);

/** The correlations of the paper's figures, beside the 0.7 that it has for κ_τ of each layer. */
export function figuredChart(petzka: Petzka, titles: Titles): Chart {
  const order = ["kappa_trace,", "rho_sum_per", "rho_max_per", "kappa_trace_", "rho_"];
  const rank = ({ measure }: Correlation): number => order.findIndex((start) => measure.startsWith(`petzka.${start}`));
  const own = petzka.correlations
    .filter(({ measure }) => FIGURED.test(measure))
    .sort((a, b) => rank(a) - rank(b) || a.measure.localeCompare(b.measure));
  const rows = own.map(({ measure, pearson: { value, low, high } }): NamedRow => {
    const name = titleOf(measure, titles);
    const title = `${name}: r = ${number(value, 2)}, from ${number(low, 2)} to ${number(high, 2)}`;
    return {
      name,
      kind: "of-f64",
      interval: [low, high],
      marks: [{ at: value, mark: "circle", kind: "of-f64", title }],
    };
  });
  return {
    name: `petzka-correlations${suffixOf(petzka.data)}`,
    title: "Correlation with the generalisation gap, of each layer and of the network",
    caption: `${setting(petzka)}. Pearson’s r with its 95 % interval; the line is what the paper has for κ_τ of each layer, at least.`,
    ...wideAndNarrow(rows, {
      x: UNIT(),
      xLabel: "correlation with the gap",
      label: `Pearson’s r with the gap: ${own.map(({ measure, pearson }) => `${titleOf(measure, titles)} ${number(pearson.value, 2)}`).join(", ")}`,
      level: { at: CLAIMED, kind: "of-paper" },
    }),
    keys: [
      markKey("Pearson’s r, with its interval", "of-f64", "circle"),
      markKey(`the paper’s ${CLAIMED}, for κ_τ of each layer`, "of-paper", "bar"),
    ],
    columns: () => columnsOfCorrelations(own, titles),
    rows: rows.length,
  };
}

/** All measures of the network, before and after the rescaling. */
export function rankingChart(petzka: Petzka, titles: Titles): Chart {
  const own = petzka.correlations.filter(({ measure }) => !LAYER.test(measure));
  const rows = own.map(({ measure, kendall: { value, low, high }, rescaled }): NamedRow => {
    const name = titleOf(measure, titles);
    const after = rescaled.kendall.value;
    const title = `${name}: τ = ${number(value, 2)}, after the rescaling ${number(after, 2)}`;
    return {
      name,
      kind: "of-f64",
      interval: [low, high],
      marks: [
        { at: value, mark: "circle", kind: "of-f64", title },
        { at: after, mark: "ring", kind: "of-f32", title },
      ],
    };
  });
  return {
    name: `petzka-ranking${suffixOf(petzka.data)}`,
    title: "How each measure goes with the generalisation gap, before and after a rescaling",
    caption: `${setting(petzka)}. Kendall’s τ with the gap and its 95 % interval; rings: after random factors of the layers that change no function.`,
    ...wideAndNarrow(rows, {
      x: UNIT(),
      xLabel: "Kendall’s τ with the gap",
      label: `Kendall’s τ with the gap, and after the rescaling: ${own
        .map(
          ({ measure, kendall, rescaled }) =>
            `${titleOf(measure, titles)} ${number(kendall.value, 2)}, ${number(rescaled.kendall.value, 2)}`,
        )
        .join("; ")}`,
    }),
    keys: [
      markKey("as trained, with its interval", "of-f64", "circle"),
      markKey("after the rescaling", "of-f32", "ring"),
    ],
    columns: () => columnsOfCorrelations(own, titles),
    rows: rows.length,
  };
}

const columnsOfCorrelations = (own: Correlation[], titles: Titles) =>
  columnsOf(
    [
      ...["measure", "title", "pearson", "pearson_low", "pearson_high", "kendall", "kendall_low", "kendall_high"],
      ...["pearson_rescaled", "kendall_rescaled"],
    ],
    own.map(({ measure, pearson, kendall, rescaled }) => [
      measure,
      titleOf(measure, titles),
      ...[pearson, kendall].flatMap(({ value, low, high }) => [value, low, high]),
      rescaled.pearson.value,
      rescaled.kendall.value,
    ]),
  );
