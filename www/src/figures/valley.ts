/** Dinh's Theorem 4 as a figure: the valley along one line, and how the rescaling narrows it. */

import { alphaFor } from "../bends";
import { valleyPlot } from "../charts/valley";
import { number } from "../format";
import { found, type State } from "../store";
import { captionOf, joined } from "./caption";
import type { Figure } from "./figure";
import { lineKey, plotted } from "./plots";

export function valleyFigure(state: State): Figure | null {
  const { valley: finding, sharpened, decades, powersOfTwo } = state.dinh;
  const valley = found(finding);
  if (!valley) return null;
  const measured = found(sharpened);
  const alpha = measured?.alpha ?? alphaFor(valley, decades, powersOfTwo);
  const { line } = valley;
  const there = measured?.line;
  return {
    name: "sharpened-valley",
    title: "The same valley, narrower (Dinh et al. 2017, Theorem 4)",
    caption: joined(
      captionOf(state),
      `along the steepest direction of layer ${valley.layer + 1}, which is multiplied by α = ${number(alpha)}`,
      there && "diamonds: measured at the sharpened weights",
    ),
    columns: () => [
      { name: "s_trained", values: line.s },
      { name: "s_sharpened_predicted", values: line.s.map((s) => s * alpha) },
      { name: "loss", values: line.loss },
      ...(there
        ? [
            { name: "s_sharpened_measured", values: there.s },
            { name: "loss_sharpened_measured", values: there.loss },
          ]
        : []),
    ],
    drawing: plotted(valleyPlot(valley, alpha, there ?? null), [
      lineKey("as trained", "trained"),
      lineKey("sharpened, predicted", "bent"),
      ...(there ? [lineKey("measured there", "bent", "dots alone")] : []),
    ]),
  };
}
