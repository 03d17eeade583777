/** Every measure at the trained and at the bent weights. */

import type { MeasureDescription, MeasureValue } from "isoflat";
import type { App } from "../app";
import { compare, shouldStandStill } from "../compare";
import { find, html } from "../dom";
import { measuresFigure } from "../figures/tables";
import { integer, number, round } from "../format";
import { byPaper, type Paper } from "../papers";
import { transformationOf } from "../store";
import type { Point } from "../worker/protocol";
import { badgeText } from "./header";
import { ratioBar } from "./ratio";
import { takeAlong } from "./take-along";

const COLUMNS = 6;

interface Row {
  description: MeasureDescription;
  row: HTMLTableRowElement;
  before: HTMLTableCellElement;
  after: HTMLTableCellElement;
  bar: HTMLTableCellElement;
  verdict: HTMLTableCellElement;
  trust: HTMLElement;
}

export class MeasuresView {
  #rows: Row[] = [];
  #axis: HTMLElement | undefined;

  constructor(private readonly app: App) {
    app.store.watch(["descriptions"], () => this.#build());
    app.store.watch(["measures", "bend", "engine", "model"], () => this.#update());
    takeAlong(find("section", "measures-panel").querySelector(".side"), () => measuresFigure(app.store.state), "table");
  }

  #build(): void {
    const { descriptions } = this.app.store.state;
    if (descriptions.length === 0) return;
    this.#axis = html("span", { class: "axis-ends", "aria-hidden": "true" });
    const head = html(
      "thead",
      {},
      html(
        "tr",
        {},
        html("th", { scope: "col" }, "Measure"),
        html("th", { scope: "col" }, "Should stand still under"),
        html("th", { scope: "col", class: "num" }, html("span", { class: "point trained" }, "● as trained")),
        html("th", { scope: "col", class: "num" }, html("span", { class: "point bent" }, "◆ bent")),
        html("th", { scope: "col", class: "bar" }, "bent ÷ trained", this.#axis),
        html("th", { scope: "col" }, "When bent, it"),
      ),
    );
    this.#rows = [];
    const bodies = byPaper(descriptions).map(({ paper, measures }) => {
      const section = html("tbody", { "data-paper": paper.id }, groupRow(paper));
      for (const description of measures) section.append(...this.#row(description));
      return section;
    });
    find("div", "measures").replaceChildren(
      html("table", { class: "measures", "aria-labelledby": "measures-tab-title" }, head, ...bodies),
    );
  }

  #row(description: MeasureDescription): HTMLTableRowElement[] {
    const { key } = description;
    const id = `about-${key.replaceAll(".", "-")}`;
    const button = html(
      "button",
      { type: "button", class: "name", "aria-expanded": "false", "aria-controls": id },
      description.title,
    );
    const trust = html("p", { class: "trust" });
    const about = html(
      "tr",
      { class: "about", id, hidden: true },
      html(
        "td",
        { colspan: COLUMNS },
        html("p", {}, description.description),
        html(
          "p",
          { class: "faint" },
          html("code", {}, key),
          description.paper === "—" ? "" : ` · ${description.paper}`,
        ),
        trust,
      ),
    );
    button.addEventListener("click", () => {
      about.hidden = !about.hidden;
      button.setAttribute("aria-expanded", String(!about.hidden));
    });
    const cell = (label: string, kind: string, of?: Point) =>
      html("td", { class: kind, "data-label": label, "data-of": of });
    const before = cell("● as trained", "num", "trained");
    const after = cell("◆ bent", "num", "bent");
    const bar = cell("", "bar");
    const verdict = cell("", "verdict");
    const row = html(
      "tr",
      { "data-key": key },
      html("th", { scope: "row" }, button),
      html("td", { class: "stands" }, badge(description)),
      before,
      after,
      bar,
      verdict,
    );
    this.#rows.push({ description, row, before, after, bar, verdict, trust });
    return [row, about];
  }

  #update(): void {
    const { measures, engine, bend, model } = this.app.store.state;
    const bent = transformationOf(bend) !== null;
    const precision = engine?.info.precision ?? "f64";
    const decades = this.#decades();
    this.#axis?.replaceChildren(
      ...[10 ** -decades, 1, 10 ** decades].map((end) =>
        html("span", {}, end < 1 ? `÷ ${round(1 / end)}` : `× ${round(end)}`),
      ),
    );
    for (const { description, row, before, after, bar, verdict, trust } of this.#rows) {
      const first = measures.trained.get(description.key);
      const second = bent ? measures.bent.get(description.key) : undefined;
      showValue(before, first, precision);
      showValue(after, second, precision);
      trust.textContent = [said("As trained", first), said("Bent", second)].filter(Boolean).join(" ");
      if (!first || !second) {
        delete row.dataset.verdict;
        delete row.dataset.agrees;
        bar.replaceChildren();
        verdict.replaceChildren();
        continue;
      }
      const comparison = compare(first, second, precision);
      row.dataset.verdict = comparison.verdict;
      bar.replaceChildren(
        Number.isNaN(comparison.ratio) ? "" : ratioBar(comparison.ratio, decades, comparison.verdict),
      );
      const against = comparison.verdict === "moves" && shouldStandStill(description, bend);
      row.dataset.agrees = String(!against);
      verdict.replaceChildren(
        html("span", { class: "symbol" }, comparison.symbol),
        ` ${comparison.word}`,
        against ? html("small", { class: "warn" }, " ✗ and should not") : "",
      );
    }
    find("p", "measures-note").textContent =
      measures.trained.size > 0 && engine && model
        ? `On ${integer(model.measuredSamples)} training samples, ${model.summary}, computed on ${badgeText(engine.info)}.` +
          (bent ? "" : " Bend the weights to fill the second column.")
        : "The measures appear here when the network has been trained.";
  }

