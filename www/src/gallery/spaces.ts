/** Jestädt's Figures 4.1 to 4.7 and 4.10, of the runs that are stored: losses by learning rate and by epoch. */

import { linear, log } from "../charts/scales";
import { type Mark, type XySeries, xyPlot } from "../charts/xy";
import { columnsOf } from "../figures/columns";
import { seriesKey } from "../figures/xy";
import { number } from "../format";
import { VALUES } from "../spaces/findings";
import { type Look, OF_CHOICES } from "../spaces/looks";
import { METHODS } from "../spaces/methods";
import { BLOWN_UP, GUESSING } from "../spaces/results";
import { type Chart, mean, suffixOf } from "./charts";
import type { Spaces } from "./results";

const MARKS: Mark[] = ["cross", "bar", "circle", "square", "diamond", "ring"];

const PLACES: [RegExp, string, Mark][] = [
  [/^G-/, "space-g_space", "diamond"],
  [/^Fixed/, "space-weight_fixing", "square"],
  [/^/, "space-weights", "circle"],
];

/** By value of the fixed weights, where a method's name says one: a colour and a mark each. */
const OF_VALUES = new Map(
  VALUES.map((value, index): [string, Look] => [
    String(value),
    { kind: `of-value-${index}`, dashed: false, mark: MARKS[index] ?? "circle" },
  ]),
);

/** By name, those whose network is rescaled. */
const RESCALED = new Map(
  Object.values(METHODS).flatMap((method): [string, Look][] =>
    "choice" in method ? [[method.name, OF_CHOICES[method.choice]]] : [],
  ),
);

/** What differs in something else, as its name says behind a comma, is dashed and hollow. */
export function lookOf(method: string): Look {
  const [, kind = "", mark] = PLACES.find(([name]) => name.test(method)) ?? [];
  const value = RESCALED.get(method) ?? OF_VALUES.get(method.split(" at ")[1] ?? "");
  if (value) return value;
  const isOther = method.includes(", ");
  return { kind: isOther ? `${kind} hollow` : kind, dashed: isOther, mark };
}

/** Where SGD and Adam are side by side: Adam is the dashed one of each place. */
export function lookBesideSgd(method: string): Look {
  const look = lookOf(method);
  return method.endsWith("Adam") ? { ...look, kind: `${look.kind} hollow`, dashed: true } : look;
}

export const methodsOf = ({ runs }: Spaces): string[] => [...new Set(runs.map(({ method }) => method))];
export const ratesOf = ({ runs }: Spaces): number[] =>
  [...new Set(runs.map(({ learning_rate }) => learning_rate))].sort((a, b) => b - a);

/** So many epochs apart are marks on a line; each method begins at another one. */
const MARKED = 4;

const finite = (loss: number | null | undefined): number =>
  loss !== null && loss !== undefined && loss <= BLOWN_UP ? loss : Number.POSITIVE_INFINITY;
const lowest = (losses: (number | null)[]): number => Math.min(...losses.map(finite));

const runsOf = ({ runs }: Spaces, method: string, rate: number): Spaces["runs"] =>
  runs.filter((run) => run.method === method && run.learning_rate === rate);

const setting = ({ network, data = "MNIST", training, test, epochs, batch_size, seeds }: Spaces): string =>
  `${network} without biases on ${data}, ${training} training and ${test} test images, ${epochs} epochs, batches of ${batch_size}, ${seeds} runs of each kind`;

const said = (loss: number): string => (Number.isFinite(loss) ? number(loss) : "diverged");

export function ratesChart(spaces: Spaces, figures = "Figures 4.1 and 4.4"): Chart {
  const [methods, rates] = [methodsOf(spaces), ratesOf(spaces)];
  const series = methods.map((method, index): XySeries => {
    const points = rates.map((rate) => {
      const losses = runsOf(spaces, method, rate).map(({ validation_loss }) => lowest(validation_loss));
      const y = mean(losses);
      const [low, high] = [Math.min(...losses), Math.max(...losses)];
      const title = `${method}, rate ${rate}: ${said(y)}${Number.isFinite(y) ? `, of the runs ${number(low)} to ${number(high)}` : ""}`;
      // What has diverged at the same rate would lie on each other.
      const aside = Number.isFinite(y) ? 1 : 10 ** ((index - (methods.length - 1) / 2) * 0.077);
      return { x: rate * aside, at: rate, y, title, ...(Number.isFinite(y) && { range: [low, high] as const }) };
    });
    return { name: method, ...lookOf(method), points };
  });
  const known = series.flatMap(({ points }) => points.flatMap(({ y, range }) => (range ? [y, ...range] : [])));
  return {
    name: `jestaedt-rates${suffixOf(spaces.data)}`,
    title: "Lowest validation loss by learning rate",
    caption: `${setting(spaces)}. Marks: the mean of the runs; bars: from the best to the worst (after Jestädt 2025, ${figures}).`,
    plot: xyPlot(series, {
      x: log((rates.at(-1) ?? 1e-5) * 0.6, (rates[0] ?? 0.1) * 2),
      y: log(Math.min(...known) * 0.85, Math.max(3, ...known) * 1.1),
      xLabel: "learning rate",
      yLabel: "validation loss",
      level: { y: GUESSING, name: "guessing" },
      lost: `diverged, or above ${BLOWN_UP}`,
      label: `Lowest validation loss by learning rate: ${series
        .map(({ name, points }) => `${name} ${points.map(({ y }) => said(y)).join(", ")}`)
        .join("; ")}`,
    }),
    keys: methods.map((method) => seriesKey(method, lookOf(method))),
    columns: () =>
      columnsOf(
        ["method", "learning_rate", "seed", "lowest_validation_loss"],
        spaces.runs.map((run) => [
          run.method,
          run.learning_rate,
          run.seed,
          Math.min(...run.validation_loss.map((loss) => loss ?? Number.POSITIVE_INFINITY)),
        ]),
      ),
  };
}

