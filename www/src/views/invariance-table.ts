/** The invariance table of the page's check: names say what they are when they are pressed. */

import { nothing, type TemplateResult } from "lit-html";
import type { App } from "../app";
import { type Measure, tableOf } from "../invariance-cells";
import { measureName } from "../names";
import { InvarianceGrid } from "../plots/invariance-grid";
import { formula } from "./formula";
import { measureButton } from "./measure-note";

export class InvarianceTableView {
  readonly #grid: InvarianceGrid;
  #of: unknown = null;

  /** `draw`: renders the template again. */
  constructor(
    private readonly app: App,
    draw: () => void,
  ) {
    const name = (measure: Measure, stop: boolean) => this.#name(measure, stop);
    this.#grid = new InvarianceGrid({ name, labelledBy: "check-tab-title" }, draw);
  }

  template(): TemplateResult | typeof nothing {
    const { checkChoice } = this.app.store.state;
    // Another check has other cells.
    if (checkChoice !== this.#of) {
      this.#of = checkChoice;
      this.#grid.forget();
    }
    const table = tableOf(this.app.store.state);
    return table ? this.#grid.template(table) : nothing;
  }

  /** It says what it is; in the table, which is one stop of the Tab key, only when it is pressed. */
  #name(measure: Measure, stop: boolean): TemplateResult | string {
    const title = measureName(this.app.store.state.descriptions, measure);
    return measure === "outputs" ? title : measureButton(measure, title, { stop, shown: formula(title) });
  }
}
