/** The invariance check as a figure: each cell in the page's colours, with the page's marks; its numbers are a row for each cell. */

import { svg } from "../dom";
import {
  AGAINST,
  type CellName,
  checkOf,
  type InvarianceTable,
  type Measure,
  marksOf,
  nameOf,
  SHOULD_STAND,
  SIGNS,
  TO_COME,
  tableOf,
  ticksOf,
} from "../invariance-cells";
import { measureName } from "../names";
import type { State } from "../store";
import { transformationName } from "../transformations";
import { captionOf, joined } from "./caption";
import { columnsOf } from "./columns";
import type { Figure, Key } from "./figure";

/** Nothing before the first cell is there. */
export function invarianceFigure(state: State): Figure | null {
  const { invariance, descriptions } = state;
  const check = checkOf(state);
  if (!invariance || !check) return null;
  const table = tableOf(check);
  const { cells, transformations, backend } = invariance;
  const isWhole = table.cells.size === rowsOf(table).length * transformations.length;
  return {
    name: "invariance",
    title: "Measures under maps that leave every output as it is",
    caption: joined(
      captionOf(state, backend),
      "colours and numbers say how far each measure moved, relative to itself",
    ),
    columns: () =>
      columnsOf(
        ["key", "measure", "map", "before", "after", "relative_change", "tolerance", "expected", "verdict", "agrees"],
        cells.map(
          ({ measure, transformation, before, after, relativeChange, tolerance, expected, verdict, agrees }) => {
            const map = transformations[transformation];
            return [
              measure,
              measureName(descriptions, measure),
              map ? transformationName(map) : "",
              before,
              after,
              relativeChange,
              tolerance,
              expected,
              verdict,
              agrees,
            ];
          },
        ),
      ),
    drawing: {
      width: LEFT + CELL.width * transformations.length,
      height: heightOf(table),
      draw: () => invarianceDrawing(table, (measure) => measureName(descriptions, measure)),
      keys: keysOf(table, isWhole),
    },
  };
}

const CELL = { width: 104, height: 22 };
/** Room for the longest name. */
const LEFT = 316;
/** Heads of groups, with air above them. */
const GROUP = 28;
const SCALE = { width: 260, height: 10, steps: 52 };
const HEAD = 62;

const rowsOf = ({ groups }: InvarianceTable) => groups.flatMap(({ measures }) => measures);

const heightOf = (table: InvarianceTable): number =>
  HEAD + GROUP * table.groups.length + CELL.height * rowsOf(table).length;

type Anchor = "start" | "middle" | "end";
const text = (x: number, y: number, said: string, kind = "", anchor: Anchor = "start"): SVGTextElement =>
  svg("text", { class: kind, x, y, dy: "0.35em", "text-anchor": anchor }, said);

/** In the classes of the table's style sheet, which has the colours. */
function invarianceDrawing(table: InvarianceTable, titleOf: (measure: Measure) => string): SVGSVGElement {
  const { transformations, groups } = table;
  const width = LEFT + CELL.width * transformations.length;
  const xOf = (column: number): number => LEFT + column * CELL.width;
  let y = HEAD;
  const body = groups.flatMap(({ title, measures }) => {
    const head = text(0, y + GROUP - 11, title, "group");
    y += GROUP;
    const rows = measures.flatMap((measure) => {
      const top = y;
      y += CELL.height;
      return [
        text(0, top + CELL.height / 2, titleOf(measure)),
        ...transformations.flatMap((_, column) => cellAt(table, { measure, transformation: column }, xOf(column), top)),
      ];
    });
    return [head, ...rows];
  });
  return svg(
    "svg",
    { class: "invariance-drawing", viewBox: `0 0 ${width} ${heightOf(table)}` },
    ...scale(table, xOf(transformations.length) - SCALE.width),
    ...transformations.map((map, column) => text(xOf(column) + 8, HEAD - 8, transformationName(map), "soft")),
    ...body,
  );
}

/** As many colours as one sees no steps between: gradients are not mixed as the cells' colours are. */
function scale({ precision }: InvarianceTable, left: number): SVGElement[] {
  const { width, height, steps } = SCALE;
  const step = width / steps;
  return [
    text(left - 10, height / 2, "relative change", "soft", "end"),
    ...Array.from({ length: steps }, (_, index) =>
      svg("rect", {
        class: "heat",
        x: left + index * step,
        y: 0,
        // Over the next one's edge, between which and its own a renderer would let the paper through.
        width: step + (index + 1 < steps ? 0.5 : 0),
        height,
        style: `--heat: ${((index + 0.5) / steps).toFixed(3)}`,
      }),
    ),
    ...ticksOf(precision).map(({ at, text: said }) =>
      text(left + at * width, height + 11, said, "soft", at === 0 ? "start" : at === 1 ? "end" : "middle"),
    ),
  ];
}

function cellAt({ cells, precision }: InvarianceTable, name: CellName, x: number, y: number): SVGElement[] {
  const cell = cells.get(nameOf(name));
  const box = { x: x + 1, y: y + 1, width: CELL.width - 2, height: CELL.height - 2 };
  const middle = y + CELL.height / 2;
  if (!cell) return [svg("rect", { class: "to-come", ...box, rx: 3 }), text(x + 10, middle, TO_COME, "soft")];
  const { symbol, heat, change, shouldStand, isAgainst } = marksOf(cell, precision);
  return [
    svg("rect", { class: "heat", "data-cell": nameOf(name), ...box, rx: 3, style: `--heat: ${heat.toFixed(3)}` }),
    ...(shouldStand ? [svg("rect", { class: "should", ...box, width: 4 })] : []),
    ...(isAgainst ? [svg("rect", { class: "against", ...box, rx: 3 })] : []),
    text(x + 10, middle, isAgainst ? `${symbol} ✗` : symbol, isAgainst ? "sign against" : "sign"),
    text(x + CELL.width - 8, middle, change, "", "end"),
  ];
}

const key = (name: string, marks: () => SVGElement[]): Key => ({
  name,
  drawing: () => svg("svg", { class: "invariance-drawing", viewBox: "0 0 34 14" }, ...marks()),
});

/** What is on it, and nothing else. */
function keysOf({ cells, precision }: InvarianceTable, isWhole: boolean): Key[] {
  const marks = [...cells.values()].map((cell) => marksOf(cell, precision));
  const isSomeAgainst = marks.some(({ isAgainst }) => isAgainst);
  const signs = SIGNS.filter((sign) => marks.some(({ symbol }) => symbol === sign.symbol));
  return [
    ...signs.map(({ symbol, meaning }) => key(meaning, () => [text(17, 7, symbol, "sign", "middle")])),
    key(SHOULD_STAND, () => [svg("rect", { class: "should", x: 15, y: 0, width: 4, height: 14 })]),
    ...(isSomeAgainst
      ? [key(AGAINST.slice(2), () => [svg("rect", { class: "against", x: 5, y: 1, width: 24, height: 12 })])]
      : []),
    ...(isWhole ? [] : [key("still to come", () => [text(17, 7, TO_COME, "sign", "middle")])]),
  ];
}
