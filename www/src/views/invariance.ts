/** Measure × transformation: what theory expects, what was found, and why the tolerance is what it is. */

import type { InvarianceCell } from "isoflat";
import type { App } from "../app";
import { find, html } from "../dom";
import { number } from "../format";
import { measureName } from "../names";
import { transformationName } from "../transformations";

const VERDICTS: Record<InvarianceCell["verdict"], { symbol: string; word: string }> = {
  invariant: { symbol: "=", word: "same" },
  changed: { symbol: "≠", word: "changes" },
  unresolved: { symbol: "?", word: "unresolved" },
};

export class InvarianceView {
  #cells: HTMLButtonElement[][] = [];

  constructor(private readonly app: App) {
    const range = find("input", "check-range");
    find("button", "check-button").addEventListener("click", () => {
      const wanted = Math.min(Math.max(Number(range.value) || 10, 1.1), 1000);
      range.value = String(wanted);
      void app.check(wanted);
    });
    app.store.watch(["invariance"], () => this.#show());
    app.store.watch(["ready", "model", "task"], () => {
      const { ready, model, task } = app.store.state;
      find("button", "check-button").disabled =
        !ready || !model?.homogeneous || ["training", "checking", "starting"].includes(task);
    });
  }

  #show(): void {
    const { invariance } = this.app.store.state;
    const place = find("div", "invariance");
    const summary = find("p", "invariance-summary");
    find("aside", "cell-detail").hidden = true;
    this.#cells = [];
    if (!invariance) {
      place.replaceChildren();
      summary.textContent = "";
      delete summary.dataset.agrees;
      return;
    }
    const { cells, transformations } = invariance;
    const against = cells.filter((cell) => !cell.agrees).length;
    const unresolved = cells.filter((cell) => cell.verdict === "unresolved").length;
    summary.dataset.agrees = String(against === 0);
    summary.textContent =
      against === 0
        ? `✓ All ${cells.length} verdicts are as theory says${unresolved > 0 ? `; ${unresolved} of them unresolved` : ""}.`
        : `✗ ${against} of ${cells.length} verdicts are not as theory says.`;
    const measures = [...new Set(cells.map((cell) => cell.measure))];
    const rows = measures.map((measure, row) => {
      const buttons: HTMLButtonElement[] = [];
      const tds = transformations.map((_, column) => {
        const cell = cells.find((other) => other.measure === measure && other.transformation === column);
        if (!cell) return html("td", { role: "gridcell" });
        const button = this.#button(cell, row, column);
        buttons.push(button);
        return html("td", { role: "gridcell" }, button);
      });
      this.#cells.push(buttons);
      return html("tr", { role: "row" }, html("th", { scope: "row", role: "rowheader" }, measureName(measure)), ...tds);
    });
    const heads = transformations.map((transformation) =>
      html("th", { scope: "col", role: "columnheader" }, transformationName(transformation)),
    );
    place.replaceChildren(
      html(
        "table",
        { class: "invariance", role: "grid", "aria-labelledby": "invariance-title" },
        html("thead", {}, html("tr", { role: "row" }, html("th", { role: "columnheader" }, "Measure"), ...heads)),
        html("tbody", {}, ...rows),
      ),
    );
    this.#cells[0]?.[0]?.setAttribute("tabindex", "0");
  }

  #button(cell: InvarianceCell, row: number, column: number): HTMLButtonElement {
    const { symbol, word } = VERDICTS[cell.verdict];
    const button = html(
      "button",
      { type: "button", tabindex: -1, "data-verdict": cell.verdict, "data-agrees": String(cell.agrees) },
      html("span", { class: "symbol", "aria-hidden": "true" }, symbol),
      html("span", { class: "word" }, word),
      html("span", { class: "change" }, number(cell.relativeChange, cell.relativeChange < 1e-3 ? 1 : 2)),
      cell.agrees ? "" : html("span", { class: "against" }, "✗ against theory"),
    );
    button.addEventListener("focus", () => this.#detail(cell));
    button.addEventListener("click", () => this.#detail(cell));
    button.addEventListener("keydown", (event) => this.#onKey(event, row, column));
    return button;
  }

  /** One stop for the Tab key; arrows move within. */
  #onKey(event: KeyboardEvent, row: number, column: number): void {
    const steps: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const step = steps[event.key];
    const next = step && this.#cells[row + step[0]]?.[column + step[1]];
    if (!next) return;
    event.preventDefault();
    this.#cells[row]?.[column]?.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  }

  #detail(cell: InvarianceCell): void {
    const aside = find("aside", "cell-detail");
    const transformation = this.app.store.state.invariance?.transformations[cell.transformation];
    const entry = (name: string, value: string) => html("div", {}, html("dt", {}, name), html("dd", {}, value));
    const { symbol, word } = VERDICTS[cell.verdict];
    aside.hidden = false;
    aside.replaceChildren(
      html(
        "h4",
        {},
        measureName(cell.measure),
        html("small", {}, transformation ? transformationName(transformation) : ""),
      ),
      html(
        "dl",
        {},
        entry("before", number(cell.before, 7)),
        entry("after", number(cell.after, 7)),
        entry("relative change", number(cell.relativeChange, 2)),
        entry("tolerance", number(cell.tolerance, 2)),
        entry("expected", cell.expected === "invariant" ? "stays the same" : "may change"),
        entry("found", `${symbol} ${word}${cell.agrees ? ", as theory says" : ", against theory"}`),
      ),
      html("p", { class: "note" }, cell.reason),
    );
  }
}
