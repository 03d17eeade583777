/** The full report as a page of its own, to be read and printed. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { createRef, ref } from "lit-html/directives/ref.js";
import type { App } from "../app";
import { download } from "../dom";
import { duration, number } from "../format";
import { doubtsOf, factsOf, missingOf, partsOf, SECTIONS } from "../report/content";
import { plotFigure, tableFigure } from "../report/figures";
import type { Part, ReportTable } from "../report/part";
import {
  type FullReport,
  goesOn,
  keepReport,
  keptReport,
  readReport,
  strangerOf,
  subjectOf,
  textOf,
} from "../report/report";
import { ESTIMATED, showEstimate } from "./estimate";
import { measureButton } from "./measure-button";
import { place } from "./place";
import { subscripted } from "./subscripted";
import { takenAlong } from "./take-along";

const ADDRESS = "#/report";
const partNow = (): string => location.hash.split("?")[0] ?? "";
const isOpen = (): boolean => location.hash.startsWith(ADDRESS);

export class ReportView {
  readonly #place = place("report");
  readonly #title = createRef<HTMLHeadingElement>();
  readonly #estimate = createRef<HTMLElement>();
  readonly #stranger = createRef<HTMLElement>();
  #report: FullReport | null = null;
  #text = "";
  /** Of the weights that it is of; null of a file. */
  #stamp: string | null = null;
  #renderings = 0;
  #offered = "";
  readonly #pageTitle = document.title;

  constructor(private readonly app: App) {
    app.store.watch(["descriptions", "operators"], () => this.#render());
    app.store.watch(["ready", "task", "stamp", "model", "engine"], () => {
      if (!this.#report) this.#render();
      else if (this.#report.stopped && this.#offer() !== this.#offered) this.#render();
      else this.#showStranger();
    });
    app.store.watch(ESTIMATED, () => this.#showEstimate());
    void this.#restore();
  }

  /** Of a whole one, or of what is missing of the one that there is. */
  #showEstimate(): void {
    const { value: note } = this.#estimate;
    if (note) showEstimate(this.app, "report", note, { before: this.#report });
  }

  /** Of one that is kept while another network comes to the stage; the rest of it stays as it is. */
  #showStranger(): void {
    const { value: note } = this.#stranger;
    if (!note || !this.#report) return;
    const said = strangerOf({ report: this.#report, stamp: this.#stamp }, this.app.store.state);
    note.textContent = said === null ? "" : `This report is ${said}.`;
    note.hidden = said === null;
  }

  /** What the one that there is is of, and whether the stage has something else; null where there is none. */
  get about(): string | null {
    if (!this.#report) return null;
    const said = strangerOf({ report: this.#report, stamp: this.#stamp }, this.app.store.state);
    return `of ${subjectOf(this.#report)}${said === null ? "" : `; ${said}`}`;
  }

  /** Shows a report that has just been computed, or opened. */
  show(text: string, stamp: string | null = null): void {
    this.#set(text, readReport("this file", text), stamp);
    void keepReport({ text, stamp });
    if (isOpen()) this.shown();
    else location.hash = ADDRESS;
  }

  /** Computes one of the trained weights; what is finished, if it is stopped. `before`: what is missing of that one. */
  async compute(before: FullReport | null = null): Promise<void> {
    const begun = partNow();
    const found = await this.app.asking.fullReport(before);
    if (!found) return;
    const { report, stamp } = found;
    const text = textOf(report);
    // Who has gone on to something else meanwhile is not taken away from it.
    if (partNow() === begun) this.show(text, stamp);
    else {
      this.#set(text, report, stamp);
      void keepReport({ text, stamp });
      this.app.messages.notice("The full report is there.", "“Open the report” under Keep shows it");
    }
  }

  async #restore(): Promise<void> {
    const kept = await keptReport();
    if (!kept || this.#report) return;
    try {
      this.#report = readReport("the report that was kept", kept.text);
      this.#text = kept.text;
      this.#stamp = kept.stamp;
      this.#render();
      this.#name();
      this.changed();
    } catch {
      // Of another version of the page: there is none, then.
    }
  }

  #set(text: string, report: FullReport, stamp: string | null): void {
    this.#text = text;
    this.#stamp = stamp;
    this.#report = report;
    this.#render();
    this.#name();
    this.changed();
  }

  /** There is another report. */
  changed: () => void = () => {};

  /** Another part is shown, maybe this one. */
  shown(): void {
    this.#name();
    if (!isOpen()) return;
    scrollTo({ top: 0, behavior: "instant" });
    this.#title.value?.focus({ preventScroll: true });
  }

  /** What the window is called, and so what a printed report's file is. */
  #name(): void {
    document.title =
      isOpen() && this.#report ? `isoflat report: ${this.#report.network} on ${this.#report.data}` : this.#pageTitle;
  }

  /** What is said of going on with it. */
  #offer(): string {
    const { state } = this.app.store;
    return this.#report
      ? `${goesOn({ report: this.#report, stamp: this.#stamp }, state)} ${state.task === "reporting"}`
      : "";
  }

  #render(): void {
    this.#offered = this.#offer();
    // Made anew each time, so that no menu is of the report before.
    render(this.#report ? keyed(++this.#renderings, this.#whole(this.#report)) : this.#none(), this.#place);
    this.#showStranger();
    this.#showEstimate();
  }

  #none(): TemplateResult {
    const { ready, task } = this.app.store.state;
    return html`<div class="report">
      <p class="report-ways"><a href="#/keep">← Back to the lab</a></p>
      <h2 id="report-title" tabindex="-1" ${ref(this.#title)}>Full report</h2>
      <p class="story">
        There is none yet. A report says everything that can be said of the trained weights: all measures, spectra, layers,
        sharpness, and how far to trust each. A saved one opens when it is dropped here.
      </p>
      <button type="button" class="primary" ?disabled=${!ready || task === "reporting"} @click=${() => void this.compute()}>
        Compute it
      </button>
      <p class="note estimate" ${ref(this.#estimate)}></p>
    </div>`;
  }

  #whole(report: FullReport): TemplateResult {
    const { descriptions, operators } = this.app.store.state;
    const missing = missingOf(report);
    const doubts = doubtsOf(report, operators);
    return html`<article class="report">
      <p class="report-ways">
        <a href="#/keep">← Back to the lab</a>
        <button type="button" id="report-print" @click=${() => print()}>Print</button>
        <button
          type="button"
          id="report-save"
          @click=${() => download(report.stopped ? "isoflat-report-partial.json" : "isoflat-report.json", this.#text)}
        >
          Save (JSON)
        </button>
      </p>
      <header>
        <h2 id="report-title" tabindex="-1" ${ref(this.#title)}>Full report: ${report.network} on ${report.data}</h2>
        <p class="report-stranger" role="note" hidden ${ref(this.#stranger)}></p>
        <dl class="report-facts">
          ${factsOf(report).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
        </dl>
        ${
          missing.length > 0
            ? html`<p class="report-missing" role="note">
                <strong>It was stopped before its end.</strong> These are missing: ${missing.join(", ")}.
                ${this.#goOn(report)}
              </p>`
            : nothing
        }
      </header>
      ${partsOf(report, { descriptions, operators }).map((part) => this.#part(report, part))}
      <section id="report-trust" aria-labelledby="report-trust-title">
        <h3 id="report-trust-title">How far to trust it</h3>
        ${
          doubts.length > 0
            ? html`<ul class="report-doubts">
                ${doubts.map((doubt) => html`<li>${doubt}</li>`)}
              </ul>`
            : html`<p>Everything that is here has converged, and what was to be verified was.</p>`
        }
        <p class="note">
          <em>Converged</em> means that a value is within its tolerance, by its residual or by the residual’s square over
          the distance to the next value; <em>verified</em>, that a random vector in the
          complement of what was seen has shown that no eigenvalue was missed, as far as one can tell (for one eigenvalue
          at an end, the random start is that vector). A standard error is
          of the mean over random vectors: two of them on either side hold the value 19 times out of 20.
        </p>
        ${this.#times(report)}
      </section>
    </article>`;
  }

  #goOn(report: FullReport): TemplateResult | string {
    const { state } = this.app.store;
    if (!goesOn({ report, stamp: this.#stamp }, state)) {
      return this.#stamp === null
        ? ""
        : "It can be gone on with while its network is on the stage, on the same device and samples.";
    }
    return html`<button type="button" id="report-continue" ?disabled=${state.task === "reporting"}
      @click=${() => void this.compute(report)}>Continue</button>
      <span class="estimate" ${ref(this.#estimate)}></span>`;
  }

  #part(report: FullReport, { id, title, about, plots, tables }: Part): TemplateResult {
    return html`<section id="report-${id}" aria-labelledby="report-${id}-title">
      <h3 id="report-${id}-title">${title}</h3>
      <p>${about}</p>
      ${plots.map((name) => this.#plot(report, name))} ${tables.map((table) => this.#table(report, table))}
    </section>`;
  }

  #plot(report: FullReport, name: "eigenvalues" | "density"): TemplateResult | typeof nothing {
    const figure = plotFigure(report, name);
    if (!figure?.drawing) return nothing;
    const { draw, width, height } = figure.drawing;
    return html`<figure class="report-plot" data-plot=${name}>
      ${draw(width, height)}
      <figcaption class="chart-head" ${takenAlong(() => plotFigure(report, name))}><span>${figure.title}</span></figcaption>
    </figure>`;
  }

  #table(report: FullReport, table: ReportTable): TemplateResult {
    const { name, title, head, rows, measures } = table;
    const kinds = head.map((_, index) => (index > 0 && isNumeric(rows, index) ? "num" : ""));
    return html`<div class="report-table">
      <div class="chart-head" ${takenAlong(() => tableFigure(report, table), "table")}><h4 id="report-table-${name}">${title}</h4></div>
      <div class="scroll" tabindex="0" role="group" aria-label=${`${title}, as a table`}>
        <table class="plain" data-table=${name} aria-labelledby="report-table-${name}">
          <thead>
            <tr>${head.map((text, index) => html`<th scope="col" class=${kinds[index] ?? ""}>${text}</th>`)}</tr>
          </thead>
          <tbody>
            ${rows.map(
              ([first = "", ...rest], row) =>
                html`<tr><th scope="row">${measures ? measureButton(measures[row] ?? "", first) : subscripted(first)}</th>${rest.map((text, index) => html`<td class=${kinds[index + 1] ?? ""} data-label=${head[index + 1] ?? ""}>${text}</td>`)}</tr>`,
            )}
          </tbody>
        </table>
      </div>
    </div>`;
  }

  #times({ sections }: FullReport): TemplateResult {
    const said = sections
      .filter(({ finished }) => finished)
      .map(
        ({ section, seconds }) =>
          `${SECTIONS[section] ?? section} ${seconds < 10 ? `${number(seconds, 2)} s` : duration(seconds)}`,
      );
    return html`<p class="note">Time for each: ${said.join(", ")}.</p>`;
  }
}

/** Numbers stand below each other by their digits, words by their beginnings. */
const isNumeric = (rows: string[][], index: number): boolean =>
  rows.every((row) => /^[\d−∞—±]|^$/.test(row[index] ?? "")) && rows.some((row) => row[index]);
