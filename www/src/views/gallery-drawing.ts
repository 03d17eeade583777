/** The drawing of one of the gallery's rows: from the stored results, which are fetched when it is first opened. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import type { DirectiveResult } from "lit-html/directive.js";
import { ref } from "lit-html/directives/ref.js";
import type { App } from "../app";
import { type Chart, figureOf } from "../gallery/charts";
import { dinhCharts } from "../gallery/dinh";
import { jestaedtCharts } from "../gallery/jestaedt";
import type { Drawing } from "../gallery/live";
import { choices, figuredChart, rankingChart, saidOf, scatterChart, type Titles } from "../gallery/petzka";
import { linesChart, powerChart, seedsOf } from "../gallery/rangamani";
import { type Lines, type Petzka, type Results, resultsOf, type Spaces } from "../gallery/results";
import { epochsChart, fixedCharts, lowHighCharts, ratesChart, ratesOf, rescaledChart } from "../gallery/spaces";
import { table4Chart } from "../gallery/table4";
import { tableChart } from "../gallery/tables";
import { plain } from "../subscripts";
import { chartIn } from "./chart-in";
import { subscripted } from "./subscripted";
import { takenAlong } from "./take-along";

/** Which of a scatter's measures is shown first. */
const MEASURES: Partial<Record<Drawing, string>> = {
  "petzka-rescaled": "hessian.max_eigenvalue",
  "petzka-cifar10": "petzka.kappa_trace, layer 5",
};

export class GalleryDrawing {
  static #count = 0;
  /** Of the group of its two sides: several drawings may be open. */
  readonly #group = `gallery-side-${GalleryDrawing.#count++}`;
  #place: HTMLElement | undefined;
  #isOpen = false;
  /** Of the scatter; null before one is chosen. */
  #measure: string;
  #isRescaled: boolean;
  #rate = 1e-2;
  /** Null before one is chosen. */
  #seed: number | null = null;
  /** As they are shown: what menus take. */
  readonly #charts: Chart[] = [];

