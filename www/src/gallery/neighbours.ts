/** Petzka et al., appendix D.2: the feature robustness and its bound by the distance of two samples. */

import { curve, dots, type PlotOptions } from "../charts/plot";
import { log } from "../charts/scales";
import { svg } from "../dom";
import type { Figure } from "../figures/figure";
import { lineKey, plotted } from "../figures/plots";
import { number, round } from "../format";
import type { NeighboursFound } from "../worker/protocol";

export const DELTA = 0.01;
const A_DECADE = 10;
/** Powers of ten, and what the slider stands at: 0.01, as docs/papers has it. */
export const SLIDER = { low: -3, high: -0.3, step: 1 / A_DECADE, first: -2 };
export const EPSILONS = Array.from(
  { length: Math.round((SLIDER.high - SLIDER.low) * A_DECADE) + 1 },
  (_, index) => 10 ** (SLIDER.low + index / A_DECADE),
);
/** Which of them the slider means. */
export const indexOf = (decades: number): number =>
  Math.min(Math.max(Math.round((decades - SLIDER.low) * A_DECADE), 0), EPSILONS.length - 1);

/** By how much the bound is above what it bounds. */
export const ratioOf = ({ bound, value }: NeighboursFound): number => bound / value;

export function neighboursPlot(found: NeighboursFound[], at: NeighboursFound): PlotOptions {
  const epsilons = found.map(({ epsilon }) => epsilon);
  const [values, bounds] = [found.map(({ value }) => value), found.map(({ bound }) => bound)];
  return {
    x: log(Math.min(...epsilons), Math.max(...epsilons)),
    y: log(Math.min(...values) / 3, Math.max(...bounds) * 3),
    xLabel: "ε",
    yLabel: "rise of the loss",
    label: `At ε = ${round(at.epsilon, 2)} the feature robustness is ${number(at.value)} and its bound ${number(at.bound)}; the smaller ε, the further they part`,
    marks: (frame) => [
      svg("line", { class: "here", x1: frame.x(at.epsilon), x2: frame.x(at.epsilon), y1: frame.top, y2: frame.bottom }),
      curve(frame, epsilons, values, "trained"),
      curve(frame, epsilons, bounds, "bent"),
      dots(frame, [at.epsilon], [at.value], "trained", 4),
      dots(frame, [at.epsilon], [at.bound], "bent", 4),
    ],
  };
}

export const neighboursFigure = (found: NeighboursFound[], at: NeighboursFound): Figure => ({
  name: "petzka-appendix-d-2",
  title: "Feature robustness, and the bound that says nothing",
  caption: `Petzka et al. 2019, appendix D.2: a linear layer with the weights (1, 1) at samples (1, 0) and (1, ε), of which a matrix A moves the one along itself and the other across, δ = ${DELTA}. The bound is (δ²/2) ‖A‖² κ; the line is at ε = ${round(at.epsilon, 2)}.`,
  columns: () => [
    { name: "epsilon", values: found.map(({ epsilon }) => epsilon) },
    { name: "robustness", values: found.map(({ value }) => value) },
    { name: "bound", values: found.map(({ bound }) => bound) },
    { name: "matrix_norm", values: found.map(({ matrixNorm }) => matrixNorm) },
    { name: "kappa", values: found.map(({ kappa }) => kappa) },
  ],
  drawing: plotted(neighboursPlot(found, at), [
    lineKey("feature robustness", "trained", "dots"),
    lineKey("its bound", "bent", "dots"),
  ]),
});
