/** Numbers by rows and columns as a figure: each cell coloured, with its number in it. */

import { css, ramp } from "../charts/palette";
import { svg } from "../dom";
import { number } from "../format";
import { columnsOf } from "./columns";
import type { Figure } from "./figure";

interface Side {
  name: string;
  values: readonly number[];
}

export interface Heat extends Pick<Figure, "name" | "title" | "caption"> {
  columns: Side;
  rows: Side;
  /** What the cells are of. */
  value: string;
  /** Row by row; what is not known is undefined, what is lost not finite. */
  cells: (number | undefined)[][];
  /** Where the colours end, on a logarithmic scale. */
  high: number;
}

const CELL = { width: 92, height: 34 };
const LEFT = 96;
const TOP = 46;

export function heatFigure({ name, title, caption, columns, rows, value, cells, high }: Heat): Figure {
  const size = { width: LEFT + CELL.width * columns.values.length, height: TOP + CELL.height * rows.values.length };
  return {
    name,
    title,
    caption,
    columns: () =>
      columnsOf(
        [rows.name, columns.name, value],
        rows.values.flatMap((row, j) => columns.values.map((column, i) => [row, column, cells[j]?.[i]])),
      ),
    drawing: { ...size, draw: () => heatDrawing({ columns, rows, cells, high }, size) },
  };
}

function heatDrawing(
  { columns, rows, cells, high }: Pick<Heat, "columns" | "rows" | "cells" | "high">,
  { width, height }: { width: number; height: number },
): SVGSVGElement {
  const colour = ramp("light");
  const finite = cells.flat().filter((cell): cell is number => cell !== undefined && Number.isFinite(cell) && cell > 0);
  const low = Math.log(Math.min(high * 0.99, ...finite));
  const text = (x: number, y: number, said: string, fill = "var(--ink)") =>
    svg("text", { x, y, dy: "0.35em", "text-anchor": "middle", style: `fill: ${fill}; font-size: 12px` }, said);
  const at = (i: number, j: number): [number, number] => [LEFT + i * CELL.width, TOP + j * CELL.height];
  const drawn = cells.flatMap((row, j) =>
    row.flatMap((cell, i) => {
      const [x, y] = at(i, j);
      const isThere = cell !== undefined && Number.isFinite(cell);
      const share = isThere ? (Math.log(Math.max(cell, 1e-300)) - low) / (Math.log(high) - low) : 1;
      const said = cell === undefined ? "" : isThere ? number(cell) : "✕";
      return [
        svg("rect", {
          x,
          y,
          width: CELL.width,
          height: CELL.height,
          style: `fill: ${isThere ? css(colour(share)) : "#fff"}; stroke: #fff`,
        }),
        text(x + CELL.width / 2, y + CELL.height / 2, said, isThere && share < 0.42 ? "#fff" : "var(--ink)"),
      ];
    }),
  );
  const words = (name: string) => name.replaceAll("_", " ");
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}` },
    text(LEFT + (columns.values.length * CELL.width) / 2, 10, words(columns.name)),
    text(LEFT / 2, TOP - 16, words(rows.name)),
    ...columns.values.map((value, i) => text(at(i, 0)[0] + CELL.width / 2, TOP - 16, String(value))),
    ...rows.values.map((value, j) => text(LEFT / 2, at(0, j)[1] + CELL.height / 2, String(value))),
    ...drawn,
  );
}
