/** The stage's two pictures, and the line below them, to be taken along as they stand. */

import type { App } from "../app";
import type { TrainingChart } from "../charts/training";
import type { Figure } from "../figures/figure";
import { contourFigure, lineFigure, surfaceFigure } from "../figures/landscape";
import { trainingFigure } from "../figures/training";
import type { Point } from "../worker/protocol";
import type { LookView } from "./look";
import { takeAlong } from "./take-along";

const legendOf = (chart: HTMLElement): HTMLElement | null =>
  chart.nextElementSibling instanceof HTMLElement ? chart.nextElementSibling : null;

const POINTS: Point[] = ["trained", "bent"];

export function landscapeFigures(app: App, look: LookView): void {
  for (const point of POINTS) {
    takeAlong(look.box.querySelector<HTMLElement>(`[data-point=${point}] figcaption`), () =>
      figureOf(app, look, point),
    );
  }
  takeAlong(legendOf(look.cut), () => lineFigure(app.store.state, "log"));
}

function figureOf({ store: { state } }: App, look: LookView, point: Point): Figure | null {
  const { view, surfaces, heights, orbit, height } = look.shown;
  if (view === "line") return lineFigure(state, height);
  const landscape = surfaces[point];
  if (!landscape) return null;
  return view === "contour"
    ? contourFigure(state, point, landscape, heights)
    : surfaceFigure(state, point, landscape, heights, orbit);
}

export function trainingFigures(app: App, chart: TrainingChart): void {
  takeAlong(legendOf(chart.box), () => trainingFigure(app.store.state, chart.learning));
}
