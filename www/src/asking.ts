/** What a person asks for beyond what the stage shows: the spectrum, Dinh's findings, the check, the papers' table, a report. */

import type { PowerPoint } from "isoflat";
import type { App } from "./app";
import type { Client } from "./client";
import { VERSION } from "./figures/version";
import type { Job } from "./jobs";
import { type FullReport, joined, missingSections, reportPiece, withOrigin } from "./report/report";
import { keptOf, type TableName } from "./seeds";
import { type Asked, type CheckChoice, measuresOf, type State, type Task } from "./store";
import { checkTransformations } from "./transformations";
import type {
  Constructed,
  Construction,
  LossPoint,
  NeighboursFound,
  PowerChoice,
  SpectrumChoice,
} from "./worker/protocol";

/** What it has of the page around it. */
interface Page {
  client: Client;
  task: (task: Task, body: (job: Job) => Promise<void>) => Promise<boolean>;
  /** What is missing, what has just been asked for before all else. */
  complete: (job: Job, asked: (keyof Asked)[]) => Promise<void>;
}

export class Asking {
  constructor(
    private readonly app: App,
    private readonly page: Page,
  ) {}

  setSpectrum(spectrumChoice: SpectrumChoice): void {
    const { store } = this.app;
    const { spectrum: _, ...asked } = store.state.asked;
    store.set({ spectrumChoice, spectra: {}, densities: {}, asked });
  }

  async computeSpectrum(): Promise<void> {
    await this.#ask("spectrum", { spectrum: true });
  }

  /** One of Dinh's constructions. */
  async construct<K extends Construction>(what: K, asked: Constructed[K]["asked"]): Promise<void> {
    await this.#ask("sharpening", { [what]: asked });
  }

  /** At any time: whatever runs goes on. */
  powerMap(choice: PowerChoice, points: LossPoint[]): Promise<PowerPoint[]> {
    return this.page.client.call((lab) => lab.powerMap(choice, points));
  }

  async check(range: number, searches: boolean): Promise<void> {
    const { store } = this.app;
    await this.#ask("checking", { check: true }, () => {
      store.set({ invariance: null, checkChoice: checkChoiceOf(store.state, range, searches) });
    });
  }

  /** The cells that are still to come, of the maps that the check began with. */
  async continueCheck(): Promise<void> {
    await this.#ask("checking", { check: true });
  }

  /** Of so many seeds. Those that are there stay, where there are fewer. */
  async reproduce(table: TableName, seeds: number): Promise<void> {
    const { store } = this.app;
    await this.#ask(table, { [table]: seeds }, () => {
      const { engine } = store.state;
      store.set({ [table]: keptOf(store.state[table], seeds, engine?.info) });
    });
  }

  /** Beside all tasks: a moment's work, on an engine of its own. */
  neighbours(epsilons: number[], delta: number): Promise<NeighboursFound[]> {
    return this.page.client.call((lab) => lab.neighbours(epsilons, delta));
  }

  /**
   * Of the trained weights, and under which stamp they are kept; what is finished, if it is stopped, and of one that was stopped
   * `before` what is missing. Null where it fails, or the page has gone on to something else.
   */
  async fullReport(before: FullReport | null): Promise<{ report: FullReport; stamp: string | null } | null> {
    const { store } = this.app;
    let found: { report: FullReport; stamp: string | null } | null = null;
    const isLatest = await this.page.task("reporting", async () => {
      // Not before: who is quick asks while the page still brings its network back, and its stamp comes with it.
      const { trainChoice: choice, training, stamp } = store.state;
      const text = await this.app.progressing.through(
        reportPiece(store.state, before),
        [],
        { asked: [], all: false },
        () => this.page.client.call((lab) => lab.report(before && missingSections(before))),
      );
      const report = withOrigin(text, {
        date: new Date().toISOString(),
        isoflatVersion: VERSION,
        training: choice && training && { choice, stopped: training.stopped },
      });
      found = { report: before ? joined(before, report) : report, stamp };
    });
    // Stop hands over what is there; something else that was begun has cut it off, and nobody has asked for a part of it.
    return isLatest ? found : null;
  }

  /** What is asked for, then what is missing. */
  async #ask(task: Task, asked: Asked, begin = (): void => {}): Promise<void> {
    const { store } = this.app;
    await this.page.task(task, async (job) => {
      begin();
      store.set({ asked: { ...store.state.asked, ...asked }, isWanted: true });
      await this.page.complete(job, Object.keys(asked) as (keyof Asked)[]);
    });
  }
}

/** Of the bend that there is. */
export function checkChoiceOf(state: State, range: number, searches: boolean): CheckChoice {
  const { bend, model } = state;
  const measures = measuresOf(state).filter(({ cost }) => searches || cost !== "search");
  const transformations = checkTransformations(bend, model?.depth ?? 1, range);
  return { range, searches, transformations, keys: measures.map(({ key }) => key) };
}
