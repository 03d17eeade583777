/** A row for each name, with marks along one axis: what is compared by name, whatever its size. */

import { svg } from "../dom";
import type { Frame, PlotOptions } from "./plot";
import type { Scale } from "./scales";
import { type Mark, shapeOf } from "./xy";

export interface RowMark {
  at: number;
  mark: Mark;
  /** Classes that give it its colour. */
  kind: string;
  /** Of half a row, from its middle: what lies on each other is drawn beside each other. */
  shift?: number;
  title?: string;
}

export interface NamedRow {
  name: string;
  /** A line behind the marks, from where to where. */
  interval?: readonly [number, number];
  kind?: string;
  marks: RowMark[];
}

/** The names from top to bottom. */
const namesScale = (names: readonly string[]): Scale => ({
  low: 0,
  high: names.length,
  at: (row) => 1 - (row + 0.5) / names.length,
  ticks: names.map((label, value) => ({ value, label })),
});

export interface RowsOptions extends Pick<PlotOptions, "x" | "xLabel" | "label"> {
  /** Names stand above their rows: at their left they would leave no room. */
  isNarrow?: boolean;
  /** Where a line goes from top to bottom, to see marks against; `kind` gives it its colour. */
  level?: { at: number; kind: string };
}

export function rowsPlot(
  rows: readonly NamedRow[],
  { x, xLabel, label, level, isNarrow = false }: RowsOptions,
): PlotOptions {
  return {
    x,
    xLabel,
    label,
    y: namesScale(isNarrow ? rows.map(() => "") : rows.map(({ name }) => name)),
    ...(isNarrow && { left: 0 }),
    yLabel: "",
    marks: (frame) => [
      ...rows.map((row, index) => drawn(frame, row, { index, count: rows.length, isNarrow })),
      level
        ? series(level.kind, svg("path", { class: "spread", d: `M${frame.x(level.at)},${frame.top}V${frame.bottom}` }))
        : null,
    ],
  };
}

const series = (kind: string, shape: SVGElement): SVGGElement => svg("g", { class: `series ${kind}` }, shape);

function drawn(
  frame: Frame,
  { name, interval, kind = "", marks }: NamedRow,
  { index, count, isNarrow }: { index: number; count: number; isNarrow: boolean },
): SVGGElement {
  const half = (frame.bottom - frame.top) / count / 2;
  const middle = frame.y(index) + (isNarrow ? 0.45 * half : 0);
  const group = svg("g", { class: "named-row", "data-row": name, "data-marks": marks.length });
  if (isNarrow) group.append(svg("text", { x: frame.left + 4, y: frame.y(index) - 0.15 * half }, name));
  if (interval) {
    const [low, high] = interval.map(frame.x);
    group.append(series(kind, svg("path", { class: "spread", d: `M${low},${middle}H${high}` })));
  }
  for (const { at, mark, kind, shift = 0, title } of marks) {
    const [across, down] = [frame.x(at), middle + shift * half];
    // A bar is as high as its row leaves room.
    const bar = {
      class: "mark bar",
      d: `M${across.toFixed(1)},${(down - 0.8 * half).toFixed(1)}v${(1.6 * half).toFixed(1)}`,
    };
    const shape = mark === "bar" ? svg("path", bar) : shapeOf(mark, across, down);
    if (title) shape.append(svg("title", {}, title));
    group.append(series(kind, shape));
  }
  return group;
}
