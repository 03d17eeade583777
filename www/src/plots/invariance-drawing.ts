/** Draws what `<isoflat-invariance>` is given. */

import { render } from "lit-html";
import { html } from "../dom";
import { type Measure, tableOf } from "../invariance-cells";
import { measureName } from "../names";
import invariance from "../style/invariance.css?inline";
import { measureButton } from "../views/measure-button";
import { subscripted } from "../views/subscripted";
import { type Drawing, sheetOf } from "./element";
import type { InvarianceContent, IsoflatInvariance } from "./invariance";
import { InvarianceGrid } from "./invariance-grid";

let sheet: CSSStyleSheet | undefined;

class InvarianceDrawing implements Drawing<InvarianceContent> {
  readonly #grid: InvarianceGrid;
  /** Of its own: what was rendered into an element once is gone on with. */
  readonly #box = html("div");
  #content: InvarianceContent | undefined;

  constructor(
    place: HTMLElement,
    private readonly element: IsoflatInvariance,
  ) {
    this.#grid = new InvarianceGrid(
      (measure, stop) => this.#name(measure, stop),
      () => this.#draw(),
    );
    place.replaceChildren(this.#box);
  }

  show(content: InvarianceContent): void {
    const mapsOf = (of: InvarianceContent | undefined) => JSON.stringify(of?.table.transformations);
    if (mapsOf(content) !== mapsOf(this.#content)) this.#grid.forget();
    this.#content = content;
    this.#draw();
  }

  close(): void {
    this.#box.remove();
  }

  #draw(): void {
    if (this.#content) render(this.#grid.template(tableOf(this.#content)), this.#box);
  }

  #name(measure: Measure, stop: boolean): unknown {
    const { descriptions = [], isExplained } = this.#content ?? {};
    const title = measureName(descriptions, measure);
    if (!isExplained || measure === "outputs") return subscripted(title);
    return measureButton(measure, title, { stop, pressed: (name) => this.element.explain({ measure, name }) });
  }
}

export function invarianceDrawing(place: HTMLElement, element: IsoflatInvariance): Drawing<InvarianceContent> {
  sheet ??= sheetOf(invariance);
  element.adopt(sheet);
  return new InvarianceDrawing(place, element);
}
