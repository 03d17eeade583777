/** Before the work: how long it will take and how much memory, beside the button that begins it. */

import { html, nothing, render } from "lit-html";
import type { App } from "../app";
import { beginsOf, isConstruction } from "../constructions";
import { bytesOf, hint, known, piecesOf, type Training, type Work } from "../estimates";
import { bytes, duration } from "../format";
import type { FullReport } from "../report/report";
import { TABLES } from "../seeds";
import type { Key } from "../store";
import type { AskedWith, Construction } from "../worker/protocol";

const BEGINS: Record<Exclude<Work, Construction>, string> = {
  training: "Training takes",
  landscape: "The landscape takes",
  measures: "All measures at one point take",
  spectrum: "The spectrum of one point takes",
  check: "The check takes",
  report: "The full report takes",
  table2: "These seeds take",
  table3: "These seeds take",
};

/** What the estimates depend on; what has been learnt from work counts as soon as it is over. */
export const ESTIMATED: Key[] = [
  ...(["costs", "model", "descriptions", "landscapeChoice", "spectrumChoice", "task", "dinh"] as const),
  ...TABLES,
];

export interface EstimateOptions {
  training?: Training | null;
  /** Of the check: with the searches for the highest point. */
  searches?: boolean;
  /** Of a report: the one that was stopped, which is gone on with. */
  before?: FullReport | null;
  /** Of a construction. */
  asked?: AskedWith;
  /** Of a table: how many. */
  seeds?: number;
}

/** Fills a view's own paragraph. Of fields that are empty, or wrong, there is nothing to be said. */
export function showEstimate(app: App, work: Work, note: HTMLElement, options: EstimateOptions = {}): void {
  const { training = null, searches = false, before = null, asked, seeds } = options;
  const { state } = app.store;
  const found = work === "training" && training === null ? null : known(state, training);
  if (!found) {
    nothingToSay(note);
    return;
  }
  const nothingThere = { ...state, growing: {} };
  const choice = { searches, before, ...(asked !== undefined && { asked }), ...(seeds && { seeds }) };
  const seconds = piecesOf(work, state, choice).reduce(
    (sum, piece) => sum + (app.progressing.estimate(piece, nothingThere, found.training) ?? Number.NaN),
    0,
  );
  if (!Number.isFinite(seconds)) {
    nothingToSay(note);
    return;
  }
  const estimate = { seconds, ...bytesOf(work, found) };
  const advice = hint(work, estimate);
  note.dataset.seconds = String(seconds);
  note.dataset.bytes = String(estimate.bytes);
  const text = `${isConstruction(work) ? beginsOf(work) : BEGINS[work]} ${duration(seconds)} and ${bytes(estimate.bytes)} of memory.`;
  render(html`${text}${advice ? html`<strong class="hint"> ${advice}</strong>` : nothing}`, note);
}

export function nothingToSay(note: HTMLElement): void {
  render(nothing, note);
  delete note.dataset.seconds;
  delete note.dataset.bytes;
}

/** Keeps the paragraph of another part up to date. */
export function estimateView(app: App, work: Work, note: HTMLElement): void {
  app.store.watch(ESTIMATED, () => showEstimate(app, work, note));
}
