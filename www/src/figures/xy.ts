/** Series with lines and marks as a figure: a row for each of their points. */

import { legendKey, type Shown, type XySeries, xyPlot } from "../charts/xy";
import { type Cell, columnsOf } from "./columns";
import type { Figure, Key } from "./figure";
import { plotted } from "./plots";

export const seriesKey = (name: string, look: Pick<XySeries, "kind" | "dashed" | "mark">): Key => ({
  name,
  drawing: () => legendKey(look),
});

/** `x` and `y`: the columns' names. */
export function xyFigure(
  { series, options }: Shown,
  {
    name,
    title,
    caption,
    x,
    y,
    keys,
  }: { name: string; title: string; caption: string; x: string; y: string; keys: Key[] },
): Figure | null {
  const ranged = series.some(({ points }) => points.some(({ range }) => range));
  const rows: Cell[][] = series.flatMap((each) =>
    each.points.map((point) => [
      each.name,
      each.mark ? "mark" : "line",
      point.at ?? point.x,
      point.y,
      ...(ranged ? (point.range ?? [null, null]) : []),
    ]),
  );
  if (rows.length === 0) return null;
  return {
    name,
    title,
    caption,
    columns: () => columnsOf(["series", "drawn_as", x, y, ...(ranged ? ["least", "most"] : [])], rows),
    drawing: plotted(xyPlot(series, options), keys),
  };
}
