/**
 * Measure × transformation as a heat map: how far each number moved, on a logarithmic scale, with what theory expects and
 * what was found as symbols; the numbers and the tolerance's reasons are in the aside. Cells that are still to come have their
 * place from the beginning.
 */

import type { InvarianceCell } from "isoflat";
import { html, nothing, type TemplateResult } from "lit-html";
import { number } from "../format";
import {
  AGAINST,
  type InvarianceTable,
  type Measure,
  marksOf,
  nameOf,
  type Precision,
  SHOULD_STAND,
  SIGNS,
  TO_COME,
  ticksOf,
  VERDICTS,
} from "../invariance-cells";
import { plain } from "../subscripts";
import { transformationName } from "../transformations";
import { subscripted } from "../views/subscripted";

/** Styles are set as properties: attributes of that name would need more of a page's Content-Security-Policy. */
export class InvarianceGrid {
  /** Whose numbers are in the aside. */
  #chosen: string | null = null;
  /** The one stop of the Tab key in the table. */
  #stop: string | null = null;

  constructor(
    /** A measure's name; `stop`: where the Tab key may stop at it. */
    private readonly name: (measure: Measure, stop: boolean) => unknown,
    /** Renders the template again. */
    private readonly draw: () => void,
  ) {}

  /** Another check has other cells. */
  forget(): void {
    this.#chosen = null;
    this.#stop = null;
  }

