/** What opens another network than the one on the stage: files, an address, a result that was saved. */

import type { App } from "./app";
import { fetchArrival } from "./arrival/load";
import { noBend } from "./bends";
import type { Client } from "./client";
import type { Job } from "./jobs";
import { isArrival } from "./kept";
import type { Link } from "./link";
import type { Settings } from "./reopen";
import { CLEARED } from "./states";
import { type Task, transformationOf } from "./store";
import type { LandscapeChoice, OpenChoice, OpenedFiles } from "./worker/protocol";

/** What it has of the page around it. */
interface Page {
  client: Client;
  task: (task: Task, body: (job: Job) => Promise<void>) => Promise<void>;
  startEngine: () => Promise<void>;
  /** All that the page shows of a network that is new. */
  complete: (job: Job) => Promise<void>;
  /** What is under way is of another network. */
  forget: () => void;
}

export class Opener {
  constructor(
    private readonly app: App,
    private readonly page: Page,
  ) {}

  /** Files on top of those that are open, or the same ones by another choice. */
  async files(files: File[], choice: OpenChoice): Promise<void> {
    if (files.length > 0 && !(await this.app.mayGo())) return;
    await this.page.task("starting", async (job) => {
      await this.page.startEngine();
      const opened = await this.page.client.call((lab) => lab.openFiles(files, choice));
      await this.#show(job, opened);
    });
  }

  /** What an address says: of the network that comes with the page, or of one that is trained as it was. */
  async link({ trained, sharpness, lambda, nodewise, permutation, landscape }: Link): Promise<void> {
    const { stamp, landscapeChoice } = this.app.store.state;
    const isHere = !trained && stamp !== null && isArrival(stamp);
    if (!isHere && !(await this.app.mayGo())) return;
    if (trained) await this.#trainAgain(trained, landscape);
    else {
      if (!isHere) await this.#showArrival();
      if (JSON.stringify(landscape) !== JSON.stringify(landscapeChoice)) this.app.setLandscape(landscape);
    }
    const { ready, model, bend } = this.app.store.state;
    if (!ready || !model) return;
    const units = { nodewise, permutation };
    if (lambda && lambda.length === model.depth) this.app.twin.setBend({ ...bend, ...units, lambda });
    else {
      if (nodewise || permutation) this.app.store.set({ bend: { ...bend, ...units } });
      if (sharpness.decades > 0 || nodewise || permutation) this.app.twin.setSharpness(sharpness);
    }
  }

  /** Trains again what a result is of, and bends it as it was. */
  async result({ bend, landscape, ...trained }: Settings): Promise<void> {
    if (!(await this.app.mayGo())) return;
    await this.#trainAgain(trained, landscape);
    if (this.app.store.state.ready && transformationOf(bend)) this.app.twin.setBend(bend);
  }

  async #showArrival(): Promise<void> {
    try {
      await this.app.show((await fetchArrival()).stamp);
    } catch (error) {
      this.app.messages.error(error);
    }
  }

  /** What was trained somewhere else, with its options; what was not, as it begins. */
  async #trainAgain(
    { model, training }: NonNullable<Link["trained"]>,
    landscapeChoice: LandscapeChoice,
  ): Promise<void> {
    this.app.store.set({ landscapeChoice, modelChoice: model, trainChoice: training });
    if (training) return await this.app.trainings.begin(model, training);
    await this.app.chooseModel(model);
    await this.app.look();
  }

  async #show(job: Job, opened: OpenedFiles): Promise<void> {
    const { model, stamp } = opened;
    this.app.store.set({ opened });
    if (!model) return;
    this.page.forget();
    this.app.store.set({
      ...CLEARED,
      opened,
      stamp,
      model,
      modelChoice: null,
      trainChoice: null,
      bend: noBend(model.depth),
      ready: true,
    });
    await this.page.complete(job);
  }
}
