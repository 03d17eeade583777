/** Rangamani's Figure 1: the power method by iteration. */

import { log } from "../charts/scales";
import { type XySeries, xyPlot } from "../charts/xy";
import { columnsOf } from "../figures/columns";
import { seriesKey } from "../figures/xy";
import { number } from "../format";
import type { Chart } from "./charts";
import type { Power } from "./results";

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
      y: log(Math.min(...drawn.map(({ y }) => y)) / 2, Math.max(...drawn.map(({ y }) => y)) * 2),
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
