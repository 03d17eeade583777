/** What a measure is: in a sentence, as a formula with its symbols, where it is from, what it takes, and how far to trust it. */

import * as mathml from "virtual:formulas";
import type { MeasureDescription, MeasureValue } from "isoflat";
import { html, nothing, type TemplateResult } from "lit-html";
import { unsafeHTML } from "lit-html/directives/unsafe-html.js";
import { duration, integer, number, sentence } from "../format";
import { FORMULAS, SYMBOLS } from "../formulas";
import { type TermId, termsIn } from "../glossary";
import { costInWords } from "../measure-costs";
import { addressOf, doiOf, REFERENCES, type Reference } from "../references";
import type { State } from "../store";
import { subscripted } from "./subscripted";
import { explained, term } from "./words";

interface Values {
  before: MeasureValue | undefined;
  after: MeasureValue | undefined;
}

/** `seconds`: what it takes at one point on this device; null where too little is known. */
export function aboutMeasure(
  measure: MeasureDescription,
  { model }: State,
  { before, after }: Values,
  seconds: number | null,
): TemplateResult {
  const { key, title, description, paper } = measure;
  const { papers } = FORMULAS[key];
  const trust = [said("As trained", before), said("Bent", after)].filter(Boolean).join(" ");
  const inTitle = termsIn(title);
  const shown: ReadonlySet<TermId> = new Set(termsIn(description));
  return html`<div class="about-measure">
    <div class="about-what">
      <p>${explained(description)}</p>
      ${formulaOf(measure)}
    </div>
    <dl class="about-facts">
      ${papers.length === 0 ? nothing : fact("Paper", html`${papers.map((id) => reference(REFERENCES[id]))}${variant(paper)}`)}
      ${fact("Takes", costOf(costInWords(measure, model), seconds))}
      ${
        inTitle.some((id) => !shown.has(id))
          ? fact("In its name", html`${inTitle.filter((id) => !shown.has(id)).map((id) => html`${term(id)} `)}`)
          : nothing
      }
      ${trust ? fact("Numbers", html`<span class="trust">${trust}</span>`) : nothing}
      ${fact("Key", html`<code>${key}</code>`)}
    </dl>
  </div>`;
}

const fact = (name: string, value: string | TemplateResult): TemplateResult =>
  html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

function formulaOf({ key }: MeasureDescription): TemplateResult {
  return html`<div class="formula" role="group" aria-label="Formula" tabindex="0">${mathml.measures[key].map((part) => html`<span>${unsafeHTML(part)}</span>`)}</div>
    <dl class="symbols">
      ${FORMULAS[key].symbols.map(
        (id) => html`<div><dt>${unsafeHTML(mathml.symbols[id])}</dt><dd>${subscripted(SYMBOLS[id][1])}</dd></div>`,
      )}
    </dl>`;
}

function reference(paper: Reference): TemplateResult {
  const { authors, year, title, venue } = paper;
  return html`<span class="reference"
    >${authors} (${year}): <cite>${title}</cite>${venue ? `, ${venue}` : ""}.
    <a href=${addressOf(paper)} target="_blank" rel="noopener">doi:${doiOf(paper)}</a></span
  >`;
}

/** What the row says beyond the paper's name: a section of it, or what is otherwise here. */
function variant(paper: string): TemplateResult | typeof nothing {
  const last = paper.split(";").at(-1)?.trim() ?? "";
  const more = /\d{4},\s*(.+)$/.exec(last)?.[1] && (paper.includes(";") ? last : last.replace(/^.*?\d{4},\s*/, ""));
  return more ? html`<span class="reference">${sentence(more)}</span>` : nothing;
}

const costOf = (words: string, seconds: number | null): string =>
  sentence(seconds === null ? words : `${words}: ${duration(seconds)} here`);

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
