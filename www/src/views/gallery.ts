/** The papers, run again: every table and figure with its verdict, a drawing of what is stored of it, and a quick version to be run. */

import "../style/gallery.css";
import { html, nothing, render, type TemplateResult } from "lit-html";
import README from "../../../docs/papers/README.md?raw";
import type { App } from "../app";
import { sentence } from "../format";
import { DRAWINGS, LIVE, type Live, NOT_LIVE, QUICK_HERE } from "../gallery/live";
import { QuickRuns } from "../gallery/quick";
import { counted, type Paper, type Row, readPapers, type Verdict } from "../gallery/rows";
import { listOf, piecesOf } from "../gallery/words";
import { copy } from "./copy";
import { GalleryDrawing } from "./gallery-drawing";
import { place, within } from "./place";
import { QuickView } from "./quick";
import { subscripted } from "./subscripted";

/** Marks that differ in shape, and words beside them: nothing is said by colour alone. */
const SYMBOLS: Record<Verdict, string> = {
  agrees: "✓",
  "agrees in part": "±",
  differs: "✗",
  "cannot say": "?",
  "not run": "–",
};

/** How long it is said that a command was copied, in milliseconds. */
const SAID_MS = 2000;

/** What a row has that is drawn by itself. */
interface Parts {
  drawing: GalleryDrawing | undefined;
  quick: QuickView | undefined;
}

export function galleryView(app: App, gallery: HTMLElement): void {
  const papers = readPapers(README);
  const runs = new QuickRuns(app.messages);
  const parts = new Map<string, Parts>();
  for (const { id, name } of papers.flatMap(({ rows }) => rows)) {
    const [drawing, quick] = [DRAWINGS[id], QUICK_HERE[id]];
    parts.set(id, {
      drawing: drawing && new GalleryDrawing(drawing, app),
      quick: quick && new QuickView(runs, name, quick, app),
    });
  }
  render(
    html`
      <ul class="gallery-counts" aria-label="How many of them agree">
        ${counted(papers).map(
          ({ verdict, count }) => html`<li data-verdict=${verdict}>${badge(verdict)} <b>${count}</b></li>`,
        )}
      </ul>
      ${papers.map((paper) => section(paper, parts))}
    `,
    gallery,
  );
}

const badge = (verdict: Verdict): TemplateResult =>
  html`<span class="verdict"><span class="symbol" aria-hidden="true">${SYMBOLS[verdict]}</span> ${verdict}</span>`;

const said = (text: string): (string | TemplateResult)[] =>
  piecesOf(text).flatMap((piece) => {
    if (typeof piece === "string") return subscripted(piece);
    if ("strong" in piece) return html`<b>${subscripted(piece.strong)}</b>`;
    return "code" in piece ? html`<code>${piece.code}</code>` : html`<em>${piece.stressed}</em>`;
  });

const listed = (words: string[]): string => words.join(", ").replace(/, ([^,]+)$/, " and $1");

function paragraph(text: string): TemplateResult {
  const list = listOf(text);
  if (!list) return html`<p>${said(text)}</p>`;
  const items = list.items.map((item) => html`<li>${said(item)}</li>`);
  return list.isNumbered ? html`<ol>${items}</ol>` : html`<ul>${items}</ul>`;
}

/** Greek letters stay as they are. */
const capital = (text: string): string => text.replace(/^[a-z](?=[a-z ])/, (first) => first.toUpperCase());

const section = ({ id, authors, title, year, rows, notes }: Paper, parts: ReadonlyMap<string, Parts>) =>
  html`<section class="gallery-paper" aria-labelledby="gallery-${id}">
    <h3 id="gallery-${id}">${authors} ${year} <cite>${title}</cite></h3>
    ${rows.map((row) => card(row, parts.get(row.id)))}
    ${notes.map((note) => html`<p class="note">${said(note)}</p>`)}
  </section>`;

function card(row: Row, parts: Parts | undefined): TemplateResult {
  const { id, name, what, paper, here, verdict, why } = row;
  return html`<article class="run-again" id=${id} data-verdict=${verdict} aria-labelledby="${id}-title">
    <div class="run-head">
      <h4 id="${id}-title">${said(name)}</h4>
      ${badge(verdict)}
    </div>
    <p class="run-what">${said(capital(what))}</p>
    <dl class="run-numbers">
      <div><dt>in the paper</dt><dd>${said(paper)}</dd></div>
      ${here === "–" ? nothing : html`<div><dt>here</dt><dd>${said(here)}</dd></div>`}
    </dl>
    ${why === "" ? nothing : html`<p class="run-why">${said(sentence(why))}</p>`}
    ${ways(row, parts)}
  </article>`;
}

function ways(
  { id, name, command, time, more }: Row,
  { drawing, quick }: Partial<Parts> = {},
): TemplateResult | typeof nothing {
  const links = LIVE[id] ?? [];
  const inside = [drawing && "drawing", more.length > 0 && "details", command !== null && "command"].filter(
    (part) => part !== false && part !== undefined,
  );
  const isClosed = inside.length > 0;
  const elsewhere = NOT_LIVE[id];
  const took = time === "" ? nothing : html`<p class="note">${said(capital(time))}</p>`;
  if (!isClosed && links.length === 0 && time === "" && !elsewhere) return nothing;
  const opened = ({ currentTarget }: Event): void => {
    if ((currentTarget as HTMLDetailsElement).open) drawing?.open();
  };
  const closed = html`<details class="options" @toggle=${opened}>
    <summary>${capital(listed(inside))}<span class="visually-hidden">, ${name}</span></summary>
    ${drawing ? html`<div class="run-drawing" ${drawing.here()}></div>` : nothing}
    ${more.length > 0 ? html`<div class="run-more">${more.map(paragraph)}</div>` : nothing}
    ${command === null ? nothing : commandOf(command)} ${took}
  </details>`;
  return html`<div class="run-ways">${isClosed ? closed : took} ${links.map((live) => link(live))}
    ${elsewhere ? html`<p class="note">${said(elsewhere)}</p>` : nothing}
    ${quick ? html`<div class="run-quick" ${quick.here()}></div>` : nothing}
  </div>`;
}

function link({ text, to }: Live): TemplateResult {
  if (to !== "table2" && to !== "table3") return html`<a class="run-live" href=${to}>${subscripted(text)}</a>`;
  // As its own button does, which knows when it may not be pressed.
  const run = (): void => {
    const papers = within(place("papers"));
    papers("h3", `${to}-title`).scrollIntoView({ block: "start" });
    const button = papers("button", `${to}-button`);
    button.focus({ preventScroll: true });
    button.click();
  };
  return html`<button type="button" class="link run-live" @click=${run}>${subscripted(text)}</button>`;
}

function commandOf(command: string): TemplateResult {
  const press = async ({ currentTarget }: Event): Promise<void> => {
    const button = currentTarget as HTMLButtonElement;
    if (!(await copy(command))) return;
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, SAID_MS);
  };
  return html`<div class="run-command">
    <code>${command}</code><button type="button" aria-live="polite" @click=${press}>Copy</button>
  </div>`;
}
