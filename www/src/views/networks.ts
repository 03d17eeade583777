/** The networks that this browser keeps, side by side. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { repeat } from "lit-html/directives/repeat.js";
import type { App } from "../app";
import { fetchArrival } from "../arrival/load";
import { refusalToRescale } from "../bends";
import { heightsOf } from "../charts/heights";
import { rankingChart } from "../charts/ranking";
import { thumbnail } from "../charts/thumbnail";
import type { Figure } from "../figures/figure";
import { besideFigure } from "../figures/tables";
import { integer, number, percent } from "../format";
import { figureOf } from "../gallery/charts";
import { isArrival, snapshotOf } from "../kept";
import { compared, freeName, type Group, type Known, nameFor } from "../networks-beside";
import { type Contender, flattestOf, type Ranking, rankingOf, saidOf } from "../ranking";
import type { Entry } from "../shelf";
import { arrivedWith, CLEARED } from "../states";
import { NOT_KEPT, trainedFor } from "../training";
import { ask } from "./ask";
import { chartIn } from "./chart-in";
import { watchIn } from "./closed";
import { measureButton } from "./measure-button";
import { place } from "./place";
import { subscripted } from "./subscripted";
import { takenAlong } from "./take-along";

/** More columns cannot be read beside each other. */
const MOST_COMPARED = 8;
/** In powers of ten, the factor by which a rescaling sharpens one layer to see whether the ranking flips. */
const FLIP = 3.5;
const CAPTION =
  "Measures as trained, and of the flattest by the Hessian after its layers were rescaled, which changes no output.";

export class NetworksView {
  readonly #place = place("networks");
  /** Of those that are not on the stage, as far as it is loaded. */
  #known = new Map<string, Known | null>();
  /** The network that comes with the page. */
  #arrival: Entry | undefined;
  #isWanted = false;
  #loads = 0;

