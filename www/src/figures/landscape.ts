/** The loss around a point as figures: surface, contour map, line. */

import type { Landscape } from "isoflat";
import { axesOf, drawnAxes } from "../charts/axes";
import { contourDrawing, contourMarks } from "../charts/contour";
import { type HeightKind, type Heights, isWhole, lowest, rowsOf } from "../charts/heights";
import { linePlot } from "../charts/line";
import { ramp } from "../charts/palette";
import { FIRST_ORBIT, type Orbit } from "../charts/relief";
import { reliefDrawing } from "../charts/relief-drawing";
import { wayWords } from "../charts/way";
import { svg } from "../dom";
import { number } from "../format";
import type { State } from "../store";
import type { Point } from "../worker/protocol";
import { bentBy, captionOf, directionsOf, joined } from "./caption";
import type { Column } from "./columns";
import type { Figure } from "./figure";
import { lineKey, POINT_NAMES, plotted } from "./plots";

const SURFACE = { width: 640, height: 480 };
const CONTOUR = 520;

export function surfaceFigure(
  state: State,
  point: Point,
  landscape: Landscape,
  heights: Heights,
  orbit: Orbit = FIRST_ORBIT,
): Figure {
  const ring = isWhole(landscape) ? `, ring: the lowest of ${known(landscape)} points` : "";
  const marks = `lines: equal loss, pin: the weights${ring}`;
  return {
    name: `surface-${point}`,
    title: `Loss surface, ${POINT_NAMES[point]}`,
    caption: joined(
      about(state, point, landscape),
      ranged(landscape, heights.kind),
      marks,
      wayWords(landscape, state.landscapeChoice.directions),
    ),
    columns: () => surfaceColumns(landscape),
    drawing: {
      ...SURFACE,
      draw: (width, height) => {
        const drawing = reliefDrawing(landscape, heights, orbit, width, height, ramp("light"));
        const numbers = drawnAxes(axesOf(landscape, heights, orbit, width, height));
        drawing.append(svg("g", { class: "surface-axes" }, ...numbers));
        return drawing;
      },
    },
  };
}

export function contourFigure(state: State, point: Point, landscape: Landscape, heights: Heights): Figure {
  return {
    name: `contour-${point}`,
    title: `Contour map of the loss, ${POINT_NAMES[point]}`,
    caption: joined(
      about(state, point, landscape),
      ranged(landscape, heights.kind),
      contourMarks(landscape),
      wayWords(landscape, state.landscapeChoice.directions),
    ),
    columns: () => surfaceColumns(landscape),
    drawing: {
      width: CONTOUR,
      height: CONTOUR,
      draw: (size) => contourDrawing(size, landscape, heights, `taken-${point}`, ramp("light")),
    },
  };
}

export function lineFigure(state: State, height: HeightKind): Figure | null {
  const { lines } = state;
  const options = linePlot(lines, height);
  const first = lines.trained ?? lines.bent;
  if (!options || !first) return null;
  return {
    name: "line",
    title: "Loss along the first direction",
    caption: joined(about(state, lines.bent ? "bent" : "trained", first)),
    columns: () => [
      { name: "s", values: first.s },
      ...(["trained", "bent"] as const).flatMap((point): Column[] => {
        const line = lines[point];
        if (!line) return [];
        return [
          { name: `loss_${point}`, values: line.loss },
          ...(line.accuracy.length > 0 ? [{ name: `accuracy_${point}`, values: line.accuracy }] : []),
        ];
      }),
    ],
    drawing: plotted(options, [
      ...(lines.trained ? [lineKey(POINT_NAMES.trained, "trained", "dots")] : []),
      ...(lines.bent ? [lineKey(POINT_NAMES.bent, "bent", "dots")] : []),
    ]),
  };
}

/** A row for each point. */
export function surfaceColumns(landscape: Landscape): Column[] {
  const { s, t, loss, accuracy } = landscape;
  const count = rowsOf(landscape) * s.length;
  const of = (value: (index: number) => number | undefined) =>
    Array.from({ length: count }, (_, index) => value(index));
  return [
    { name: "s", values: of((index) => s[index % s.length]) },
    { name: "t", values: of((index) => t[Math.floor(index / s.length)]) },
    { name: "loss", values: of((index) => loss[index]) },
    ...(accuracy.length > 0 ? [{ name: "accuracy", values: of((index) => accuracy[index]) }] : []),
  ];
}

function about(state: State, point: Point, { backend }: Landscape): string {
  const { landscapeChoice, bend } = state;
  const bent = point === "bent" ? bentBy(bend) : "";
  const anew = bent && landscapeChoice.atBent === "anew" ? "directions scaled anew at the bent weights" : "";
  return [captionOf(state, backend), directionsOf(landscapeChoice), bent, anew].filter(Boolean).join("; ");
}

const known = (landscape: Landscape): string => `${landscape.s.length} × ${rowsOf(landscape)}`;

function ranged(landscape: Landscape, kind: HeightKind): string {
  const high = Array.from(landscape.loss)
    .filter(Number.isFinite)
    .reduce((most, loss) => Math.max(most, loss), 0);
  const part = isWhole(landscape) ? "" : ` in the ${rowsOf(landscape)} of ${landscape.t.length} rows that are computed`;
  return `loss ${number(lowest(landscape).loss)} to ${number(high)}${part}, drawn as ${kind === "log" ? "log (1 + loss)" : "it is"}`;
}
