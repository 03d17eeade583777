/** What the page can do. Views call these methods; results go into the store, errors to the messages. */

import { Client } from "./client";
import { Completion, EPSILON } from "./completion";
import { Costs } from "./costs";
import { LabError } from "./errors";
import { Experiments } from "./experiments";
import { type Job, Jobs } from "./jobs";
import type { Messages } from "./messages";
import { resultFile } from "./result";
import { type Bend, measuresOf, NO_DINH, NO_VALUES, type PerPoint, type State, type Store, type Task } from "./store";
import { checkTransformations } from "./transformations";
import type {
  BackendChoice,
  LandscapeChoice,
  LayerCheck,
  ModelChoice,
  ModelInfo,
  OpenChoice,
  OpenedFiles,
  SaveChoice,
  SavedFile,
  SavedPoint,
  SpectrumChoice,
  TrainChoice,
} from "./worker/protocol";

/** The check computes every trace five times; its tolerance knows the standard error. */
const CHECK_PROBES = 30;

/** A slider sends many values; what it asks for is computed when it rests. */
const REST_DELAY_MS = 200;

const CLEARED = {
  opened: null,
  training: null,
  ready: false,
  bendSummary: null,
  lines: {},
  surfaces: {},
  growing: {},
  measures: NO_VALUES,
  layers: {},
  spectra: {},
  densities: {},
  dinh: NO_DINH,
  invariance: null,
} satisfies Partial<State>;

export class App {
  readonly #client: Client;
  readonly #jobs: Jobs;
  readonly #completion: Completion;
  readonly #experiments: Experiments;
  /** Bending and sharpening begin when their slider rests. */
  #restTimer = 0;
  #recovering = false;
  #latest = 0;

