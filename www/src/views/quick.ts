/** A row's experiment, run here on little: the button, how far it is, and the drawing of what comes of it. */

import { html, nothing, render } from "lit-html";
import type { DirectiveResult } from "lit-html/directive.js";
import { ref } from "lit-html/directives/ref.js";
import type { App } from "../app";
import { disable } from "../focus";
import { duration, sentence } from "../format";
import type { Quick } from "../gallery/live";
import type { QuickRuns } from "../gallery/quick";
import { QUICK_RUNS } from "../gallery/quick-settings";
import type { Results } from "../gallery/results";
import { GalleryDrawing } from "./gallery-drawing";

export class QuickView {
  readonly #drawing: GalleryDrawing;
  #place: HTMLElement | undefined;

  /** `row`: as the paper calls it. */
  constructor(
    private readonly runs: QuickRuns,
    private readonly row: string,
    private readonly quick: Quick,
    app: App,
  ) {
    // Nothing is drawn before it has been found.
    const found = async <K extends keyof Results>(): Promise<Results[K]> =>
      runs.store.state.found[quick.run] as Results[K];
    this.#drawing = new GalleryDrawing(quick.drawing, app, found);
  }

  /** Where it goes. */
  here(): DirectiveResult {
    return ref((place) => {
      if (!(place instanceof HTMLElement) || place === this.#place) return;
      this.#place = place;
      this.runs.store.watch(["running", "progress", "begun", "found"], () => this.#draw(place));
    });
  }

  #draw(place: HTMLElement): void {
    const { runs, row, quick } = this;
    const { running, progress, found, begun } = runs.store.state;
    const isRunning = running === quick.run;
    const isFound = found[quick.run] !== undefined;
    const share = progress?.fraction ?? null;
    const focused = place.contains(document.activeElement) ? document.activeElement : null;
    const [wasOnBegin, wasOnStop] = [".quick-begin", ".quick-stop"].map((button) => focused?.matches(button) ?? false);
    render(
      html`<div class="row wrap">
          ${
            isFound
              ? nothing
              : html`<button type="button" class="quick-begin" @click=${() => void runs.run(quick.run)}>
                  ${begun.has(quick.run) ? "Go on" : quick.text}<span class="visually-hidden">, ${row}</span>
                </button>`
          }
          <button type="button" class="quick-stop" ?hidden=${!isRunning} @click=${() => runs.stop()}>Stop</button>
          <p class="note">${isRunning ? (progress ? saidOf(progress) : "Beginning…") : this.#says(isFound)}</p>
        </div>
        <progress
          max="1"
          value=${share ?? nothing}
          ?hidden=${!isRunning}
          aria-label="Progress of the quick version of ${row}"
        ></progress>
        <div class="run-drawing" tabindex="-1" ?hidden=${!isFound} ${this.#drawing.here()}></div>`,
      place,
    );
    const find = <T extends HTMLElement>(selector: string): T | null => place.querySelector<T>(selector);
    const begin = find<HTMLButtonElement>(".quick-begin");
    if (begin) disable(begin, running !== null);
    if (isFound) this.#drawing.open();
    // What had the focus is gone: it goes to what is there in its place.
    if (wasOnBegin && isRunning) find(".quick-stop")?.focus({ preventScroll: true });
    if (wasOnStop && !isRunning) (begin ?? find(".run-drawing"))?.focus({ preventScroll: true });
  }

  #says(isFound: boolean): string {
    const { says, seconds } = QUICK_RUNS[this.quick.run];
    return isFound
      ? `Here, quick: ${says}.`
      : `${sentence(says)} ${sentence(`${duration(seconds)} of one core, beside which the lab stays free`)}`;
  }
}

const saidOf = ({ what, left }: { what: string; left: number | null }): string =>
  `${sentence(what)}${left === null ? "" : ` ${sentence(`${duration(left)} left`)}`}`;
