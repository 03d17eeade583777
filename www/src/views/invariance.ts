/** The part with the invariance check: what is checked, what came of it, and the table as its cells come. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import { createRef, ref } from "lit-html/directives/ref.js";
import type { App } from "../app";
import { invarianceFigure } from "../figures/invariance";
import { disable } from "../focus";
import { checkOf } from "../invariance-cells";
import { leftOf } from "../plan";
import { same } from "../same";
import type { State } from "../store";
import { checkTransformations, UNIT_RANGE } from "../transformations";
import { watchIn } from "./closed";
import { ESTIMATED, showEstimate } from "./estimate";
import { clearFault, numberIn } from "./fields";
import { place } from "./place";
import { takeAlong } from "./take-along";

const RANGE = { name: "The largest factor of a unit" };
const RIGID = "This network has an activation that is not positively homogeneous: no map leaves what it computes.";

export class InvarianceView {
  readonly #place = place("check");
  readonly #button = createRef<HTMLButtonElement>();
  readonly #goOn = createRef<HTMLButtonElement>();
  readonly #range = createRef<HTMLInputElement>();
  readonly #searches = createRef<HTMLInputElement>();
  readonly #estimate = createRef<HTMLElement>();
  readonly #found = createRef<HTMLElement>();

  constructor(private readonly app: App) {
    render(this.#template(), this.#place);
    watchIn(this.#place, app, ["invariance", "checkChoice", "descriptions", "bend"], () => this.#draw());
    app.store.watch(["ready", "model", "task", "asked", "invariance"], () => this.#showButtons());
    app.store.watch(["checkChoice"], () => this.#write());
    app.store.watch(ESTIMATED, () => this.#showEstimate());
    takeAlong(this.#button.value?.parentElement ?? null, () => invarianceFigure(app.store.state));
  }

  /** Rendered once: what a person has set stays. */
  #template(): TemplateResult {
    const check = () => {
      const input = this.#range.value;
      const range = input ? numberIn(input, RANGE) : null;
      if (range !== null) void this.app.asking.check(range, this.#searches.value?.checked ?? false);
      else input?.focus();
    };
    return html`
      <div class="side">
        <h2 id="check-tab-title">What should stand still, and does it?</h2>
        <p class="story">Four maps that leave every output as it is, the measures before and after, against what theory says. Press a cell for its numbers.</p>
      </div>
      <div class="display">
        <div class="heading plain">
          <div class="row wrap">
            <label class="check"><input id="check-searches" type="checkbox" ${ref(this.#searches)}
              @change=${() => this.#showEstimate()}> with the searches for the highest point (slow)</label>
            <label class="inline">units up to × <input id="check-range" type="number" min=${UNIT_RANGE[0]} max=${UNIT_RANGE[1]} step="any"
              value="10" ${ref(this.#range)}></label>
            <button id="check-button" type="button" disabled ${ref(this.#button)} @click=${check}>Check</button>
            <button id="check-continue" type="button" hidden ${ref(this.#goOn)}
              @click=${() => void this.app.asking.continueCheck()}>Check the rest</button>
          </div>
        </div>
        <p id="check-estimate" class="note estimate" ${ref(this.#estimate)}></p>
        <div ${ref(this.#found)} class="found"></div>
      </div>`;
  }

  /** A reload or an address may have chosen. */
  #write(): void {
    const { checkChoice } = this.app.store.state;
    const { value: range } = this.#range;
    const { value: searches } = this.#searches;
    if (!checkChoice || !range || !searches) return;
    range.value = String(checkChoice.range);
    searches.checked = checkChoice.searches;
    clearFault(range);
  }

  #draw(): void {
    const place = this.#found.value;
    if (!place) return;
    const { state } = this.app.store;
    const { text, agrees } = summary(state);
    const check = state.descriptions.length > 0 ? checkOf(state) : null;
    render(
      html`
        <p id="invariance-summary" class="verdict" role="status" data-agrees=${agrees ?? nothing}>${text}</p>
        <isoflat-invariance explained ?hidden=${!check} .table=${check?.table ?? null} .measures=${check?.measures ?? null}
          .descriptions=${state.descriptions}></isoflat-invariance>`,
      place,
    );
  }

  #showButtons(): void {
    const { ready, model, task, asked } = this.app.store.state;
    const { value: button } = this.#button;
    const { value: goOn } = this.#goOn;
    if (!button || !goOn) return;
    const isPossible = ready && model?.homogeneous === true && !["training", "checking", "starting"].includes(task);
    disable(button, !isPossible);
    button.title = model?.homogeneous === false ? RIGID : "";
    const isCut = isPossible && cellsLeft(this.app.store.state) && !(task !== "idle" && asked.check);
    // Who has pressed it goes on where the check is begun.
    if (!isCut && document.activeElement === goOn) button.focus({ preventScroll: true });
    goOn.hidden = !isCut;
    goOn.title = "Goes on with the cells that are still to come";
  }

  #showEstimate(): void {
    const { value: note } = this.#estimate;
    if (note) showEstimate(this.app, "check", note, { searches: this.#searches.value?.checked ?? false });
  }
}

/** Also after a reload, when what was asked for is forgotten and the cells are there still. */
const cellsLeft = (state: State): boolean =>
  state.invariance !== null && leftOf({ ...state, asked: { check: true } }, "check").length > 0;

/** Is the table of another bend than that of the twin? */
function hasMoved({ checkChoice, bend, model }: State): boolean {
  if (!checkChoice || !model) return false;
  return !same(checkChoice.transformations, checkTransformations(bend, model.depth, checkChoice.range));
}

/** What all cells say together, as far as they are there. */
export function summary(state: State): { text: string; agrees: "true" | "false" | undefined } {
  const { invariance } = state;
  if (!invariance) return { text: "", agrees: undefined };
  const moved = hasMoved(state) ? " The twin has been bent otherwise since: Check is of its bend now." : "";
  const { cells } = invariance;
  const against = cells.filter((cell) => !cell.agrees).length;
  const unresolved = cells.filter((cell) => cell.verdict === "unresolved").length;
  if (cellsLeft(state)) {
    const said = against > 0 ? `${against} of them not as theory says` : "none of them against theory";
    return { text: `${cells.length} verdicts so far, ${said}.${moved}`, agrees: undefined };
  }
  if (against > 0)
    return { text: `✗ ${against} of ${cells.length} verdicts are not as theory says.${moved}`, agrees: "false" };
  const open = unresolved > 0 ? `; ${unresolved} of them unresolved` : "";
  return {
    text: `${unresolved > 0 ? "?" : "✓"} All ${cells.length} verdicts are as theory says${open}.${moved}`,
    agrees: "true",
  };
}
