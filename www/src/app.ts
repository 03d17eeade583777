/** What the page can do. Views call these methods; results go into the store, errors to the messages. */

import type { Beginning } from "./arrival/load";
import { noBend } from "./bends";
import { Client } from "./client";
import { Completion } from "./completion";
import { Costs } from "./costs";
import { LabError } from "./errors";
import { Experiments } from "./experiments";
import { History } from "./history";
import { type Job, Jobs } from "./jobs";
import { isArrival, Snapshots, type Step } from "./kept";
import { KeptNetworks } from "./kept-networks";
import type { Link } from "./link";
import type { Messages } from "./messages";
import { ownShelf, Paces } from "./paces";
import { planOf, type Scope } from "./plan";
import { Previews } from "./previews";
import type { Settings } from "./reopen";
import { resultFile } from "./result";
import { Shelf } from "./shelf";
import { arrivedWith, CLEARED, only, withoutResults } from "./states";
import { type Asked, measuresOf, type Store, type Task, transformationOf } from "./store";
import { hasDiverged } from "./training";
import { checkTransformations } from "./transformations";
import { Twin } from "./twin";
import { Progressing } from "./waiting";
import type {
  BackendChoice,
  LandscapeChoice,
  LayerCheck,
  ModelChoice,
  OpenChoice,
  OpenedFiles,
  SaveChoice,
  SavedFile,
  SavedPoint,
  SpectrumChoice,
  TrainChoice,
} from "./worker/protocol";

export class App {
  readonly #client: Client;
  readonly #jobs: Jobs;
  readonly #completion: Completion;
  readonly progressing: Progressing;
  readonly #experiments: Experiments;
  readonly #previews: Previews;
  readonly #kept: KeptNetworks;
  readonly #history: History;
  readonly shelf: Shelf;
  readonly twin: Twin;
  /** Asked before a network that is kept by no name gives way to another one: false leaves all as it is. */
  mayReplace: () => Promise<boolean> = async () => true;
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
    this.progressing = new Progressing(store, new Paces(ownShelf()));
    this.#completion = new Completion(store, this.#client, this.#experiments, this.progressing);
    this.#previews = new Previews(store, this.#client);
    new Snapshots(store);
    this.#kept = new KeptNetworks(store, this.#client, () => this.#previews.forget());
    this.shelf = new Shelf(store);
    this.#history = new History(store, (step) => this.#goTo(step));
    this.shelf.needed = () => this.#history.stamps;
    this.twin = new Twin({
      store,
      previews: this.#previews,
      experiments: this.#experiments,
      task: (task, body) => this.#task(task, body),
      complete: (job) => this.#onlyStage(job),
      everything: (job) => this.#everything(job),
      stop: () => this.#halt(),
    });
    new Costs(store, this.#client);
  }

  /**
   * What was on the page last, or else what the page comes with, or else the network of the options. `introduced`: when what
   * plays on arrival is over.
   */
  async start(choice: ModelChoice, beginning: Promise<Beginning>, introduced: () => Promise<void>): Promise<void> {
    await this.#task("starting", async (job) => {
      const starting = this.#startEngine();
      // Whoever awaits it is told of what goes wrong; until then nobody may be there.
      starting.catch(() => {});
      const first = await beginning;
      if (first.kind !== "none" && first.snapshot) this.store.set({ ...CLEARED, ...first.snapshot, ready: true });
      else if (first.kind === "arrival") this.store.set(arrivedWith(first.arrival));
      if (first.kind !== "arrival") this.store.set({ isWanted: true });
      const over = first.kind === "arrival" && !first.snapshot ? introduced() : undefined;
      await starting;
      if (first.kind === "none" || !(await this.#kept.reinstate(first.stamp, true)))
        return await this.#setModel(choice);
      await over;
      await this.#onlyStage(job);
    });
  }

  /** A network that is kept, with what was known of it. */
  async show(stamp: string): Promise<void> {
    await this.#task("starting", async (job) => {
      await this.#startEngine();
      if (!(await this.#kept.show(stamp))) return this.#isGone();
      await this.#onlyStage(job);
    });
  }