  /** `results`: where they come from, if they are not the stored ones. */
  constructor(
    private readonly kind: Drawing,
    private readonly app: App,
    private readonly results: <K extends keyof Results>(name: K) => Promise<Results[K]> = resultsOf,
  ) {
    this.#isRescaled = kind === "petzka-rescaled";
    this.#measure = MEASURES[kind] ?? "petzka.kappa_trace, layer 2";
    // What measures are called the engine says, which may begin later.
    app.store.watch(["descriptions"], () => {
      if (this.#isOpen) void this.#draw();
    });
  }

  /** Where it goes. */
  here(): DirectiveResult {
    return ref((place) => {
      if (place instanceof HTMLElement) this.#place = place;
    });
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    void this.#draw();
  }

  async #draw(): Promise<void> {
    const place = this.#place;
    if (!place) return;
    try {
      render(await this.#markup(), place);
    } catch (error) {
      // Asked for anew when it is opened again.
      this.#isOpen = false;
      const said = error instanceof Error ? error.message : String(error);
      render(html`<p class="note warn" role="alert">There is no drawing: ${said}</p>`, place);
    }
  }

  async #markup(): Promise<TemplateResult> {
    switch (this.kind) {
      case "table-2":
      case "table-3":
        return this.#chart(0, tableChart(await this.results("tables"), this.kind === "table-2" ? "2" : "3"));
      case "table-4":
        return this.#chart(0, table4Chart(await this.results("table-4")));
      case "table-4-published":
        return this.#chart(0, table4Chart(await this.results("table-4-published"), "published"));
      case "table-4-cifar10":
        return this.#chart(0, table4Chart(await this.results("table-4-cifar10"), "cifar10"));
      case "power": {
        const power = await this.results("power");
        return this.#pairs([powerChart(power, "distances"), powerChart(power, "residuals")]);
      }
      case "lines":
        return this.#lines(await this.results("lines"));
      case "dinh-figures":
        return this.#pairs(dinhCharts(await this.results("dinh-figures")));
      case "jestaedt-figures":
        return this.#pairs(jestaedtCharts(await this.results("jestaedt-figures")));
      case "petzka":
      case "petzka-rescaled":
        return this.#petzka(await this.results("petzka"));
      case "petzka-cifar10":
        return this.#petzka(await this.results("petzka-cifar10"));
      case "spaces-low-high":
        return this.#pairs(
          (await Promise.all([this.results("spaces-low-high"), this.results("spaces-cifar10-low-high")])).flatMap(
            lowHighCharts,
          ),
        );
      case "spaces-fixed":
        return this.#pairs(
          fixedCharts(
            await Promise.all([this.results("spaces-kept"), this.results("spaces-cifar10-kept")]),
            await Promise.all([this.results("spaces-grid"), this.results("spaces-cifar10-grid")]),
            await Promise.all([this.results("spaces-grid-defects"), this.results("spaces-cifar10-grid-defects")]),
          ),
        );
      case "spaces-reparametrized":
        return this.#chart(0, rescaledChart(await this.results("spaces-reparametrized")));
      case "spaces":
      case "spaces-adam":
      case "spaces-cifar10":
      case "spaces-cifar10-adam":
        return this.#spaces(await this.results(this.kind));
    }
  }

  #titles(): Titles {
    return new Map(this.app.store.state.descriptions.map(({ key, title }) => [key, title]));
  }

  #petzka(petzka: Petzka): TemplateResult {
    const titles = this.#titles();
    // Figures 3 to 6 are of the networks as they were trained, the others of both sides.
    const rescaled = this.kind !== "petzka";
    const choose = ({ currentTarget }: Event): void => {
      this.#measure = (currentTarget as HTMLSelectElement).value;
      void this.#draw();
    };
    const controls = html`<select aria-label="Measure" @change=${choose}>
        ${choices(petzka, titles).map(
          ({ measure, title }) =>
            html`<option value=${measure} .selected=${measure === this.#measure}>${plain(title)}</option>`,
        )}
      </select>
      ${rescaled ? this.#side() : nothing}`;
    const scatter = scatterChart(petzka, this.#measure, this.#isRescaled, titles);
    const said = saidOf(petzka, this.#measure, this.#isRescaled);
    return html`<div class="run-pair">
      ${this.#chart(0, scatter, { head: controls, said })}
      ${this.#chart(1, rescaled ? rankingChart(petzka, titles) : figuredChart(petzka, titles))}
    </div>`;
  }

  /** Before the rescaling, or after it. */
  #side(): TemplateResult {
    const choose = (isRescaled: boolean) => (): void => {
      this.#isRescaled = isRescaled;
      void this.#draw();
    };
    return html`<div class="segments" role="radiogroup" aria-label="Weights">
      ${[false, true].map(
        (isRescaled) =>
          html`<label
            ><input
              type="radio"
              name=${this.#group}
              .checked=${isRescaled === this.#isRescaled}
              @change=${choose(isRescaled)} /><span>${isRescaled ? "rescaled" : "as trained"}</span></label
          >`,
      )}
    </div>`;
  }

  #lines(lines: Lines): TemplateResult {
    const seeds = seedsOf(lines);
    const seed = this.#seed ?? seeds[0] ?? 0;
    const choose = ({ currentTarget }: Event): void => {
      this.#seed = Number((currentTarget as HTMLSelectElement).value);
      void this.#draw();
    };
    const head = html`<span>At the lengths of layers</span
      ><select aria-label="Seed of both minima" @change=${choose}>
        ${seeds.map((each) => html`<option value=${each} .selected=${each === seed}>seed ${each}</option>`)}
      </select>`;
    return html`<div class="run-pair">
      ${this.#chart(0, linesChart(lines, "layer", seed), { head })}${this.#chart(1, linesChart(lines, "filter", seed))}
    </div>`;
  }

  #spaces(spaces: Spaces): TemplateResult {
    const choose = ({ currentTarget }: Event): void => {
      this.#rate = Number((currentTarget as HTMLSelectElement).value);
      void this.#draw();
    };
    const rates = html`<span>By epoch</span
      ><select aria-label="Learning rate of the curves" @change=${choose}>
        ${ratesOf(spaces).map((rate) => html`<option value=${rate} .selected=${rate === this.#rate}>all at ${rate}</option>`)}
      </select>`;
    return html`<div class="run-pair">
      ${this.#chart(0, ratesChart(spaces))}${this.#chart(1, epochsChart(spaces, this.#rate), { head: rates })}
    </div>`;
  }

  /** Charts side by side, two in a row. */
  #pairs(charts: Chart[]): TemplateResult {
    const figures = charts.map((chart, index) => this.#chart(index, chart));
    const rows = figures.flatMap((figure, index) => (index % 2 === 0 ? [[figure, figures[index + 1]]] : []));
    return html`${rows.map((row) => html`<div class="run-pair">${row}</div>`)}`;
  }

  /** One of its charts. */
  #chart(index: number, chart: Chart, { head, said }: { head?: TemplateResult; said?: string } = {}): TemplateResult {
    this.#charts[index] = chart;
    const { title, keys } = chart;
    const taken = takenAlong(() => {
      const now = this.#charts[index];
      return now ? figureOf(now) : null;
    });
    return html`<figure>
      <figcaption class="chart-head" ${taken}>
        <div class="run-controls">${head ?? html`<span>${subscripted(title)}</span>`}</div>
      </figcaption>
      <div class="chart" ${chartIn(chart)}></div>
      <ul class="legend">
        ${keys.map(({ name, drawing }) => html`<li>${drawing()}<span>${subscripted(name)}</span></li>`)}
      </ul>
      ${said ? html`<p class="note">${subscripted(said)}</p>` : nothing}
    </figure>`;
  }
}
