/** Draws what `<isoflat-invariance>` is given: the lab's own table, where a measure's name says nothing when it is pressed. */

import type { MeasureDescription } from "isoflat";
import { render } from "lit-html";
import { html } from "../dom";
import { type InvarianceTable, type Measure, nameOf, tableOf } from "../invariance-cells";
import { measureName } from "../names";
import invariance from "../style/invariance.css?inline";
import { formula } from "../views/formula";
import { type Drawing, type PlotElement, sheetOf } from "./element";
import type { InvarianceContent } from "./invariance";
import { InvarianceGrid } from "./invariance-grid";

let sheet: CSSStyleSheet | undefined;

/** The element's own width says how the table lies, and not the window's. */
const within = (css: string): string => css.replaceAll("@media", "@container");

/** Under the papers that the measures come from, where these are described; all others follow without a title. */
export function gridOf({ table, descriptions }: InvarianceContent): InvarianceTable {
  const grid = tableOf({ invariance: table, checkChoice: null, engine: null, descriptions }) as InvarianceTable;
  const placed = new Set(grid.groups.flatMap(({ measures }) => measures));
  const others = [...new Set(table.cells.map(({ measure }) => measure))].filter((measure) => !placed.has(measure));
  if (others.length > 0) grid.groups.push({ title: placed.size > 0 ? "Others" : "", measures: others });
  // A row of which nothing was checked is nobody's.
  const isThere = (measure: Measure): boolean =>
    table.transformations.some((_, transformation) => grid.cells.has(nameOf({ measure, transformation })));
  grid.groups = grid.groups.flatMap(({ title, measures }) => {
    const there = measures.filter(isThere);
    return there.length > 0 ? [{ title, measures: there }] : [];
  });
  return grid;
}

class InvarianceDrawing implements Drawing<InvarianceContent> {
  readonly #grid: InvarianceGrid;
  /** Of its own: what was rendered into an element once is gone on with. */
  readonly #box = html("div");
  #content: InvarianceContent | undefined;
  #descriptions: MeasureDescription[] = [];

  constructor(place: HTMLElement) {
    const name = (measure: Measure) => formula(measureName(this.#descriptions, measure));
    this.#grid = new InvarianceGrid({ name, label: "Invariance of measures" }, () => this.#draw());
    place.replaceChildren(this.#box);
  }

  show(content: InvarianceContent): void {
    if (content.table !== this.#content?.table) this.#grid.forget();
    this.#content = content;
    this.#descriptions = content.descriptions;
    this.#draw();
  }

  close(): void {
    this.#box.remove();
  }

  #draw(): void {
    if (this.#content) render(this.#grid.template(gridOf(this.#content)), this.#box);
  }
}

export function invarianceDrawing(
  place: HTMLElement,
  element: PlotElement<InvarianceContent>,
): Drawing<InvarianceContent> {
  sheet ??= sheetOf(within(invariance));
  element.adopt(sheet);
  return new InvarianceDrawing(place);
}
