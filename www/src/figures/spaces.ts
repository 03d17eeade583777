/** The tables of the part on parameter spaces as figures: their numbers in full. */

import type { CurvatureRow } from "../spaces/app";
import { isSame, METHODS, PLACES, RESCALED, type Run } from "../spaces/methods";
import type { Dimensions } from "../spaces/skeleton";
import type { Rescaling } from "../worker/spaces-protocol";
import { columnsOf } from "./columns";
import type { Figure } from "./figure";

export const dimensionsFigure = (networks: readonly Dimensions[]): Figure => ({
  name: "spaces-dimensions",
  title: "One coordinate less for each hidden unit",
  caption: "Both of the thesis’ spaces have as many coordinates as the network has weights, less its hidden units.",
  columns: () =>
    columnsOf(
      ["network", "weights", "hidden_units", "dimension"],
      networks.map(({ name, weights, hidden }) => [name, weights, hidden, weights - hidden]),
    ),
});

/** Nothing before it was computed. */
export function rescalingFigure(rescaling: Rescaling | null): Figure | null {
  if (!rescaling) return null;
  const { rows, summary, steps, learningRate } = rescaling;
  return {
    name: "spaces-rescaling",
    title: "Training from two starting points that are the same function",
    caption: `${summary} without biases, ${steps} steps at rate ${learningRate} in f64; differences relative to the largest.`,
    columns: () =>
      columnsOf(
        ["method", "path_values_moved", "loss", "loss_rescaled", "path_values_difference", "is_same_function"],
        rows.map((row) => {
          const { space, losses, difference, moved } = row;
          return [RESCALED[space] ?? space, moved, losses[0], losses[1], difference, isSame(row)];
        }),
      ),
  };
}

export function curvatureFigure(curvature: { run: Run; rows: CurvatureRow[] } | null): Figure | null {
  if (!curvature || curvature.rows.length === 0) return null;
  const { run, rows } = curvature;
  return {
    name: "spaces-curvature",
    title: "The Hessian’s largest eigenvalue in three spaces",
    caption: `At the end of ${METHODS[run.method].name} at rate ${run.rate}, over 500 images; rescaled: every hidden unit by up to × 3.`,
    columns: () =>
      columnsOf(
        ["space", "rescaled", "largest_eigenvalue", "residual", "converged", "products"],
        rows.map(({ place, rescaled, value: { value, residual, converged, products } }) => [
          PLACES[place],
          rescaled,
          value,
          residual,
          converged,
          products,
        ]),
      ),
  };
}