  constructor(
    readonly store: Store,
    readonly messages: Messages,
  ) {
    this.#client = new Client((event) => {
      if (event.type === "progress") return store.set({ progress: event.progress });
      if (event.type === "rows") return this.#completion.grow(event.point, event.about, event.landscape);
      store.set({ engine: event.start });
      messages.notice("The GPU was lost. It has been set up again, and the step begun anew.", event.start.note);
    });
    this.#jobs = new Jobs(this.#client, (error) => this.#failed(error));
    this.#experiments = new Experiments(store, this.#client);
    this.#completion = new Completion(store, this.#client, this.#experiments);
    new Costs(store, this.#client);
  }

  /** What was on the page last, or else the network of the options. */
  async start(choice: ModelChoice): Promise<void> {
    await this.#task("starting", async (job) => {
      await this.#startEngine();
      const restored = await this.#client.call((lab) => lab.restore()).catch(() => null);
      if (restored?.model) await this.#show(job, restored.model, restored.opened);
      else await this.#setModel(choice);
    });
  }

  async chooseBackend(choice: BackendChoice): Promise<void> {
    await this.#task("starting", async (job) => {
      const engine = await this.#client.call((lab) => lab.startEngine(choice));
      this.store.set({ engine, ...this.#withoutResults() });
      if (engine.note) this.messages.notice("WebGPU is not available here: going on with the CPU.", engine.note);
      if (this.store.state.ready) await this.#completion.run(job);
    });
  }

  /** A network as it is before training, from the options. */
  async chooseModel(choice: ModelChoice): Promise<void> {
    await this.#task("starting", () => this.#setModel(choice));
  }

  /** The same weights, measured on another number of samples: what was learnt stays. */
  async setMeasured(samples: number): Promise<void> {
    await this.#task("looking", async (job) => {
      const model = await this.#client.call((lab) => lab.setMeasured(samples));
      const { modelChoice } = this.store.state;
      this.store.set({
        ...this.#withoutResults(),
        model,
        modelChoice: modelChoice && { ...modelChoice, measured: samples },
      });
      await this.#completion.run(job);
    });
  }

  /** Files on top of those that are open, or the same ones by another choice. */
  async openFiles(files: File[], choice: OpenChoice): Promise<void> {
    await this.#task("starting", async (job) => {
      await this.#startEngine();
      const opened = await this.#client.call((lab) => lab.openFiles(files, choice));
      await this.#show(job, opened.model, opened);
    });
  }

  async checkLayers(network: string): Promise<LayerCheck | null> {
    try {
      return await this.#client.call((lab) => lab.checkLayers(network));
    } catch (error) {
      this.#failed(error);
      return null;
    }
  }

  async #show(job: Job, model: ModelInfo | null, opened: OpenedFiles | null): Promise<void> {
    this.store.set({ opened });
    if (!model) return;
    this.store.set({
      ...CLEARED,
      opened,
      model,
      modelChoice: null,
      trainChoice: null,
      bend: noBend(model.depth),
      ready: true,
    });
    await this.#completion.run(job);
  }

  /** From the initialisation of `model`; from where it stands if a file is open. */
  async train(model: ModelChoice | null, choice: TrainChoice): Promise<void> {
    await this.#task("training", async (job) => {
      if (model) await this.#setModel(model);
      else {
        const { opened } = this.store.state;
        this.store.set({ ...CLEARED, opened, bend: noBend(this.store.state.model?.depth ?? 1) });
      }
      job.checkpoint();
      const training = await this.#client.call((lab) => lab.train(choice));
      this.store.set({ training, trainChoice: choice, ready: true });
      if (!training.stopped) await this.#completion.run(job);
    });
  }

  /** Landscape and measures of the point reached, whatever it is. */
  async look(): Promise<void> {
    await this.#task("looking", async (job) => {
      this.store.set({ ready: true });
      await this.#completion.run(job);
    });
  }

  stop(): void {
    clearTimeout(this.#restTimer);
    void this.#jobs.stop();
  }

  setBend(bend: Bend): void {
    const { measures, lines, surfaces, growing, layers, spectra, densities } = this.store.state;
    this.store.set({
      bend,
      bendSummary: null,
      layers: only(layers),
      spectra: only(spectra),
      densities: only(densities),
      lines: only(lines),
      surfaces: only(surfaces),
      growing: only(growing),
      measures: { trained: measures.trained, bent: new Map() },
    });
    clearTimeout(this.#restTimer);
    if (!this.store.state.ready) return;
    this.#restTimer = window.setTimeout(() => {
      void this.#task("bending", (job) => this.#completion.run(job));
    }, REST_DELAY_MS);
  }

  setLandscape(landscapeChoice: LandscapeChoice): void {
    const { atBent, ...now } = landscapeChoice;
    const { atBent: atBentBefore, ...before } = this.store.state.landscapeChoice;
    // The trained point's landscape depends on all but `atBent`.
    const kept = JSON.stringify(now) === JSON.stringify(before) && atBent !== atBentBefore;
    const { lines, surfaces, growing } = this.store.state;
    this.store.set({
      landscapeChoice,
      growing: kept ? only(growing) : {},
      lines: kept ? only(lines) : {},
      surfaces: kept ? only(surfaces) : {},
    });
    if (this.store.state.ready) void this.#task("looking", (job) => this.#completion.run(job));
  }

  setSpectrum(spectrumChoice: SpectrumChoice): void {
    this.store.set({ spectrumChoice, spectra: {}, densities: {} });
  }

  async computeSpectrum(): Promise<void> {
    await this.#ask("spectrum", (job) => this.#experiments.spectrum(job));
  }

  /** As sharp as wanted, with α a power of two or not. */
  setSharpen(decades: number, powersOfTwo: boolean): void {
    this.store.set({ dinh: { ...this.store.state.dinh, decades, powersOfTwo, sharpened: null } });
    clearTimeout(this.#restTimer);
    if (!this.store.state.ready) return;
    this.#restTimer = window.setTimeout(() => {
      void this.#ask("sharpening", (job) => this.#experiments.sharpen(job));
    }, REST_DELAY_MS);
  }

  async findBoxes(): Promise<void> {
    await this.#ask("sharpening", (job) => this.#experiments.boxes(job));
  }

  async findManyEigenvalues(): Promise<void> {
    await this.#ask("sharpening", (job) => this.#experiments.many(job));
  }

  async findBall(epsilon: number): Promise<void> {
    await this.#ask("sharpening", (job) => this.#experiments.ball(job, epsilon));
  }

  /** `searches`: with the ascents, which take most of the time. */
  async check(range: number, searches: boolean): Promise<void> {
    await this.#task("checking", async (job) => {
      const { bend, model } = this.store.state;
      if (!model) return;
      this.store.set({ invariance: null });
      const transformations = checkTransformations(bend, model.depth, range);
      const measures = measuresOf(this.store.state).filter(({ cost }) => searches || cost !== "search");
      const keys = measures.map(({ key }) => key);
      const choice = { keys, epsilon: EPSILON, probes: CHECK_PROBES };
      const invariance = await this.#client.call((lab) => lab.invariance(transformations, choice));
      this.store.set({ invariance });
      await this.#completion.run(job);
    });
  }

  async reproduceTable2(): Promise<void> {
    await this.#task("table2", async (job) => {
      this.store.set({ table2: null });
      this.store.set({ table2: await this.#client.call((lab) => lab.table2()) });
      if (this.store.state.ready) await this.#completion.run(job);
    });
  }

  /** Of the trained weights; what is finished, if it is stopped. Null where it fails, or the page has gone on to something else. */
  async fullReport(): Promise<string | null> {
    let text: string | null = null;
    await this.#task("reporting", async () => {
      text = await this.#client.call((lab) => lab.report());
    });
    return text;
  }

  async savedFile(point: SavedPoint, choice: SaveChoice): Promise<SavedFile | null> {
    try {
      return await this.#client.call((lab) => lab.save(point, choice));
    } catch (error) {
      this.#failed(error);
      return null;
    }
  }

  resultFile(): string {
    return resultFile(this.store.state);
  }

  /** For trying out how the page takes a lost GPU. */
  crash(): Promise<void> {
    return this.#client.tell((lab) => lab.crash());
  }

  loseDevice(): Promise<void> {
    return this.#client.tell((lab) => lab.loseDevice());
  }

  async #task(task: Task, body: (job: Job) => Promise<void>): Promise<void> {
    const mine = ++this.#latest;
    this.messages.clear();
    // At once, and not when its turn comes: what must not be pressed now is to be disabled now.
    this.store.set({ task, progress: null });
    await this.#jobs.run(body);
    if (mine === this.#latest) this.store.set({ task: "idle", progress: null });
  }

  /** What was asked for, then what is missing. */
  #ask(task: Task, body: (job: Job) => Promise<void>): Promise<void> {
    return this.#task(task, async (job) => {
      await body(job);
      await this.#completion.run(job);
    });
  }

  /** Also after a start that failed, when the next task tries again. */
  async #startEngine(): Promise<void> {
    if (this.store.state.descriptions.length === 0) {
      this.store.set(await this.#client.call((lab) => lab.describe()));
    }
    if (!this.store.state.engine) {
      this.store.set({ engine: await this.#client.call((lab) => lab.startEngine("auto")) });
    }
  }

  async #setModel(modelChoice: ModelChoice): Promise<void> {
    await this.#startEngine();
    const model = await this.#client.call((lab) => lab.setModel(modelChoice));
    this.store.set({ ...CLEARED, model, modelChoice, bend: noBend(model.depth) });
  }

  #withoutResults(): Partial<State> {
    const { opened, training, ready } = this.store.state;
    return { ...CLEARED, opened, training, ready };
  }

  #failed(error: unknown): void {
    this.messages.error(error);
    if (error instanceof LabError && error.code === "unexpected") void this.#recover();
  }

  /** A trap in wasm leaves the worker unusable: a new one takes its place, at the same network before training. */
  async #recover(): Promise<void> {
    if (this.#recovering) return;
    this.#recovering = true;
    this.#client.discard();
    const { modelChoice } = this.store.state;
    this.store.set({ ...CLEARED, engine: null, model: modelChoice ? this.store.state.model : null });
    try {
      await this.#startEngine();
      if (modelChoice) await this.#setModel(modelChoice);
    } catch {
      // The first message has said what is wrong; the next task will try once more.
    } finally {
      this.#recovering = false;
    }
  }
}

/** The bent point’s are of another bend. */
function only<T>(values: PerPoint<T>): PerPoint<T> {
  return values.trained ? { trained: values.trained } : {};
}

export function noBend(depth: number): Bend {
  return { lambda: new Array<number>(depth).fill(1), nodewise: null, permutation: null };
}
