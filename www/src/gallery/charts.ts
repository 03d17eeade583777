/** What the gallery's charts have in common: how one is shown, and how it is taken along. */

import type { PlotOptions } from "../charts/plot";
import { type Mark, shapeOf } from "../charts/xy";
import { svg } from "../dom";
import type { Column } from "../figures/columns";
import type { Figure, Key } from "../figures/figure";
import { plotted } from "../figures/plots";

export interface Chart {
  /** Of its files. */
  name: string;
  title: string;
  caption: string;
  plot: PlotOptions;
  /** The same where there is little room. */
  narrow?: PlotOptions;
  keys: Key[];
  columns: () => Column[];
  /** Rows of names, for charts that are as high as they have rows. */
  rows?: number;
}

const SIZE = { width: 640, height: 360 };
/** Of a row of names and of what is around them, in pixels. */
const [ROW, NARROW_ROW, AROUND] = [20, 36, 60];

export function figureOf({ name, title, caption, plot, keys, columns, rows }: Chart): Figure {
  const height = rows === undefined ? SIZE.height : Math.max(heightOf(rows), 200);
  return { name, title, caption, columns, drawing: plotted(plot, keys, { ...SIZE, height }) };
}

/** Few rows have more room each; names above them take some. */
export const heightOf = (rows: number, isNarrow = false): number =>
  AROUND + Math.max(rows * (isNarrow ? NARROW_ROW : ROW), Math.min(rows * 72, 150));

/** A mark without a line. */
export const markKey = (name: string, kind: string, mark: Mark): Key => ({
  name,
  drawing: () =>
    svg(
      "svg",
      { class: `key-drawing series ${kind}`, viewBox: "0 0 34 14", width: 34, height: 14, "aria-hidden": "true" },
      shapeOf(mark, 17, 7),
    ),
});

/** What the names of charts end with, where the data are not MNIST. */
export const suffixOf = (data = "MNIST"): string => (data === "MNIST" ? "" : `-${data.toLowerCase().replace("-", "")}`);

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
