/** Lines and points of a plane as series, and as the columns of a file. */

import type { XySeries } from "../charts/xy";
import { columnsOf } from "../figures/columns";
import { number } from "../format";

/** As much wider than high a plot of two is on a wide screen: circles are round there. */
export const WIDER = 1.54;

export type Line = readonly (readonly [x: number, y: number])[];

export const lineOf = (name: string, kind: string, points: Line, dashed = false): XySeries => ({
  name,
  kind,
  dashed,
  points: points.map(([x, y]) => ({ x, y })),
});
export const markOf = (name: string, kind: string, [x, y]: readonly [number, number]): XySeries => ({
  name,
  kind,
  line: false,
  mark: "circle",
  points: [{ x, y, title: `${name}: ${number(x)}, ${number(y)}` }],
});

/** Every point of what is drawn. */
export const columnsOfSeries = (series: XySeries[], x: string, y: string) =>
  columnsOf(
    ["series", x, y],
    series.flatMap(({ name, points }) => points.map((point) => [name, point.x, point.y])),
  );