  template(table: InvarianceTable): TemplateResult {
    const { transformations, cells, precision, groups } = table;
    const { name } = this;
    const rows = groups.flatMap(({ measures }) => measures);
    const first = rows.flatMap((measure) => transformations.map((_, at) => nameOf({ measure, transformation: at })));
    if (!this.#stop || !cells.has(this.#stop)) this.#stop = first.find((cell) => cells.has(cell)) ?? null;
    const chosen = this.#chosen === null ? undefined : cells.get(this.#chosen);
    const head = transformations.map(
      (transformation) => html`<th scope="col" role="columnheader">${transformationName(transformation)}</th>`,
    );
    const row = (measure: Measure) => html`
      <tr role="row">
        <th scope="row" role="rowheader">${name(measure, false)}</th>
        ${transformations.map((_, column) => {
          const cell = cells.get(nameOf({ measure, transformation: column }));
          return html`<td role="gridcell">${cell ? this.#button(cell, precision, rows, transformations.length) : EMPTY}</td>`;
        })}
      </tr>`;
    return html`
      <div class="grid-and-detail">
        <div id="invariance">
          ${legend(precision)}
          <table class="invariance" role="grid" .style=${`--maps: ${Math.min(transformations.length, MOST_BESIDE)}`} aria-label="Invariance of measures" aria-busy=${String(cells.size < first.length)}>
            <thead><tr role="row"><th role="columnheader">Measure</th>${head}</tr></thead>
            ${groups.map(
              ({ title, measures }) => html`
                <tbody>
                  ${
                    title === ""
                      ? nothing
                      : html`<tr class="group" role="row">
                    <th colspan=${transformations.length + 1} scope="rowgroup" role="rowheader">${title}</th>
                  </tr>`
                  }
                  ${measures.map(row)}
                </tbody>`,
            )}
          </table>
        </div>
        <aside id="cell-detail" aria-live="polite" ?hidden=${!chosen}>${chosen ? this.#detail(chosen, table) : nothing}</aside>
      </div>`;
  }

  #button(cell: InvarianceCell, precision: Precision, rows: Measure[], columns: number): TemplateResult {
    const { symbol, word, heat, change, shouldStand, isAgainst } = marksOf(cell, precision);
    const label = `${word}, relative change ${number(cell.relativeChange, 2)}, ${shouldStand ? "should stand still" : "may change"}`;
    const name = nameOf(cell);
    const choose = () => {
      this.#chosen = name;
      this.#stop = name;
      this.draw();
    };
    return html`<button type="button" tabindex=${name === this.#stop ? 0 : -1} data-cell=${name}
      data-verdict=${cell.verdict} data-expected=${cell.expected} data-agrees=${String(cell.agrees)}
      aria-label=${plain(isAgainst ? `${label}: against theory` : label)}
      .style=${`--heat: ${heat.toFixed(3)}`}
      @focus=${choose} @click=${choose}
      @keydown=${(event: KeyboardEvent) => onKey(event, cell, rows, columns)}
      ><span class="symbol" aria-hidden="true">${symbol}</span><span class="change" aria-hidden="true">${change}</span>${
        isAgainst ? html`<span class="against">${AGAINST}</span>` : nothing
      }</button>`;
  }

  #detail(cell: InvarianceCell, { transformations }: InvarianceTable): TemplateResult {
    const transformation = transformations[cell.transformation];
    const { symbol, word } = VERDICTS[cell.verdict];
    const entry = (name: string, value: string) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
    return html`
      <h4>${this.name(cell.measure, true)}<small>${transformation ? transformationName(transformation) : ""}</small></h4>
      <dl>
        ${entry("before", number(cell.before, 7))}
        ${entry("after", number(cell.after, 7))}
        ${entry("relative change", number(cell.relativeChange, 2))}
        ${entry("tolerance", number(cell.tolerance, 2))}
        ${entry("expected", cell.expected === "invariant" ? "stays the same" : "may change")}
        ${entry("found", `${symbol} ${word}${bearing(cell)}`)}
      </dl>
      <p class="note">${subscripted(cell.reason)}</p>`;
  }
}

/** Of transformations, where the window is narrow. */
const MOST_BESIDE = 4;

const EMPTY = html`<span class="to-come"><span aria-hidden="true">${TO_COME}</span><span class="visually-hidden">still to come</span></span>`;

const STEPS: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** One stop for the Tab key; arrows move within, over what is still to come. */
function onKey(
  event: KeyboardEvent,
  { measure, transformation }: InvarianceCell,
  rows: Measure[],
  columns: number,
): void {
  const step = STEPS[event.key];
  const table = event.currentTarget instanceof Element ? event.currentTarget.closest("table") : null;
  if (!step || !table) return;
  let [row, column] = [rows.indexOf(measure) + step[0], transformation + step[1]];
  for (; row >= 0 && row < rows.length && column >= 0 && column < columns; row += step[0], column += step[1]) {
    const wanted = nameOf({ measure: rows[row] ?? measure, transformation: column });
    const next = table.querySelector<HTMLButtonElement>(`[data-cell="${wanted}"]`);
    if (!next) continue;
    event.preventDefault();
    // Its focus makes it the one that Tab stops at.
    next.focus();
    return;
  }
}

/** What a finding says of theory. */
function bearing({ verdict, agrees }: InvarianceCell): string {
  if (verdict === "unresolved") return "";
  return agrees ? ", as theory says" : ", against theory";
}

/** What colours, symbols and bars mean; also what a reader without colours goes by. */
function legend(precision: Precision): TemplateResult {
  const sign = ({ symbol, meaning }: { symbol: string; meaning: string }) =>
    html`<li><span class="symbol" aria-hidden="true">${symbol}</span>${meaning}</li>`;
  return html`
    <div class="heat-legend">
      <div class="heat-scale">
        <span class="label">relative change</span>
        <span class="ramp" aria-hidden="true"></span>
        <span class="ends">${ticksOf(precision).map(({ at, text }) => html`<span .style=${`--at: ${at}`}>${text}</span>`)}</span>
      </div>
      <ul class="signs">
        ${SIGNS.map(sign)}
        <li><span class="should-mark" aria-hidden="true"></span>${SHOULD_STAND}</li>
        ${sign({ symbol: TO_COME, meaning: "still to come" })}
      </ul>
    </div>`;
}
