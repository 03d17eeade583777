/**
 * Measure × transformation as a heat map: how far each number moved, on a logarithmic scale, with what theory expects and
 * what was found as symbols; the numbers and the tolerance's reasons are in the aside.
 */

import type { InvarianceCell, InvarianceTable, MeasureKey } from "isoflat";
import type { App } from "../app";
import { find, html } from "../dom";
import { invarianceFigure } from "../figures/tables";
import { disable } from "../focus";
import { number, power } from "../format";
import { measureName } from "../names";
import { byPaper } from "../papers";
import { transformationName } from "../transformations";
import { takeAlong } from "./take-along";

const VERDICTS: Record<InvarianceCell["verdict"], { symbol: string; word: string }> = {
  invariant: { symbol: "=", word: "same" },
  changed: { symbol: "≠", word: "changes" },
  unresolved: { symbol: "?", word: "unresolved" },
};

/** Ends of the colours, in powers of ten of the relative change: rounding in the engine's precision, and a thousandfold. */
const COLDEST = { f64: -16, f32: -8 } as const;
const HOTTEST = 3;

const RIGID = "This network has an activation that is not positively homogeneous: no map leaves what it computes.";

/** [0, 1]; no change at all is coldest. */
function heat(relativeChange: number, precision: "f32" | "f64"): number {
  if (!(relativeChange > 0)) return 0;
  const coldest = COLDEST[precision];
  return Math.min(Math.max((Math.log10(relativeChange) - coldest) / (HOTTEST - coldest), 0), 1);
}

export class InvarianceView {
  #cells: HTMLButtonElement[][] = [];

  constructor(private readonly app: App) {
    const range = find("input", "check-range");
    find("button", "check-button").addEventListener("click", () => {
      const wanted = Math.min(Math.max(Number(range.value) || 10, 1.1), 1000);
      range.value = String(wanted);
      void app.check(wanted, find("input", "check-searches").checked);
    });
    app.store.watch(["invariance"], () => this.#show());
    app.store.watch(["ready", "model", "task"], () => {
      const { ready, model, task } = app.store.state;
      const button = find("button", "check-button");
      disable(button, !ready || !model?.homogeneous || ["training", "checking", "starting"].includes(task));
      button.title = model?.homogeneous === false ? RIGID : "";
    });
    takeAlong(find("button", "check-button").parentElement, () => invarianceFigure(app.store.state), "table");
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
    const { cells } = invariance;
    const against = cells.filter((cell) => !cell.agrees).length;
    const unresolved = cells.filter((cell) => cell.verdict === "unresolved").length;
    summary.dataset.agrees = String(against === 0);
    summary.textContent =
      against === 0
        ? `${unresolved > 0 ? "?" : "✓"} All ${cells.length} verdicts are as theory says${unresolved > 0 ? `; ${unresolved} of them unresolved` : ""}.`
        : `✗ ${against} of ${cells.length} verdicts are not as theory says.`;
    place.replaceChildren(legend(invariance.backend.precision), this.#table(invariance));
    this.#cells[0]?.[0]?.setAttribute("tabindex", "0");
  }

  #table({ cells, transformations, backend }: InvarianceTable): HTMLTableElement {
    const heads = transformations.map((transformation) =>
      html("th", { scope: "col", role: "columnheader" }, transformationName(transformation)),
    );
    const row = (measure: InvarianceCell["measure"]): HTMLTableRowElement => {
      const buttons: HTMLButtonElement[] = [];
      const index = this.#cells.push(buttons) - 1;
      const tds = transformations.map((_, column) => {
        const cell = cells.find((other) => other.measure === measure && other.transformation === column);
        if (!cell) return html("td", { role: "gridcell" });
        const button = this.#button(cell, backend.precision, index, column);
        buttons.push(button);
        return html("td", { role: "gridcell" }, button);
      });
      return html("tr", { role: "row" }, html("th", { scope: "row", role: "rowheader" }, this.#name(measure)), ...tds);
    };
    const body = (title: string, measures: InvarianceCell["measure"][]): HTMLTableSectionElement => {
      const head = html("th", { colspan: transformations.length + 1, scope: "rowgroup", role: "rowheader" }, title);
      return html("tbody", {}, html("tr", { class: "group", role: "row" }, head), ...measures.map(row));
    };
    const there = new Set(cells.map((cell) => cell.measure));
    const groups = byPaper(this.app.store.state.descriptions).flatMap(({ paper, measures }) => {
      const keys: (MeasureKey | "outputs")[] = measures.map(({ key }) => key).filter((key) => there.has(key));
      if (paper.id === "point" && there.has("outputs")) keys.unshift("outputs");
      return keys.length > 0 ? [body(paper.title, keys)] : [];
    });
    return html(
      "table",
      { class: "invariance", role: "grid", "aria-labelledby": "check-tab-title" },
      html("thead", {}, html("tr", { role: "row" }, html("th", { role: "columnheader" }, "Measure"), ...heads)),
      ...groups,
    );
  }

  #name(measure: InvarianceCell["measure"]): string {
    return measureName(this.app.store.state.descriptions, measure);
  }

  #button(cell: InvarianceCell, precision: "f32" | "f64", row: number, column: number): HTMLButtonElement {
    const { symbol, word } = VERDICTS[cell.verdict];
    const should = cell.expected === "invariant";
    const label = `${word}, relative change ${number(cell.relativeChange, 2)}, ${should ? "should stand still" : "may change"}`;
    const button = html(
      "button",
      {
        type: "button",
        tabindex: -1,
        "data-verdict": cell.verdict,
        "data-expected": cell.expected,
        "data-agrees": String(cell.agrees),
        "aria-label": cell.agrees ? label : `${label}: against theory`,
        style: `--heat: ${heat(cell.relativeChange, precision).toFixed(3)}`,
      },
      html("span", { class: "symbol", "aria-hidden": "true" }, symbol),
      html("span", { class: "change", "aria-hidden": "true" }, power(cell.relativeChange)),
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
        this.#name(cell.measure),
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
        entry("found", `${symbol} ${word}${bearing(cell)}`),
      ),
      html("p", { class: "note" }, cell.reason),
    );
  }
}

/** What a finding says of theory. */
function bearing({ verdict, agrees }: InvarianceCell): string {
  if (verdict === "unresolved") return "";
  return agrees ? ", as theory says" : ", against theory";
}

/** What colours, symbols and bars mean; also what a reader without colours goes by. */
function legend(precision: "f32" | "f64"): HTMLElement {
  const coldest = COLDEST[precision];
  const sign = (symbol: string, word: string) =>
    html("li", {}, html("span", { class: "symbol", "aria-hidden": "true" }, symbol), word);
  const ends = [coldest, coldest / 2, 0, HOTTEST].map((exponent) =>
    html(
      "span",
      { style: `--at: ${(exponent - coldest) / (HOTTEST - coldest)}` },
      exponent === 0 ? "1" : power(10 ** exponent),
    ),
  );
  return html(
    "div",
    { class: "heat-legend" },
    html(
      "div",
      { class: "heat-scale" },
      html("span", { class: "label" }, "relative change"),
      html("span", { class: "ramp", "aria-hidden": "true" }),
      html("span", { class: "ends" }, ...ends),
    ),
    html(
      "ul",
      { class: "signs" },
      sign("=", "the same, within its tolerance"),
      sign("≠", "changes"),
      sign("?", "unresolved: nothing can be said, for the reason given"),
      html("li", {}, html("span", { class: "should-mark", "aria-hidden": "true" }), "should stand still, says theory"),
    ),
  );
}
