/** What trains a network, and what goes on with a training that was stopped or broken off. */

import type { App } from "./app";
import { noBend } from "./bends";
import type { Client } from "./client";
import { LabError } from "./errors";
import type { Job } from "./jobs";
import { onChange, runOver, runsAnywhere } from "./other-tabs";
import { planOf, type Scope } from "./plan";
import { CLEARED } from "./states";
import type { Task } from "./store";
import { hasDiverged, NOT_KEPT } from "./training";
import type { ModelChoice, Outcome, TrainChoice, Trained } from "./worker/protocol";
import { type Unfinished, unfinished } from "./worker/unfinished";

type Lab = Parameters<Parameters<Client["call"]>[0]>[0];

/** What it has of the page around it. */
interface Page {
  client: Client;
  /** Resolves to whether nothing else has been begun meanwhile. */
  task: (task: Task, body: (job: Job) => Promise<void>, training: TrainChoice) => Promise<boolean>;
  startEngine: () => Promise<void>;
  setModel: (choice: ModelChoice) => Promise<void>;
  /** What follows on a training. */
  scope: () => Scope;
  everything: (job: Job) => Promise<void>;
  /** What is under way is of another network. */
  forget: () => void;
}

export class Trainings {
  /** Told of a training that goes on, before it does. */
  goesOn: (from: Unfinished) => void = () => {};
  /** Those of other tabs whose end is waited for. */
  readonly #elsewhere = new Set<string>();

  constructor(
    private readonly app: App,
    private readonly page: Page,
  ) {
    onChange("training", () => void this.read());
  }

  /**
   * From the initialisation of `model`; from where it stands if a file is open. `put`: sets what else is on the stage, before what is
   * reached is looked at. Resolves to whether nothing else has been begun meanwhile.
   */
  async begin(model: ModelChoice | null, choice: TrainChoice, put = (): void => {}): Promise<boolean> {
    const { store } = this.app;
    store.set({ unfinished: null });
    const body = async (job: Job): Promise<void> => {
      if (model) await this.page.setModel(model);
      else {
        const { opened, model: there } = store.state;
        store.set({ ...CLEARED, opened, bend: noBend(there?.depth ?? 1) });
      }
      await this.#run(job, choice, (lab) => lab.train(choice), put);
    };
    const isLatest = await this.page.task("training", body, choice);
    await this.read();
    return isLatest;
  }

  /** From its last checkpoint. */
  async goOn(): Promise<void> {
    const { store } = this.app;
    const { unfinished: from, stamp } = store.state;
    if (!from || from.isElsewhere || !(stamp === from.stamp || (await this.app.mayGo()))) return;
    store.set({ unfinished: null });
    const body = async (job: Job): Promise<void> => {
      await this.page.startEngine();
      this.page.forget();
      const resumed = await this.page.client.call((lab) => lab.resume(from.run));
      if (!resumed?.model)
        throw new LabError("not_possible", "this training is no longer kept: it has ended, or another was begun since");
      const { opened, model, choice: modelChoice, training } = resumed;
      store.set({ ...CLEARED, opened, model, modelChoice, trainChoice: training, bend: noBend(model.depth) });
      this.goesOn(from);
      await this.#run(job, training, (lab) => lab.goOn());
    };
    await this.page.task("training", body, from.choice);
    await this.read();
  }

  /** What a worker has kept of a training that has come to no end: this tab's, or another one's. */
  async read(): Promise<void> {
    const { store } = this.app;
    const found = await unfinished();
    const isElsewhere = found !== null && (await runsAnywhere(found.run));
    if (isElsewhere) void this.#await(found.run);
    // Of its own one there is nothing to be said while it runs; of others there is while what follows on its own is computed.
    if (store.state.task !== "training" || store.state.training !== null)
      store.set({ unfinished: found && { ...found, isElsewhere } });
  }

  /** Looks again when another tab has come to the end of it, has stopped it, or is gone. */
  async #await(run: string): Promise<void> {
    if (this.#elsewhere.has(run)) return;
    this.#elsewhere.add(run);
    await runOver(run);
    this.#elsewhere.delete(run);
    await this.read();
  }

  async #run(
    job: Job,
    choice: TrainChoice,
    run: (lab: Lab) => Promise<Outcome<Trained>>,
    put = (): void => {},
  ): Promise<void> {
    const { store, progressing, messages } = this.app;
    job.checkpoint();
    store.set({ isWanted: true, trainChoice: choice });
    const scope = this.page.scope();
    const after = planOf({ ...store.state, ready: true }, scope);
    const train = () => this.page.client.call(run);
    const { summary: training, way, stamp } = await progressing.through({ what: "training" }, after, scope, train);
    store.set({ training, way, stamp, ready: true });
    put();
    if (stamp === null) messages.notice(...NOT_KEPT);
    // It has come to something: to wait for what follows would leave *Continue* out of sight.
    await this.read();
    // What ran away is looked at when a person wants it: most of it is no number, and would hide the message that says so.
    const { model } = store.state;
    if (!training.stopped && !(model && hasDiverged(training, model))) await this.page.everything(job);
  }
}