/** Figures 4.6 and 4.7, and the latter as the author's published program computes it, which sets fixed weights to 1 whatever is asked for. */
export function fixedCharts(kept: Spaces[], grids: Spaces[], ignored: Spaces[]): Chart[] {
  const charts = (all: Spaces[], figure: string, name: string, title: string) =>
    all.map((one) => ({
      ...ratesChart(one, figure),
      name: `jestaedt-${name}${suffixOf(one.data)}`,
      title: `${title}, ${one.data ?? "MNIST"}: lowest validation loss`,
    }));
  return [
    ...charts(kept, "Figure 4.6", "kept", "Set to 1, or kept"),
    ...charts(grids, "Figure 4.7", "grid", "By fixed value"),
    ...charts(ignored, "Figure 4.7", "grid-ignored", "By fixed value, which the published program ignores"),
  ];
}

/** Section 4.2.2. */
export const rescaledChart = (rescaled: Spaces): Chart => ({
  ...ratesChart(rescaled, "section 4.2.2"),
  name: "jestaedt-rescaled",
  title: "Rescaled to fixed weights of ±1: lowest validation loss",
});

/** Figure 4.3. */
export const lowHighCharts = (spaces: Spaces): Chart[] =>
  ratesOf(spaces).map((rate, index) => ({
    ...epochsChart(spaces, rate, lookBesideSgd),
    name: `jestaedt-${index === 0 ? "high" : "low"}${suffixOf(spaces.data)}`,
    title: `${index === 0 ? "High" : "Low"}, ${spaces.data ?? "MNIST"}: validation loss by epoch at rate ${rate}`,
  }));

export function epochsChart(spaces: Spaces, rate: number, look = lookOf): Chart {
  const methods = methodsOf(spaces);
  const epochs = Array.from({ length: spaces.epochs }, (_, index) => index);
  const lines = methods.map((method): XySeries => {
    const own = runsOf(spaces, method, rate);
    const points = epochs.map((epoch) => {
      const y = mean(own.map(({ validation_loss }) => finite(validation_loss[epoch])));
      return { x: epoch + 1, y, title: `${method}, epoch ${epoch + 1}: ${said(y)}` };
    });
    return { name: method, ...look(method), mark: undefined, points };
  });
  // A line with a mark at every epoch would be all marks. Of what diverged its last place is enough.
  const marks = lines.map(({ points, ...line }, index): XySeries => {
    const lost = points.filter(({ y }) => !Number.isFinite(y)).slice(-1);
    const few = points.filter(({ x, y }) => Number.isFinite(y) && (x - 1) % MARKED === index % MARKED);
    return { ...line, ...look(line.name), line: false, points: [...few, ...lost] };
  });
  const known = lines.flatMap(({ points }) => points.flatMap(({ y }) => (Number.isFinite(y) ? y : [])));
  return {
    name: `jestaedt-epochs${suffixOf(spaces.data)}`,
    title: `Validation loss by epoch, all at rate ${rate}`,
    caption: `${setting(spaces)}. Means of the runs; what diverged, or is above ${BLOWN_UP}, is at the top.`,
    plot: xyPlot([...lines, ...marks], {
      x: linear(0.5, spaces.epochs + 0.5),
      y: log(Math.min(1, ...known) * 0.85, Math.max(3, ...known) * 1.1),
      xLabel: "epoch",
      yLabel: "validation loss",
      level: { y: GUESSING, name: "guessing" },
      lost: `diverged, or above ${BLOWN_UP}`,
      label: `Validation loss by epoch at rate ${rate}: ${lines
        .map(({ name, points }) => `${name} ends at ${said(points.at(-1)?.y ?? Number.NaN)}`)
        .join("; ")}`,
    }),
    keys: methods.map((method) => seriesKey(method, look(method))),
    columns: () =>
      columnsOf(
        ["method", "learning_rate", "seed", "epoch", "validation_loss", "training_loss"],
        spaces.runs
          .filter((run) => run.learning_rate === rate)
          .flatMap((run) =>
            run.validation_loss.map((loss, index) => [
              run.method,
              rate,
              run.seed,
              index + 1,
              loss ?? Number.POSITIVE_INFINITY,
              run.training_loss[index],
            ]),
          ),
      ),
  };
}
