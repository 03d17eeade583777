/** What opens another network than the one on the stage: files, an address, a result that was saved. */

import type { App } from "./app";
import { MODEL } from "./arrival/arrival";
import { fetchArrival } from "./arrival/load";
import { checkChoiceOf } from "./asking";
import { decadesOf, noBend } from "./bends";
import type { Client } from "./client";
import { LabError } from "./errors";
import { sentence } from "./format";
import type { Job } from "./jobs";
import { isArrival } from "./kept";
import { deviceOf, type Link, noSpectrum } from "./link";
import type { Settings } from "./reopen";
import { same } from "./same";
import { CLEARED, withLandscape } from "./states";
import { type Sharpness, type Task, transformationOf } from "./store";
import type { BackendChoice, LandscapeChoice, OpenChoice, OpenedFiles } from "./worker/protocol";

/** What it has of the page around it. */
interface Page {
  client: Client;
  /** Resolves to whether nothing else has been begun meanwhile. */
  task: (task: Task, body: (job: Job) => Promise<void>) => Promise<boolean>;
  startEngine: () => Promise<void>;
  /** Another device, and nothing computed on it yet. */
  computeOn: (backend: BackendChoice) => Promise<boolean>;
  /** The same weights on another number of samples, and nothing computed of them yet. */
  measureOn: (samples: number) => Promise<void>;
  /** What the stage shows, and more where a part is open that does. */
  stage: (job: Job) => Promise<void>;
  /** All that the page shows of a network that is new. */
  complete: (job: Job) => Promise<void>;
  /** What is under way is of another network. */
  forget: () => void;
  /** What the page shows until this is over is no step to come back to. */
  passing: () => () => void;
}

