/** Every measure at the trained and at the bent weights, and what each of them is. */

import type { MeasureDescription, MeasureKey, MeasureValue } from "isoflat";
import { html, nothing, render, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import type { App } from "../app";
import { type Comparison, compare, shouldStandStill } from "../compare";
import { measuresFigure } from "../figures/tables";
import { integer, number, round } from "../format";
import { byPaper, type Paper } from "../papers";
import { type State, transformationOf } from "../store";
import type { Point } from "../worker/protocol";
import type { aboutMeasure } from "./about-measure";
import { watchIn } from "./closed";
import { estimateView } from "./estimate";
import { badgeText } from "./header";
import { secondsOf, withoutFormula } from "./measure-note";
import { place, within } from "./place";
import { ratioBar } from "./ratio";
import { subscripted } from "./subscripted";
import { takeAlong } from "./take-along";
import { explained } from "./words";

const COLUMNS = 6;

type Precision = "f32" | "f64";

/** A measure's numbers at both points, and what comes of them; without a comparison where one of them is missing. */
interface Line {
  measure: MeasureDescription;
  before: MeasureValue | undefined;
  after: MeasureValue | undefined;
  comparison: Comparison | null;
  /** It moves, and should not. */
  isAgainst: boolean;
}

export class MeasuresView {
  readonly #place = place("measures");
  /** Those whose definition is shown. */
  readonly #open = new Set<MeasureKey>();
  /** What says what a measure is: with all its formulas it is loaded when it is first asked for. */
  #about: typeof aboutMeasure | "failed" | undefined;

  constructor(private readonly app: App) {
    watchIn(this.#place, app, ["descriptions", "measures", "bend", "engine", "model", "costs"], () => this.#draw());
    this.#draw();
    estimateView(app, "measures", within(this.#place)("p", "measures-estimate"));
    takeAlong(this.#place.querySelector(".side"), () => measuresFigure(app.store.state), "table");
  }

  #draw(): void {
    const { descriptions } = this.app.store.state;
    render(
      html`<div class="side">
          <h2 id="measures-tab-title">All measures, before and after</h2>
          <p class="story">
            Ordinary sharpness follows the bend, so by itself it says little. Measures that respect the network’s symmetries
            stand still, as long as the function does. Press a measure for what it is, and a dotted word for what it means.
          </p>
        </div>
        <div class="display">
          <div id="measures">${descriptions.length === 0 ? nothing : this.#table(descriptions)}</div>
          <p id="measures-note" class="note">${this.#note()}</p>
          <p id="measures-estimate" class="note estimate"></p>
        </div>`,
      this.#place,
    );
  }

  #note(): string {
    const { measures, engine, model, bend } = this.app.store.state;
    if (measures.trained.size === 0 || !engine || !model)
      return "The measures appear here when the network has been trained.";
    const on = `On ${integer(model.measuredSamples)} samples, ${model.summary}, computed on ${badgeText(engine.info)}.`;
    return transformationOf(bend) === null ? `${on} Bend the weights to fill the second column.` : on;
  }

  #table(descriptions: MeasureDescription[]): TemplateResult {
    const { state } = this.app.store;
    const decades = decadesOf(state);
    const ends = [10 ** -decades, 1, 10 ** decades].map((end) => (end < 1 ? `÷ ${round(1 / end)}` : `× ${round(end)}`));
    return html`<table class="measures" aria-labelledby="measures-tab-title">
      <thead>
        <tr>
          <th scope="col">Measure</th>
          <th scope="col">Should stand still under</th>
          <th scope="col" class="num"><span class="point trained">● as trained</span></th>
          <th scope="col" class="num"><span class="point bent">◆ bent</span></th>
          <th scope="col" class="change">
            bent ÷ trained<span class="axis-ends" aria-hidden="true">${ends.map((end) => html`<span>${end}</span>`)}</span>
          </th>
          <th scope="col">When bent, it</th>
        </tr>
      </thead>
      ${byPaper(descriptions).map(
        ({ paper, measures }) => html`<tbody data-paper=${paper.id}>
          ${groupRow(paper)} ${measures.map((measure) => this.#rows(lineOf(measure, state), decades))}
        </tbody>`,
      )}
    </table>`;
  }

  #rows(line: Line, decades: number): TemplateResult {
    const { measure, before, after, comparison, isAgainst } = line;
    const { key, title } = measure;
    const isOpen = this.#open.has(key);
    const id = `about-${key.replaceAll(".", "-")}`;
    const precision = this.app.store.state.engine?.info.precision ?? "f64";
    return html`<tr
        data-key=${key}
        data-verdict=${comparison?.verdict ?? nothing}
        data-agrees=${comparison ? String(!isAgainst) : nothing}
      >
        <th scope="row">
          <button
            type="button"
            class="name"
            aria-expanded=${isOpen ? "true" : "false"}
            aria-controls=${id}
            @click=${() => this.#toggle(key)}
          >${subscripted(title)}</button>
        </th>
        <td class="stands">${badge(measure)}</td>
        ${valueCell("● as trained", "trained", before, precision)} ${valueCell("◆ bent", "bent", after, precision)}
        <td class="change" data-label="">
          ${
            // One is made where the numbers are others, or the axis.
            guard([comparison?.ratio, comparison?.verdict, decades], () =>
              comparison && !Number.isNaN(comparison.ratio)
                ? ratioBar(comparison.ratio, decades, comparison.verdict)
                : nothing,
            )
          }
        </td>
        <td class="verdict" data-label="">
          ${
            comparison
              ? html`<span class="symbol">${comparison.symbol}</span> ${comparison.word}${
                  isAgainst ? html`<small class="warn"> ✗ and should not</small>` : nothing
                }`
              : nothing
          }
        </td>
      </tr>
      <tr class="about" id=${id} ?hidden=${!isOpen}>
        <td colspan=${COLUMNS}>
          ${isOpen ? this.#aboutOf(line) : nothing}
        </td>
      </tr>`;
  }

  #aboutOf({ measure, before, after }: Line): TemplateResult | typeof nothing {
    if (this.#about === undefined) return nothing;
    if (this.#about === "failed") return withoutFormula(measure);
    return this.#about(measure, this.app.store.state, { before, after }, secondsOf(this.app, measure));
  }

  #toggle(key: MeasureKey): void {
    if (!this.#open.delete(key)) {
      this.#open.add(key);
      void this.#loadAbout();
    }
    this.#draw();
  }

  async #loadAbout(): Promise<void> {
    if (typeof this.#about === "function") return;
    try {
      this.#about = (await import("./about-measure")).aboutMeasure;
    } catch {
      this.#about = "failed";
    }
    this.#draw();
  }
}

function lineOf(measure: MeasureDescription, { measures, bend, engine }: State): Line {
  const before = measures.trained.get(measure.key);
  const after = transformationOf(bend) === null ? undefined : measures.bent.get(measure.key);
  const comparison = before && after ? compare(before, after, engine?.info.precision ?? "f64") : null;
  const isAgainst = comparison?.verdict === "moves" && shouldStandStill(measure, bend);
  return { measure, before, after, comparison, isAgainst };
}

/** So many powers of ten that the farthest measure still fits. */
function decadesOf({ measures }: State): number {
  let decades = 1;
  for (const [key, { value }] of measures.bent) {
    const ratio = value / (measures.trained.get(key)?.value ?? Number.NaN);
    if (ratio > 0 && Number.isFinite(ratio)) decades = Math.max(decades, Math.ceil(Math.abs(Math.log10(ratio)) - 0.05));
  }
  return Math.min(decades, 8);
}

function groupRow({ title, about }: Paper): TemplateResult {
  return html`<tr class="group">
    <th colspan=${COLUMNS} scope="rowgroup">
      <span class="title">${title}</span>
      <span class="definition">${explained(about)}</span>
    </th>
  </tr>`;
}

/** Filled: every map; outlined: whole layers (and orders of units); empty: neither. The words say it without colour. */
function badge({ invariant }: MeasureDescription): TemplateResult {
  const [kind, word, more] = invariant.nodewise
    ? ["all", "every map", "Should stand still under layer-wise and node-wise rescalings and permutations."]
    : invariant.layerwise
      ? ["layers", "layer-wise", "Should stand still under layer-wise rescalings and permutations, not node-wise ones."]
      : ["none", "no rescaling", "Follows the weights: a rescaling may move it, an order of units does not."];
  return html`<span class="stand" data-stand=${kind} title=${more}>${word}</span>`;
}

/** The number, and below it what says how far to trust it. */
function valueCell(label: string, of: Point, value: MeasureValue | undefined, precision: Precision): TemplateResult {
  const trust = value
    ? [
        value.standardError ? `± ${number(value.standardError, 1)}` : "",
        value.residual !== undefined ? `residual ${number(value.residual, 1)}` : "",
        value.precision && value.precision !== precision ? `in ${value.precision}` : "",
      ].filter(Boolean)
    : [];
  return html`<td class="num" data-label=${label} data-of=${of} data-value=${value?.value ?? nothing}>${
    value ? number(value.value) : "–"
  }${trust.length > 0 ? html`<small>${trust.join(", ")}</small>` : nothing}${
    value?.converged === false ? html`<small class="warn">not converged</small>` : nothing
  }</td>`;
}
