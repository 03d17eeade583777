/** Rangamani's Figures 1 and 2: the power method by iteration, and lines through minima of small and of large batches. */

import { linear, log, type Scale } from "../charts/scales";
import { type XySeries, xyPlot } from "../charts/xy";
import { columnsOf } from "../figures/columns";
import { seriesKey } from "../figures/xy";
import { number } from "../format";
import type { TableFound } from "../worker/protocol";
import type { Chart } from "./charts";
import type { Lengths, Lines, Power } from "./results";

/** Whole powers of ten around these. */
const decades = (values: number[]): Scale =>
  log(10 ** Math.floor(Math.log10(Math.min(...values))), 10 ** Math.ceil(Math.log10(Math.max(...values))));

/** What is drawn of every step. */
const OF_STEPS = {
  distances: { name: "distance of ‖A u‖ / λ from 1", title: "How far the estimate is from where it arrives" },
  residuals: { name: "residual / λ", title: "How far the vector is from being an eigenvector" },
} as const;

export function powerChart({ runs, network, samples, tolerance }: Power, what: keyof typeof OF_STEPS): Chart {
  const { name, title } = OF_STEPS[what];
  const shares = runs.map((run) =>
    run[what].map((value) => (what === "distances" ? value : value / run.lanczos.value)),
  );
  // An estimate that is there to the last bit has no place on the scale.
  const series = shares.map((values, index): XySeries => {
    const points = values.flatMap((y, step) => (y > 0 ? { x: step + 1, y } : []));
    return { name: `seed ${runs[index]?.seed}`, kind: "of-f64", points };
  });
  const drawn = series.flatMap(({ points }) => points);
  const settled = runs.filter(({ converged }) => converged).length;
  return {
    name: `rangamani-power-${what}`,
    title,
    caption:
      `Rangamani et al. 2019, Figure 1: Algorithm 1 on ${network} and ${samples} random samples, a line a seed; λ is the largest eigenvalue by Lanczos. ` +
      `${settled} of ${runs.length} settle: the vector turns by less than ${number(tolerance)}.`,
    plot: xyPlot(series, {
      x: log(1, Math.max(...drawn.map(({ x }) => x)) * 1.1),
      y: decades(drawn.map(({ y }) => y)),
      xLabel: "iteration",
      yLabel: name,
      label: `${title}, by iteration: ${runs.map(({ seed, norms }) => `seed ${seed} after ${norms.length} steps`).join(", ")}`,
    }),
    keys: [seriesKey("a seed", { kind: "of-f64" })],
    columns: () =>
      columnsOf(
        ["seed", "iteration", "norm", "distance", "residual", "eigenvalue"],
        runs.flatMap(({ seed, norms, distances, residuals, lanczos }) =>
          norms.map((norm, step) => [seed, step + 1, norm, distances[step], residuals[step], lanczos.value]),
        ),
      ),
  };
}

/** Figure 1 of the first network that Table 2 is of, as the lab has just run it; null while it has not. */
export function historyChart({ seeds, power }: TableFound): Chart | null {
  if (!power) return null;
  const { norms, settled } = power;
  const { seed, before: value = Number.NaN } = seeds[0] ?? {};
  const distances = norms.map((norm) => Math.abs(norm / value - 1));
  const points = distances.flatMap((y, step) => (y > 0 ? { x: step + 1, y } : []));
  const { name: yLabel, title } = OF_STEPS.distances;
  const said = `${norms.length} steps, after which the vector has ${settled ? "" : "not "}settled`;
  return {
    name: "rangamani-figure-1",
    title,
    caption: `Rangamani et al. 2019, Figure 1: Algorithm 1 on 784-300-100-10 and 500 random samples with random labels, seed ${seed}, ${said}; λ is the largest eigenvalue by Lanczos, ${number(value, 7)}.`,
    plot: xyPlot([{ name: "Algorithm 1", kind: "of-f64", points }], {
      x: log(1, norms.length * 1.1),
      y: decades(points.map(({ y }) => y)),
      xLabel: "iteration",
      yLabel,
      label: `${title}: ${said}`,
    }),
    keys: [seriesKey("Algorithm 1", { kind: "of-f64" })],
    columns: () =>
      columnsOf(
        ["iteration", "norm", "distance"],
        norms.map((norm, step) => [step + 1, norm, distances[step] ?? Number.NaN]),
      ),
  };
}

const KINDS = { small: "of-f64", large: "of-f32" } as const;
const OF_LENGTHS: Record<Lengths, string> = { layer: "the lengths of layers", filter: "the lengths of rows" };

export const seedsOf = ({ runs }: Lines): number[] => [...new Set(runs.map(({ seed }) => seed))];

export function linesChart(lines: Lines, lengths: Lengths, seed: number): Chart {
  const { network, training, drawn, directions } = lines;
  const own = lines.runs.filter((run) => run.seed === seed);
  const series = own.flatMap((run): XySeries[] =>
    run[lengths].map((losses, direction) => ({
      name: `batches of ${run.batch}, direction ${direction + 1}`,
      kind: KINDS[run.batches],
      points: losses.map((loss, index) => ({ x: run.t[index] ?? 0, y: loss ?? Number.POSITIVE_INFINITY })),
    })),
  );
  // One scale for all seeds, so that they can be held against each other.
  const losses = lines.runs
    .flatMap((run) => run[lengths].flat())
    .filter((loss) => loss !== null && loss > 0) as number[];
  return {
    name: `rangamani-lines-${lengths}`,
    title: `Loss along random lines at ${OF_LENGTHS[lengths]}`,
    caption:
      `After Rangamani et al. 2019, Figure 2: ${network} on MNIST, ${training} images, the loss of ${drawn} of them, along ${directions} random directions ` +
      `at ${OF_LENGTHS[lengths]} through minima of small and of large batches, seed ${seed}.`,
    plot: xyPlot(series, {
      x: linear(-1, 1),
      y: decades(losses),
      xLabel: "t",
      yLabel: "training loss",
      label: `Loss along lines at ${OF_LENGTHS[lengths]}, seed ${seed}: ${own
        .map((run) => `batches of ${run.batch}, on test images ${number(100 * run.test_accuracy, 4)} % right`)
        .join("; ")}`,
    }),
    keys: own.map(({ batches, batch }) => seriesKey(`batches of ${batch}`, { kind: KINDS[batches] })),
    columns: () =>
      columnsOf(
        ["batch", "seed", "direction", "t", "loss"],
        own.flatMap((run) =>
          run[lengths].flatMap((line, direction) =>
            line.map((loss, index) => [run.batch, run.seed, direction + 1, run.t[index], loss]),
          ),
        ),
      ),
  };
}