/** An address may be of any length, and in a message so much of it is known again. */
const cut = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

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
      const opened = await this.page.client
        .call((lab) => lab.openFiles(files, choice))
        .catch((error: unknown) => {
          throw error instanceof LabError ? new LabError(error.code, error.message, true) : error;
        });
      await this.#show(job, opened);
    });
  }

  /**
   * What an address says: of the network that comes with the page, or of one that is trained as it was. `shown`: when its settings are on
   * the stage, and what follows from them is still to be computed.
   */
  async link(link: Link, shown: () => void): Promise<void> {
    const { stamp } = this.app.store.state;
    if (link.leavesStage) {
      if (link.spaces) this.app.store.set({ spaces: link.spaces });
      this.#sayOtherwise(link);
      return shown();
    }
    const isHere = !link.trained && stamp !== null && isArrival(stamp);
    if (!isHere && !(await this.app.mayGo())) return;
    const passed = this.page.passing();
    const put = (): void => {
      this.#put(link);
      passed();
      shown();
    };
    try {
      if (!(await this.#carryOut(link, isHere, put))) return;
    } finally {
      passed();
    }
    const over = this.#ask(link);
    // While that is computed, which may take long.
    this.#sayOtherwise(link);
    await over;
  }

  /** Resolves to whether nothing else has been begun meanwhile, at each step of it: the next one would end that. */
  async #carryOut(link: Link, isHere: boolean, put: () => void): Promise<boolean> {
    const { trained, measured, device, trainedOn } = link;
    if (!(await this.#computeOn(trained ? (trainedOn ?? device) : device))) return false;
    this.app.store.set({ look: link.look, ...(link.spaces && { spaces: link.spaces }) });
    if (trained) {
      if (!(await this.#trainAgain(trained, link.landscape, put))) return false;
      return !trainedOn || !this.#isOther(device) || ((await this.#computeOn(device)) && (await this.app.look()));
    }
    return (isHere || (await this.#showArrival())) && (await this.#showAs(measured ?? MODEL.measured, put));
  }

  /** The network that is there as an address has it, measured on so many samples. */
  #showAs(samples: number, put: () => void): Promise<boolean> {
    return this.page.task("looking", async (job) => {
      const { model } = this.app.store.state;
      if (model && samples !== model.measuredSamples) await this.page.measureOn(samples);
      put();
      await this.page.stage(job);
    });
  }

  /** Landscape and twin as an address has them; of what is there already all results stay. */
  #put({ landscape, lambda, nodewise, permutation, sharpness, powersOfTwo }: Link): void {
    const { store, twin } = this.app;
    const { ready, model, dinh, landscapeChoice } = store.state;
    if (!ready || !model) return;
    if (!same(landscape, landscapeChoice)) store.set(withLandscape(store.state, landscape));
    if (powersOfTwo !== dinh.powersOfTwo) store.set({ dinh: { ...dinh, powersOfTwo, sharpened: null, many: null } });
    const rest = { ...store.state.bend, nodewise, permutation };
    const isWhole = lambda !== null && lambda.length === model.depth;
    const bend = isWhole ? { ...rest, lambda } : { ...rest, lambda: twin.lambdaAt(sharpness) };
    const at: Sharpness = isWhole ? { way: "bend", decades: decadesOf(bend) } : sharpness;
    if (!same(bend, store.state.bend) || !same(at, store.state.sharpness)) twin.put(bend, at);
  }

  /** What whoever made the address had asked for beyond the stage. */
  async #ask({ spectrum, check, asked }: Link): Promise<void> {
    const { store, asking } = this.app;
    const { ready, operators, model, spectrumChoice } = store.state;
    if (!ready || !model) return;
    if (noSpectrum(spectrum, operators, model.depth) === null && !same(spectrum, spectrumChoice))
      asking.setSpectrum(spectrum);
    if (check && model.homogeneous) {
      const checkChoice = checkChoiceOf(store.state, check.range, check.searches);
      store.set({ invariance: null, checkChoice, asked: { ...store.state.asked, check: true } });
    }
    store.set({ asked: { ...store.state.asked, ...asked } });
    // What has been paused waits until it is told to go on.
    if (Object.keys(store.state.asked).length > 0 && !store.state.paused) await this.app.goOn();
  }

  /** On that device from now on, if it is another one; where there is none, on the CPU. */
  async #computeOn(device: Link["device"]): Promise<boolean> {
    return device === null || !this.#isOther(device) || (await this.page.computeOn(device));
  }

  #isOther(device: Link["device"]): boolean {
    const { engine } = this.app.store.state;
    return device !== null && device !== (engine && deviceOf(engine.info.backend));
  }

  /** What is not as the address has it, in place of what says nothing worse. */
  #sayOtherwise({ device, spectrum, unread }: Link): void {
    const { messages, store } = this.app;
    const { engine, operators, model } = store.state;
    if (messages.code !== null) return;
    const refusal = model && noSpectrum(spectrum, operators, model.depth);
    const said = [
      unread.length > 0 && `Left out of the address, since it cannot be read: ${unread.map(cut).join(", ")}.`,
      refusal && `${refusal}: it stays as it is chosen under Spectrum.`,
    ]
      .filter(Boolean)
      .join(" ");
    if (device !== "webgpu" || engine?.info.backend !== "cpu") {
      if (said) messages.notice(said);
      return;
    }
    const note = engine.note ? sentence(engine.note) : "";
    messages.notice(
      "The address was made with WebGPU, which is not available here: going on with the CPU.",
      ["Numbers may differ from those that were shared in the digits that a GPU rounds away.", note, said]
        .join(" ")
        .trim(),
    );
  }

  /** Trains again what a result is of, and bends it as it was. */
  async result({ bend, landscape, ...trained }: Settings): Promise<void> {
    if (!(await this.app.mayGo())) return;
    const put = (): void => {
      if (transformationOf(bend)) this.app.twin.put(bend, { way: "bend", decades: decadesOf(bend) });
    };
    await this.#trainAgain(trained, landscape, put);
  }

  async #showArrival(): Promise<boolean> {
    try {
      return await this.app.show((await fetchArrival()).stamp);
    } catch (error) {
      this.app.messages.error(error);
      return true;
    }
  }

  /** What was trained somewhere else, with its options; what was not, as it begins. */
  async #trainAgain(
    { model, training }: NonNullable<Link["trained"]>,
    landscapeChoice: LandscapeChoice,
    put: () => void,
  ): Promise<boolean> {
    const { store, messages } = this.app;
    const { landscapeChoice: landscape, modelChoice, trainChoice, model: there } = store.state;
    const before = { landscapeChoice: landscape, modelChoice, trainChoice };
    store.set({ landscapeChoice, modelChoice: model, trainChoice: training });
    const isLatest = training
      ? await this.app.trainings.begin(model, training, put)
      : await this.app.chooseModel(model);
    // What cannot be made is said, and the form is of what is on the stage.
    if (isLatest && messages.code !== null && store.state.model === there) store.set(before);
    if (!isLatest || messages.code !== null) return false;
    return training !== null || (await this.app.look(put));
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
