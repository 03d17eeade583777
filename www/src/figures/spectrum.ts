/** An operator's spectrum as figures: its ends, its density at either point, and the density's moments. */

import type { EigenResult, SpectralDensity } from "isoflat";
import { densityPlot, endsPlot, type Of } from "../charts/spectrum";
import { integer, number } from "../format";
import type { State } from "../store";
import type { Point } from "../worker/protocol";
import { bentBy, captionOf, joined } from "./caption";
import { type Column, columnsOf } from "./columns";
import type { Figure } from "./figure";
import { lineKey, POINT_NAMES, plotted } from "./plots";

const present = <T>(values: Partial<Record<Point, T>>): Of<T>[] =>
  (["trained", "bent"] as const).flatMap((point) => {
    const value = values[point];
    return value === undefined ? [] : [{ point, value }];
  });

/** Of what: `the Hessian, on layer 2`. */
function operatorOf({ spectrumChoice: { operator, part }, operators }: State): string {
  const title = operators.find(({ name }) => name === operator)?.title ?? operator;
  const parts: Record<string, string> = { all: "", weights: ", on the weights without biases" };
  return `${title}${parts[part] ?? `, on ${part.replace("_", " ")}`}`;
}

const about = (state: State, isBent: boolean): (string | false)[] => [
  captionOf(state),
  `operator: ${operatorOf(state)}`,
  isBent && bentBy(state.bend),
];

/** The lab asks for the smallest of every operator that may have negative ones (worker/curvature.ts). */
export const isSemidefinite = (spectra: State["spectra"]): boolean =>
  present(spectra).every(({ value }) => value.bottom.length === 0);

export function endsFigure(state: State): Figure | null {
  const there = present(state.spectra);
  if (there.length === 0) return null;
  const trust = there.map(({ point, value }) => `${POINT_NAMES[point]} ${trusted(value)}`);
  return {
    name: "spectrum-ends",
    title: `Ends of the spectrum: ${operatorOf(state)}`,
    caption: joined(...about(state, there.length > 1), "bars: ± residual", ...trust),
    columns: () => endsColumns(there),
    drawing: plotted(
      endsPlot(there, isSemidefinite(state.spectra)),
      there.map(({ point }) => lineKey(POINT_NAMES[point], point, "dots alone")),
    ),
  };
}

function trusted({ converged, verified, products }: EigenResult): string {
  const missing = verified === undefined ? "" : verified ? ", verified" : ", not verified";
  return `${integer(products)} products, ${converged ? "all converged" : "not all converged"}${missing}`;
}

export function endsColumns(there: Of<EigenResult>[]): Column[] {
  const rows = there.flatMap(({ point, value }) =>
    (["top", "bottom"] as const).flatMap((end) =>
      value[end].map((pair, index) => [
        point,
        end === "top" ? "largest" : "smallest",
        index + 1,
        pair.value,
        pair.residual,
        pair.converged,
      ]),
    ),
  );
  return columnsOf(["point", "end", "rank", "eigenvalue", "residual", "converged"], rows);
}

/** On the axis that it is shown on. */
export function densityFigure(state: State, point: Point, range: [number, number]): Figure | null {
  const value = state.densities[point];
  if (!value) return null;
  const { probes, steps, dimension } = value;
  return {
    name: `density-${point}`,
    title: `Density of the spectrum, ${POINT_NAMES[point]}: ${operatorOf(state)}`,
    caption: joined(
      ...about(state, point === "bent"),
      `${integer(dimension)} eigenvalues, by ${integer(probes)} probes of ${integer(steps)} Lanczos steps, broadened by ${number(value.width)}`,
      "band: ± 2 standard errors",
    ),
    columns: () => densityColumns(value),
    drawing: plotted(densityPlot(value, point, range)),
  };
}

export const densityColumns = ({ grid, density, densityError }: SpectralDensity): Column[] => [
  { name: "lambda", values: grid },
  { name: "density", values: density },
  { name: "density_standard_error", values: densityError },
];

export function momentsFigure(state: State): Figure | null {
  const there = present(state.densities);
  if (there.length === 0) return null;
  return {
    name: "moments",
    title: `Moments of the spectrum: ${operatorOf(state)}`,
    caption: joined(...about(state, there.length > 1)),
    columns: () =>
      columnsOf(
        ["point", "order", "mean_of_lambda_to_the_order", "standard_error", "probes", "steps"],
        there.flatMap(({ point, value: { moments, probes, steps } }) =>
          moments.map(({ order, value, standardError }) => [point, order, value, standardError, probes, steps]),
        ),
      ),
  };
}
