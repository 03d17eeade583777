/** What opens another network than the one on the stage: files, an address, a result that was saved. */

import type { App } from "./app";
import { MODEL } from "./arrival/arrival";
import { fetchArrival } from "./arrival/load";
import { checkChoiceOf } from "./asking";
import { noBend } from "./bends";
import type { Client } from "./client";
import type { Job } from "./jobs";
import { isArrival } from "./kept";
import { deviceOf, type Link, same } from "./link";
import type { Settings } from "./reopen";
import { CLEARED } from "./states";
import { type Task, transformationOf } from "./store";
import type { BackendChoice, LandscapeChoice, OpenChoice, OpenedFiles } from "./worker/protocol";

/** What it has of the page around it. */
interface Page {
  client: Client;
  task: (task: Task, body: (job: Job) => Promise<void>) => Promise<void>;
  startEngine: () => Promise<void>;
  /** Another device, and nothing computed on it yet. */
  computeOn: (backend: BackendChoice) => Promise<void>;
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

  /**
   * What an address says: of the network that comes with the page, or of one that is trained as it was. `shown`: when its settings are on
   * the stage, and what follows from them is still to be computed.
   */
  async link(link: Link, shown: () => void): Promise<void> {
    const { trained, measured, device, trainedOn } = link;
    const { stamp } = this.app.store.state;
    if (link.leavesStage) {
      if (link.spaces) this.app.store.set({ spaces: link.spaces });
      return shown();
    }
    const isHere = !trained && stamp !== null && isArrival(stamp);
    if (!isHere && !(await this.app.mayGo())) return;
    await this.#computeOn(trained ? (trainedOn ?? device) : device);
    this.app.store.set({ look: link.look, ...(link.spaces && { spaces: link.spaces }) });
    if (trained) await this.#trainAgain(trained, link.landscape);
    else {
      if (!isHere) await this.#showArrival();
      const { model, landscapeChoice } = this.app.store.state;
      const samples = measured ?? MODEL.measured;
      if (model && samples !== model.measuredSamples) await this.app.setMeasured(samples);
      if (!same(link.landscape, landscapeChoice)) this.app.setLandscape(link.landscape);
    }
    await this.#computeOn(device);
    const bent = this.#bend(link);
    shown();
    await bent;
    await this.#ask(link);
    this.#sayDevice(device);
  }

  async #bend({ lambda, nodewise, permutation, sharpness, powersOfTwo }: Link): Promise<void> {
    const { store, twin } = this.app;
    const { ready, model, bend, dinh } = store.state;
    if (!ready || !model) return;
    if (powersOfTwo !== dinh.powersOfTwo) store.set({ dinh: { ...dinh, powersOfTwo, sharpened: null } });
    const wanted = { ...bend, nodewise, permutation };
    if (lambda && lambda.length === model.depth) return await twin.setBend({ ...wanted, lambda });
    const isNeutral = transformationOf(bend) === null && transformationOf(wanted) === null;
    if (isNeutral && same(sharpness, store.state.sharpness)) return;
    store.set({ bend: wanted });
    await twin.setSharpness(sharpness);
  }

  /** What whoever made the address had asked for beyond the stage. */
  async #ask({ spectrum, check, asked }: Link): Promise<void> {
    const { store, asking } = this.app;
    const { ready, operators, model, spectrumChoice } = store.state;
    if (!ready || !model) return;
    const isKnown = operators.some(({ name }) => name === spectrum.operator);
    const isPart = !spectrum.part.startsWith("layer_") || Number(spectrum.part.slice("layer_".length)) <= model.depth;
    if (isKnown && isPart && !same(spectrum, spectrumChoice)) asking.setSpectrum(spectrum);
    if (check && model.homogeneous) {
      const checkChoice = checkChoiceOf(store.state, check.range, check.searches);
      store.set({ invariance: null, checkChoice, asked: { ...store.state.asked, check: true } });
    }
    store.set({ asked: { ...store.state.asked, ...asked } });
    if (Object.keys(store.state.asked).length > 0) await this.app.goOn();
  }

  /** On that device from now on, if it is another one; where there is none, on the CPU. */
  async #computeOn(device: Link["device"]): Promise<void> {
    const { engine } = this.app.store.state;
    if (device !== null && device !== (engine && deviceOf(engine.info.backend))) await this.page.computeOn(device);
  }

  /** In place of what says nothing worse. */
  #sayDevice(device: Link["device"]): void {
    const { engine } = this.app.store.state;
    if (device !== "webgpu" || engine?.info.backend !== "cpu" || this.app.messages.code !== null) return;
    this.app.messages.notice(
      "The address was made with WebGPU, which is not available here: going on with the CPU.",
      `Numbers may differ from those that were shared in the digits that a GPU rounds away. ${engine.note ?? ""}`.trim(),
    );
  }

  /** Trains again what a result is of, and bends it as it was. */
  async result({ bend, landscape, ...trained }: Settings): Promise<void> {
    if (!(await this.app.mayGo())) return;
    await this.#trainAgain(trained, landscape);
    if (this.app.store.state.ready && transformationOf(bend)) void this.app.twin.setBend(bend);
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