  /** So many powers of ten that the farthest measure still fits. */
  #decades(): number {
    const { measures } = this.app.store.state;
    let decades = 1;
    for (const [key, { value }] of measures.bent) {
      const ratio = value / (measures.trained.get(key)?.value ?? Number.NaN);
      if (ratio > 0 && Number.isFinite(ratio))
        decades = Math.max(decades, Math.ceil(Math.abs(Math.log10(ratio)) - 0.05));
    }
    return Math.min(decades, 8);
  }
}

function groupRow({ title, about }: Paper): HTMLTableRowElement {
  const head = html(
    "th",
    { colspan: COLUMNS, scope: "rowgroup" },
    html("span", { class: "title" }, title),
    html("span", { class: "definition" }, about),
  );
  return html("tr", { class: "group" }, head);
}

/** Filled: every map; outlined: whole layers (and orders of units); empty: neither. The words say it without colour. */
function badge({ invariant }: MeasureDescription): HTMLElement {
  const [kind, word, more] = invariant.nodewise
    ? ["all", "every map", "Should stand still under layer-wise and node-wise rescalings and permutations."]
    : invariant.layerwise
      ? ["layers", "layer-wise", "Should stand still under layer-wise rescalings and permutations, not node-wise ones."]
      : ["none", "no rescaling", "Follows the weights: a rescaling may move it, an order of units does not."];
  return html("span", { class: "stand", "data-stand": kind, title: more }, word);
}

/** The number, and below it what says how far to trust it. */
function showValue(cell: HTMLTableCellElement, value: MeasureValue | undefined, precision: "f32" | "f64"): void {
  if (!value) {
    cell.textContent = "–";
    delete cell.dataset.value;
    return;
  }
  cell.dataset.value = String(value.value);
  const trust = [
    value.standardError ? `± ${number(value.standardError, 1)}` : "",
    value.residual !== undefined ? `residual ${number(value.residual, 1)}` : "",
    value.precision && value.precision !== precision ? `in ${value.precision}` : "",
  ].filter(Boolean);
  cell.replaceChildren(
    number(value.value),
    trust.length > 0 ? html("small", {}, trust.join(", ")) : "",
    value.converged ? "" : html("small", { class: "warn" }, "not converged"),
  );
}

function said(point: string, value: MeasureValue | undefined): string {
  if (!value) return "";
  const parts = [`${point}: ${number(value.value, 7)}`];
  if (value.standardError !== undefined) parts.push(`standard error ${number(value.standardError, 2)}`);
  if (value.residual !== undefined) parts.push(`residual ${number(value.residual, 2)}`);
  if (value.iterations !== undefined) parts.push(`${integer(value.iterations)} products`);
  if (value.precision !== undefined) parts.push(`computed in ${value.precision}`);
  if (!value.converged) parts.push("not converged");
  return `${parts.join(", ")}.`;
}