  constructor(private readonly app: App) {
    app.store.watch(["shelf", "stamp"], () => void this.#load());
    watchIn(this.#place, app, ["measures", "surfaces", "accuracy", "training", "task", "descriptions"], () =>
      this.#draw(),
    );
  }

  /** The part has been opened. */
  show(): void {
    this.#isWanted = true;
    void this.#load();
  }

  async #load(): Promise<void> {
    if (!this.#isWanted) return;
    this.#draw();
    try {
      this.#arrival ??= await this.#arrivalEntry();
    } catch {
      // Without a server the network that comes with the page is not to be had, and one's own are.
    }
    const mine = ++this.#loads;
    const { stamp } = this.app.store.state;
    const known = new Map<string, Known | null>();
    for (const entry of this.#entries()) {
      if (entry.stamp === stamp) continue;
      const snapshot = await snapshotOf(entry.stamp);
      known.set(entry.stamp, snapshot ?? (isArrival(entry.stamp) ? (this.#known.get(entry.stamp) ?? null) : null));
    }
    if (mine !== this.#loads) return;
    this.#known = known;
    this.#draw();
  }

  async #arrivalEntry(): Promise<Entry> {
    const { arrival, stamp } = await fetchArrival();
    const state = { ...CLEARED, ...arrivedWith(arrival), model: arrival.model };
    this.#known.set(stamp, state);
    const { modelChoice, trainChoice } = arrival;
    const { summary, parameterCount, data } = arrival.model;
    return {
      stamp,
      name: "Comes with the page",
      at: 0,
      summary,
      parameterCount,
      data: modelChoice.data.kind === "mnist" ? "MNIST" : data,
      training: trainChoice,
      testAccuracy: arrival.training.validationAccuracy ?? null,
    };
  }

  #entries(): Entry[] {
    const { shelf } = this.app.store.state;
    return this.#arrival ? [...shelf, this.#arrival] : shelf;
  }

  #of(stamp: string): Known | null {
    const { state } = this.app.store;
    return stamp === state.stamp ? state : (this.#known.get(stamp) ?? null);
  }

  #draw(): void {
    if (!this.#isWanted) return;
    const entries = this.#entries();
    const named = entries.filter(({ name }) => name !== null);
    const others = entries.filter(({ name }) => name === null);
    render(
      html`<div class="side">
          <h2 id="networks-title">Networks</h2>
          <p class="story">
            A sharp minimum beside a flat one, small batches beside large: give a network a name, and it stays in this
            browser with all that was computed of it.
          </p>
        </div>
        <div class="display">
          ${this.#cards("Kept", named)} ${others.length > 0 ? this.#cards("Lately, without a name", others) : nothing}
          ${this.#notKept()}${this.#comparison(entries)}
        </div>`,
      this.#place,
    );
  }

  /** Of the network on the stage, where the browser does not keep it. */
  #notKept(): TemplateResult | typeof nothing {
    const { stamp, training, model, modelChoice } = this.app.store.state;
    const isOwn = training !== null || (model !== null && modelChoice === null);
    return stamp === null && isOwn ? html`<p class="note" id="networks-not-kept">${NOT_KEPT.join(" ")}</p>` : nothing;
  }

  #cards(title: string, entries: Entry[]): TemplateResult {
    const surfaces = entries.flatMap(({ stamp }) => this.#of(stamp)?.surfaces.trained ?? []);
    const heights = heightsOf(surfaces, "log");
    return html`<h3>${title}</h3>
      <ul class="shelf">
        ${repeat(
          entries,
          ({ stamp }) => stamp,
          (entry) => this.#card(entry, heights),
        )}
      </ul>`;
  }

  #card(entry: Entry, heights: ReturnType<typeof heightsOf>): TemplateResult {
    const { stamp, name, summary, parameterCount, data, training, stoppedAt, testAccuracy } = entry;
    const { state } = this.app.store;
    const isShown = stamp === state.stamp;
    const called = name ?? nameFor(entry);
    const surface = this.#of(stamp)?.surfaces.trained;
    const told = [
      `${summary} · ${integer(parameterCount)} parameters`,
      data,
      training && `${training.optimizer}, batches of ${training.batchSize}, ${trainedFor(training.epochs, stoppedAt)}`,
      testAccuracy !== null && `${percent(testAccuracy)} of the test set right`,
    ].filter(Boolean);
    return html`<li class="shelved" data-stamp=${stamp} aria-current=${isShown ? "true" : nothing}>
      <div
        class="shelved-picture"
        ${ref((box) => {
          if (!(box instanceof HTMLElement)) return;
          box.replaceChildren(...(surface ? [thumbnail(surface, heights, `Landscape of ${called}`)] : []));
        })}
      ></div>
      <div class="shelved-words">
        ${
          name === null || isArrival(stamp)
            ? html`<strong>${called}</strong>`
            : html`<input
                type="text"
                maxlength="80"
                aria-label=${`Name of ${called}`}
                .value=${name}
                @change=${({ currentTarget }: Event) => this.#rename(entry, currentTarget as HTMLInputElement)}
              />`
        }
        <p class="note">${told.join(" · ")}</p>
        <div class="row wrap">
          ${
            isShown
              ? html`<span class="point trained">● on the stage</span>`
              : html`<button type="button" @click=${() => void this.app.show(stamp)}>
                  Show<span class="visually-hidden"> ${called}</span>
                </button>`
          }
          ${
            name === null
              ? html`<button type="button" @click=${() => this.#keep(entry)}>
                  Keep<span class="visually-hidden"> ${called}</span>
                </button>`
              : nothing
          }
          ${
            isArrival(stamp) || isShown
              ? nothing
              : html`<button type="button" class="link" @click=${() => void this.#remove(entry)}>
                  Remove<span class="visually-hidden"> ${called}</span>
                </button>`
          }
        </div>
      </div>
    </li>`;
  }

  /** Under a name that one may change at once. */
  #keep(entry: Entry): void {
    void this.app.shelf.name(entry.stamp, freeName(entry, this.app.store.state.shelf));
    const field = [...this.#place.querySelectorAll<HTMLElement>("[data-stamp]")]
      .find(({ dataset }) => dataset.stamp === entry.stamp)
      ?.querySelector("input");
    field?.focus();
    field?.select();
  }

  #rename(entry: Entry, field: HTMLInputElement): void {
    const name = field.value.trim();
    // A network that is kept has a name.
    if (name === "") field.value = entry.name ?? "";
    else void this.app.shelf.name(entry.stamp, name);
  }

  async #remove(entry: Entry): Promise<void> {
    const title = `Remove ${entry.name ?? nameFor(entry)}?`;
    const answers = [
      { text: "Remove it", value: true },
      { text: "Keep it", value: false, isFirst: true },
    ];
    if (!(await ask(title, "Its weights and results go with it, for good.", answers, false))) return;
    const rows = () => [...this.#place.querySelectorAll<HTMLElement>("[data-stamp]")];
    const isOther = ({ dataset }: HTMLElement) => dataset.stamp !== entry.stamp;
    const at = rows().findIndex((row) => !isOther(row));
    await this.app.shelf.remove(entry.stamp);
    // What was pressed is gone: whoever has no mouse goes on beside it.
    const left = rows().filter(isOther);
    left[Math.min(at, left.length - 1)]?.querySelector<HTMLElement>("button, input")?.focus();
  }

  #beside(entries: Entry[]): Entry[] {
    const { stamp } = this.app.store.state;
    return entries.filter((entry) => entry.name !== null || entry.stamp === stamp).slice(0, MOST_COMPARED);
  }

  #comparison(entries: Entry[]): TemplateResult | typeof nothing {
    const { descriptions } = this.app.store.state;
    const beside = this.#beside(entries);
    if (beside.length < 2) {
      return html`<p class="note">Keep a network, train another with other batches or another seed, and their measures stand side by side here.</p>`;
    }
    const groups = compared(
      beside.map((entry) => this.#of(entry.stamp)),
      descriptions,
    );
    const names = beside.map((entry) => entry.name ?? nameFor(entry));
    return html`${this.#ranking(beside)}<div class="chart-head" ${takenAlong(() => this.#figure(), "table")}><h3 id="beside-title">Side by side</h3></div>
      <p class="note">As trained, each on its own samples. The least of a row is set in bold. What is missing is computed when a network is shown and a part is open that needs it.</p>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="beside-title">
        <table class="beside" aria-labelledby="beside-title">
          <thead>
            <tr>
              <th scope="col">Measure</th>
              ${names.map((name) => html`<th scope="col" class="num">${name}</th>`)}
            </tr>
          </thead>
          ${groups.map((group) => rows(group, beside.length))}
        </table>
      </div>`;
  }

  /** Which is flatter, and after a rescaling of the flattest? */
  #ranking(beside: Entry[]): TemplateResult | typeof nothing {
    const contenders = this.#contenders(beside);
    const entry = beside[flattestOf(contenders)];
    if (!entry) return nothing;
    const ranking = rankingOf(contenders, this.app.store.state.descriptions);
    const name = entry.name ?? nameFor(entry);
    const { ready, task } = this.app.store.state;
    return html`<div class="chart-head" ${takenAlong(() => this.#rankingFigure())}>
        <h3 id="ranking-title">The ranking that flips</h3>
      </div>
      <p class="note">
        By the Hessian “${name}” is the flattest of these as trained. Rescale its layers: it computes the same, and is it the flattest
        still?
      </p>
      <div class="row wrap">
        <button
          id="flip"
          type="button"
          ?disabled=${!ready || ["starting", "training"].includes(task)}
          @click=${() => void this.#flip(entry.stamp, beside)}
        >
          Rescale it<span class="visually-hidden"> ${name}</span>
        </button>
      </div>
      ${ranking ? this.#rankingDrawing(ranking) : nothing}`;
  }

  #rankingDrawing(ranking: Ranking): TemplateResult {
    const chart = rankingChart(ranking, CAPTION);
    return html`<div id="ranking" class="chart" ${chartIn(chart)}></div>
      <ul class="legend">
        ${chart.keys.map(({ name, drawing }) => html`<li>${drawing()}<span>${name}</span></li>`)}
      </ul>
      <p id="ranking-said" class="note" role="status">${subscripted(saidOf(ranking))}</p>`;
  }