  undo(): Promise<void> {
    return this.#history.undo();
  }

  redo(): Promise<void> {
    return this.#history.redo();
  }

  async #goTo(step: Step): Promise<boolean> {
    let isKept = true;
    await this.#task("looking", async (job) => {
      isKept = await this.#kept.show(step.stamp, step);
      if (!isKept) return this.#isGone();
      await this.#onlyStage(job);
    });
    // One that another step has overtaken is kept as well.
    return isKept;
  }

  #isGone(): void {
    this.messages.error(new LabError("not_possible", "this network is no longer kept in this browser"));
  }

  /** A part has been opened that shows more than the stage does. */
  complete(): void {
    if (this.store.state.isWanted) return;
    this.store.set({ isWanted: true });
    // What runs now goes on to it; what has been paused waits until it is told to.
    if (this.store.state.task === "idle" && !this.store.state.paused) void this.look();
  }

  /** Nobody has asked for more than to look at it. */
  #onlyStage(job: Job): Promise<void> {
    return this.#completion.run(job, () => this.#scope());
  }

  async #everything(job: Job): Promise<void> {
    this.store.set({ isWanted: true });
    await this.#onlyStage(job);
  }

  #scope(asked: Scope["asked"] = []): Scope {
    return { asked, all: this.store.state.isWanted };
  }

  async chooseBackend(choice: BackendChoice): Promise<void> {
    await this.#task("starting", async (job) => {
      this.#previews.forget();
      const engine = await this.#client.call((lab) => lab.startEngine(choice));
      this.store.set({ engine, ...withoutResults(this.store.state) });
      if (engine.note) this.messages.notice("WebGPU is not available here: going on with the CPU.", engine.note);
      if (this.store.state.ready) await this.#everything(job);
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
        ...withoutResults(this.store.state),
        model,
        modelChoice: modelChoice && { ...modelChoice, measured: samples },
      });
      await this.#everything(job);
    });
  }

  /** Files on top of those that are open, or the same ones by another choice. */
  async openFiles(files: File[], choice: OpenChoice): Promise<void> {
    await this.#task("starting", async (job) => {
      await this.#startEngine();
      const opened = await this.#client.call((lab) => lab.openFiles(files, choice));
      await this.#show(job, opened);
    });
  }

  /** What an address says: of the page's own network, or of one that is trained as it was. */
  async openLink({ trained, sharpness, lambda, nodewise, permutation, landscape }: Link): Promise<void> {
    if (trained && !(await this.mayGo())) return;
    if (trained) await this.#trainAgain(trained, landscape);
    else if (JSON.stringify(landscape) !== JSON.stringify(this.store.state.landscapeChoice)) {
      this.setLandscape(landscape);
    }
    const { ready, model, bend } = this.store.state;
    if (!ready || !model) return;
    const units = { nodewise, permutation };
    if (lambda && lambda.length === model.depth) this.twin.setBend({ ...bend, ...units, lambda });
    else {
      if (nodewise || permutation) this.store.set({ bend: { ...bend, ...units } });
      if (sharpness.decades > 0 || nodewise || permutation) this.twin.setSharpness(sharpness);
    }
  }

  /** Trains again what a result is of, and bends it as it was. */
  async openResult({ bend, landscape, ...trained }: Settings): Promise<void> {
    if (!(await this.mayGo())) return;
    await this.#trainAgain(trained, landscape);
    if (this.store.state.ready && transformationOf(bend)) this.twin.setBend(bend);
  }

  /** What was trained somewhere else, with its options; what was not, as it begins. */
  async #trainAgain(
    { model, training }: NonNullable<Link["trained"]>,
    landscapeChoice: LandscapeChoice,
  ): Promise<void> {
    this.store.set({ landscapeChoice, modelChoice: model, trainChoice: training });
    if (training) return await this.train(model, training);
    await this.chooseModel(model);
    await this.look();
  }

  async checkLayers(network: string): Promise<LayerCheck | null> {
    try {
      return await this.#client.call((lab) => lab.checkLayers(network));
    } catch (error) {
      this.#failed(error);
      return null;
    }
  }

  async #show(job: Job, opened: OpenedFiles): Promise<void> {
    const { model, stamp } = opened;
    this.store.set({ opened });
    if (!model) return;
    this.#previews.forget();
    this.store.set({
      ...CLEARED,
      opened,
      stamp,
      model,
      modelChoice: null,
      trainChoice: null,
      bend: noBend(model.depth),
      ready: true,
    });
    await this.#everything(job);
  }

  /** What has been trained here and has no name is not given up without a word. */
  async mayGo(): Promise<boolean> {
    const { stamp, training, ready } = this.store.state;
    if (!ready || !training || stamp === null || isArrival(stamp) || this.shelf.isNamed(stamp)) return true;
    return this.mayReplace();
  }

  /** From the initialisation of `model`; from where it stands if a file is open. */
  async train(model: ModelChoice | null, choice: TrainChoice): Promise<void> {
    await this.#task(
      "training",
      async (job) => {
        if (model) await this.#setModel(model);
        else {
          const { opened } = this.store.state;
          this.store.set({ ...CLEARED, opened, bend: noBend(this.store.state.model?.depth ?? 1) });
        }
        job.checkpoint();
        this.store.set({ isWanted: true, trainChoice: choice });
        const scope = this.#scope();
        const after = planOf({ ...this.store.state, ready: true }, scope);
        const { summary: training, stamp } = await this.progressing.through({ what: "training" }, after, scope, () =>
          this.#client.call((lab) => lab.train(choice)),
        );
        this.store.set({ training, stamp, ready: true });
        // What ran away is looked at when a person wants it: most of it is no number, and would hide the message that says so.
        const { model: trained } = this.store.state;
        if (!training.stopped && !(trained && hasDiverged(training, trained))) await this.#everything(job);
      },
      choice,
    );
  }

  /** Landscape and measures of the point reached, whatever it is. */
  async look(): Promise<void> {
    await this.#task("looking", async (job) => {
      if (this.store.state.stamp === null) this.store.set({ stamp: await this.#client.call((lab) => lab.keep()) });
      this.store.set({ ready: true });
      await this.#everything(job);
    });
  }

  /** A person wants it to rest: what is there stays, and what is not is gone on with by `goOn`. */
  stop(): void {
    const { task } = this.store.state;
    this.#halt();
    if (task !== "idle" && task !== "starting") this.store.set({ paused: true });
  }

  #halt(): void {
    this.#previews.end();
    void this.#jobs.stop();
  }

  /** Goes on with what was stopped: with what is missing of it, and not anew. */
  async goOn(): Promise<void> {
    await this.#task("looking", (job) => this.#completion.run(job, () => this.#unfinished()), null, true);
  }

  #unfinished(): Scope {
    return this.#scope(Object.keys(this.store.state.asked) as (keyof Asked)[]);
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
    if (this.store.state.ready) void this.#task("looking", (job) => this.#everything(job));
  }

  setSpectrum(spectrumChoice: SpectrumChoice): void {
    const { spectrum: _, ...asked } = this.store.state.asked;
    this.store.set({ spectrumChoice, spectra: {}, densities: {}, asked });
  }

  async computeSpectrum(): Promise<void> {
    await this.#ask("spectrum", { spectrum: true });
  }

  async findBoxes(): Promise<void> {
    await this.#ask("sharpening", { boxes: true });
  }

  async findManyEigenvalues(): Promise<void> {
    await this.#ask("sharpening", { many: true });
  }

  async findBall(epsilon: number): Promise<void> {
    await this.#ask("sharpening", { ball: epsilon });
  }

  /** `searches`: with the ascents, which take most of the time. */
  async check(range: number, searches: boolean): Promise<void> {
    await this.#ask("checking", { check: true }, () => {
      const { bend, model } = this.store.state;
      const transformations = checkTransformations(bend, model?.depth ?? 1, range);
      const measures = measuresOf(this.store.state).filter(({ cost }) => searches || cost !== "search");
      this.store.set({ invariance: null, checkChoice: { transformations, keys: measures.map(({ key }) => key) } });
    });
  }

  /** The cells that are still to come, of the maps that the check began with. */
  async continueCheck(): Promise<void> {
    await this.#ask("checking", { check: true });
  }

  async reproduceTable2(): Promise<void> {
    await this.#ask("table2", { table2: true }, () => this.store.set({ table2: null }));
  }

  /** Of the trained weights; what is finished, if it is stopped. Null where it fails, or the page has gone on to something else. */
  async fullReport(): Promise<{ text: string; isWhole: boolean } | null> {
    let report: { text: string; isWhole: boolean } | null = null;
    await this.#task("reporting", async () => {
      const text = await this.progressing.through({ what: "report" }, [], { asked: [], all: false }, () =>
        this.#client.call((lab) => lab.report()),
      );
      report = { text, isWhole: (JSON.parse(text) as { stopped: boolean }).stopped === false };
    });
    return report;
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

  /** For trying out how the page takes a lost worker, a crash of the module, and a lost GPU. */
  kill(): void {
    this.#failed(new LabError("unexpected", "the worker was ended"));
  }

  crash(): Promise<void> {
    return this.#client.tell((lab) => lab.crash());
  }

  loseDevice(): Promise<void> {
    return this.#client.tell((lab) => lab.loseDevice());
  }

  /** `training`: what it begins with; `isContinued`: it goes on with what was stopped. */
  async #task(
    task: Task,
    body: (job: Job) => Promise<void>,
    training: TrainChoice | null = null,
    isContinued = false,
  ): Promise<void> {
    const mine = ++this.#latest;
    this.messages.clear();
    // At once, and not when its turn comes: what must not be pressed now is to be disabled now.
    this.store.set({ task, progress: null, paused: false, ...(!isContinued && { waiting: null }) });
    await this.#jobs.run(async (job) => {
      this.progressing.begin(training, isContinued);
      await body(job);
    });
    if (mine !== this.#latest) return;
    const paused = this.store.state.paused && planOf(this.store.state, this.#unfinished()).length > 0;
    this.progressing.end(paused);
    this.store.set({ task: "idle", progress: null, paused });
  }

  /** What is asked for, then what is missing. */
  #ask(task: Task, asked: Asked, begin = (): void => {}): Promise<void> {
    return this.#task(task, async (job) => {
      begin();
      this.store.set({ asked: { ...this.store.state.asked, ...asked }, isWanted: true });
      const names = Object.keys(asked) as (keyof Asked)[];
      await this.#completion.run(job, () => this.#scope(names));
    });
  }

  /** Also after a start that failed, when the next task tries again. */
  async #startEngine(): Promise<void> {
    if (!this.store.state.engine) {
      // What was kept, or came with the page, may be of another build.
      this.store.set(await this.#client.call((lab) => lab.describe()));
      this.store.set({ engine: await this.#client.call((lab) => lab.startEngine("auto")) });
    }
  }

  async #setModel(modelChoice: ModelChoice): Promise<void> {
    await this.#startEngine();
    this.store.set({ stamp: null });
    this.#previews.forget();
    const model = await this.#client.call((lab) => lab.setModel(modelChoice));
    this.store.set({ ...CLEARED, model, modelChoice, bend: noBend(model.depth) });
  }

  #failed(error: unknown): void {
    this.messages.error(error);
    if (error instanceof LabError && error.code === "unexpected") void this.#recover();
  }

  /** A trap in wasm leaves the worker unusable: a new one takes its place, with the weights that are kept. */
  async #recover(): Promise<void> {
    if (this.#recovering) return;
    this.#recovering = true;
    this.#client.discard();
    const { modelChoice } = this.store.state;
    this.store.set({ engine: null });
    try {
      await this.#startEngine();
      const { stamp } = this.store.state;
      if (stamp !== null && (await this.#kept.reinstate(stamp))) {
        // No more than that: what has brought the worker down is not to be begun by itself.
        void this.#task("bending", (job) => this.#completion.bend(job));
        return;
      }
      this.store.set({ ...CLEARED, model: modelChoice ? this.store.state.model : null });
      if (modelChoice) await this.#setModel(modelChoice);
    } catch {
      // The first message has said what is wrong; the next task will try once more.
    } finally {
      this.#recovering = false;
    }
  }
}