  #contenders(beside: Entry[]): Contender[] {
    return beside.map((entry) => ({ name: entry.name ?? nameFor(entry), known: this.#of(entry.stamp) }));
  }

  #rankingFigure(): Figure | null {
    const contenders = this.#contenders(this.#beside(this.#entries()));
    const ranking = rankingOf(contenders, this.app.store.state.descriptions);
    return ranking && figureOf(rankingChart(ranking, CAPTION));
  }

  /** On the stage, where its twin is as sharp as the page has it on arrival. */
  async #flip(stamp: string, beside: Entry[]): Promise<void> {
    const { app } = this;
    // What has no name is beside the others only while it is on the stage.
    for (const entry of beside.filter(({ name }) => name === null))
      await app.shelf.name(entry.stamp, freeName(entry, app.store.state.shelf));
    if (app.store.state.stamp !== stamp && !(await app.show(stamp))) return;
    const { stamp: shown, model } = app.store.state;
    if (shown !== stamp || !model) return;
    const refusal = refusalToRescale(model);
    if (refusal) return app.messages.notice("The ranking stays as it is.", refusal);
    await app.twin.setSharpness({ way: "bend", decades: FLIP });
  }

  /** As the table is when it is taken. */
  #figure(): Figure {
    const beside = this.#beside(this.#entries());
    return besideFigure(
      beside,
      beside.map((entry) => this.#of(entry.stamp)),
      this.app.store.state.descriptions,
    );
  }
}

function rows({ title, rows: lines }: Group, columns: number): TemplateResult {
  return html`<tbody>
    <tr class="group">
      <th scope="rowgroup" colspan=${columns + 1}><span class="title">${title}</span></th>
    </tr>
    ${lines.map(
      ({ title, key, values, least }) =>
        html`<tr data-measure=${key}>
          <th scope="row">${key === "accuracy" ? title : measureButton(key, title)}</th>
          ${values.map((value, index) => {
            const text = value === undefined ? "–" : key === "accuracy" ? percent(value) : number(value);
            return html`<td class="num" data-value=${value ?? nothing}>${index === least ? html`<strong>${text}</strong>` : text}</td>`;
          })}
        </tr>`,
    )}
  </tbody>`;
}
