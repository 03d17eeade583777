/** What the page can do. Views call these methods; results go into the store, errors to the messages. */

import type { Beginning } from "./arrival/load";
import { Asking } from "./asking";
import { noBend } from "./bends";
import { Client } from "./client";
import { Completion } from "./completion";
import { Costs } from "./costs";
import { LabError, lostSaid } from "./errors";
import { Experiments } from "./experiments";
import { History, type Reached } from "./history";
import { type Job, Jobs } from "./jobs";
import { isArrival, Snapshots, type Step } from "./kept";
import { KeptNetworks } from "./kept-networks";
import type { Messages } from "./messages";
import { areProcessorsFew, handsOn, ShortTasks } from "./moments";
import { unfitForMnist } from "./networks";
import { Opener } from "./opener";
import { ownShelf, Paces } from "./paces";
import { awaited, isTrainingNext, planOf, type Scope } from "./plan";
import { Previews } from "./previews";
import { Recovery } from "./recovery";
import { resultFile } from "./result";
import { same } from "./same";
import { Shelf } from "./shelf";
import { arrivedWith, CLEARED, withLandscape, withoutResults } from "./states";
import type { Store, Task } from "./store";
import { Trainings } from "./trainings";
import { Twin } from "./twin";
import { Progressing } from "./waiting";
import type {
  BackendChoice,
  EngineStart,
  LandscapeChoice,
  LayerCheck,
  ModelChoice,
  SaveChoice,
  SavedFile,
  SavedPoint,
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
  readonly #recovery: Recovery;
  readonly shelf: Shelf;
  readonly twin: Twin;
  readonly opener: Opener;
  readonly trainings: Trainings;
  readonly asking: Asking;
  /** Asked before a network that is kept by no name gives way to another one: false leaves all as it is. */
  mayReplace: () => Promise<boolean> = async () => true;
  #latest = 0;
  /** The network of the options, while it is not there yet. */
  #chosen: ModelChoice | null = null;

  constructor(
    readonly store: Store,
    readonly messages: Messages,
  ) {
    this.#client = new Client((event) => {
      if (event.type === "progress") return store.set({ progress: event.progress });
      if (event.type === "rows") return this.#completion.grow(event.point, event.about, event.landscape);
      const said = lostSaid(store.state.engine?.info.backend, event.start.info);
      store.set({ engine: event.start });
      messages.notice(said, event.start.note);
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
    this.shelf.gone = (stamps) => this.#history.forget(stamps);
    this.twin = new Twin({
      client: this.#client,
      store,
      previews: this.#previews,
      task: (task, body) => this.#task(task, body),
      complete: (job) => this.#onlyStage(job),
      everything: (job) => this.#everything(job),
      stop: () => this.#halt(),
    });
    this.#recovery = new Recovery(store, this.#client, this.#kept, {
      startEngine: () => this.#startEngine(),
      setModel: (choice) => this.#setModel(choice),
      back: () => {
        // What a person has begun meanwhile goes on.
        if (this.store.state.task === "idle") void this.#task("bending", (job) => this.#completion.bend(job));
      },
    });
    this.trainings = new Trainings(this, {
      client: this.#client,
      task: (task, body, training) => this.#task(task, body, training),
      startEngine: () => this.#startEngine(),
      setModel: (choice) => this.#setModel(choice),
      scope: () => this.#scope(),
      everything: (job) => this.#everything(job),
      forget: () => this.#forget(),
    });
    this.opener = new Opener(this, {
      client: this.#client,
      task: (task, body) => this.#task(task, body),
      startEngine: () => this.#startEngine(),
      computeOn: (backend) => this.#task("starting", async () => void (await this.#computeOn(backend))),
      measureOn: (samples) => this.#measureOn(samples),
      stage: (job) => this.#onlyStage(job),
      complete: (job) => this.#everything(job),
      forget: () => this.#forget(),
      passing: () => this.passing(),
    });
    this.asking = new Asking(this, {
      client: this.#client,
      task: (task, body) => this.#task(task, body),
      complete: (job, asked) => this.#completion.run(job, () => this.#scope(asked)),
    });
    new Costs(store, this.#client);
  }

  /**
   * What was on the page last, or else what the page comes with, or else the network of the options. `introduced`: when what
   * plays on arrival is over. Resolves to whether nothing else has been begun meanwhile.
   */
  start(choice: ModelChoice, beginning: Promise<Beginning>, introduced: () => Promise<void>): Promise<boolean> {
    void this.trainings.read();
    return this.#task("starting", async (job) => {
      const starting = this.#startEngine(beginning);
      // Whoever awaits it is told of what goes wrong; until then nobody may be there.
      starting.catch(() => {});
      const first = await beginning;
      if (first.kind !== "none") this.#kept.wanted = first.stamp;
      const shown =
        first.kind !== "none" && first.snapshot
          ? { ...CLEARED, ...first.snapshot, ready: true }
          : first.kind === "arrival" && arrivedWith(first.arrival);
      // All parts of the page at once would be deaf for long.
      if (shown) await this.store.setInParts(shown, new ShortTasks());
      if (first.kind !== "arrival") this.store.set({ isWanted: true });
      const over = first.kind === "arrival" && !first.snapshot ? introduced() : undefined;
      await this.#kept.reachable(() => starting);
      // Its data are large: what plays meanwhile would stand still.
      if (over && areProcessorsFew()) await Promise.race([over, handsOn()]);
      if (first.kind === "none" || !(await this.#kept.reinstate(first.stamp, true)))
        return await this.#setModel(choice);
      await over;
      await this.#onlyStage(job);
    });
  }

  /** A network that is kept, with what was known of it. */
  show(stamp: string): Promise<boolean> {
    return this.#task("starting", async (job) => {
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

  /** What the page shows until what is returned is called is no step to come back to. */
  passing(): () => void {
    return this.#history.passing();
  }

  /** As soon as the step is on the stage; what is missing of it is computed then. */
  #goTo(step: Step): Promise<Reached> {
    return new Promise((resolve) => {
      const over = this.#task("looking", async (job) => {
        const isKept = await this.#kept.show(step.stamp, step);
        resolve(isKept ? "shown" : "gone");
        if (!isKept) return this.#isGone();
        await this.#onlyStage(job);
      });
      // Which says nothing new where it has been said.
      void over.then(() => resolve("overtaken"));
    });
  }

  /** What is under way, or on its way to the stage, is of another network. */
  #forget(): void {
    this.#previews.forget();
    this.#kept.wanted = null;
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
    // A network that was chosen just before is made on it.
    const chosen = this.#chosen;
    await this.#choosing(chosen, async (job) => {
      const { note } = await this.#computeOn(choice);
      if (note) this.messages.notice("WebGPU is not available here: going on with the CPU.", note);
      if (chosen) await this.#setModel(chosen);
      else if (this.store.state.ready) await this.#everything(job);
    });
  }

  /** Any other task takes the place of the choice. */
  async #choosing(choice: ModelChoice | null, body: (job: Job) => Promise<void>): Promise<boolean> {
    const over = this.#task("starting", body);
    this.#chosen = choice;
    const isLatest = await over;
    // It is there now, or was refused, or stopped.
    if (isLatest) this.#chosen = null;
    return isLatest;
  }

  async #computeOn(backend: BackendChoice): Promise<EngineStart> {
    this.#previews.forget();
    const engine = await this.#client.call((lab) => lab.startEngine(backend));
    this.store.set({ engine, backend: engine.note ? "cpu" : backend, ...withoutResults(this.store.state) });
    return engine;
  }

  /** A network as it is before training, from the options. */
  chooseModel(choice: ModelChoice): Promise<boolean> {
    return this.#choosing(choice, () => this.#setModel(choice));
  }

  /** The same weights, measured on another number of samples: what was learnt stays. */
  async setMeasured(samples: number): Promise<void> {
    await this.#task("looking", async (job) => {
      await this.#measureOn(samples);
      await this.#everything(job);
    });
  }

  async #measureOn(samples: number): Promise<void> {
    const model = await this.#client.call((lab) => lab.setMeasured(samples));
    const { modelChoice } = this.store.state;
    this.store.set({
      ...withoutResults(this.store.state),
      model,
      modelChoice: modelChoice && { ...modelChoice, measured: samples },
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

  /** What has been trained here and has no name is not given up without a word. */
  async mayGo(): Promise<boolean> {
    const { stamp, training, ready, task, shelf } = this.store.state;
    if (!ready || task === "starting") return true;
    if (stamp === null) return training === null || this.mayReplace();
    const wasTrained = training ?? shelf.find((entry) => entry.stamp === stamp)?.training ?? null;
    return wasTrained === null || isArrival(stamp) || this.shelf.isNamed(stamp) || this.mayReplace();
  }

  /** Landscape and measures of the point reached, whatever it is. `put`: sets what else is on the stage, before. */
  look(put = (): void => {}): Promise<boolean> {
    return this.#task("looking", async (job) => {
      if (this.store.state.stamp === null) this.store.set({ stamp: await this.#client.call((lab) => lab.keep()) });
      this.store.set({ ready: true });
      put();
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

  /** Goes on with what was stopped, be it a training or a look at one. */
  resume(): Promise<void> {
    return isTrainingNext(this.store.state) ? this.trainings.goOn() : this.goOn();
  }

  /** Goes on with what is missing, and not anew. */
  async goOn(): Promise<void> {
    await this.#task("looking", (job) => this.#completion.run(job, () => awaited(this.store.state)), null, true);
  }

  setLandscape(landscapeChoice: LandscapeChoice): void {
    if (same(landscapeChoice, this.store.state.landscapeChoice)) return;
    this.store.set(withLandscape(this.store.state, landscapeChoice));
    // It is what the network of the options is looked at with, once that is there.
    const isNext = this.store.state.ready && this.#chosen === null;
    if (isNext) void this.#task("looking", (job) => this.#everything(job));
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

  /**
   * `training`: what it begins with; `isContinued`: it goes on with what was stopped. Resolves to whether nothing else has been begun
   * meanwhile: whoever has a next step must not take it then, which would end what a person has asked for since.
   */
  async #task(
    task: Task,
    body: (job: Job) => Promise<void>,
    training: TrainChoice | null = null,
    isContinued = false,
  ): Promise<boolean> {
    const mine = ++this.#latest;
    this.#chosen = null;
    this.messages.clear();
    // At once, and not when its turn comes: what must not be pressed now is to be disabled now.
    this.store.set({ task, progress: null, paused: false, ...(!isContinued && { waiting: null }) });
    await this.#jobs.run(async (job) => {
      await this.#recovery.over();
      job.checkpoint();
      this.progressing.begin(training, isContinued);
      await body(job);
    });
    if (mine !== this.#latest) return false;
    const paused = this.store.state.paused && planOf(this.store.state, awaited(this.store.state)).length > 0;
    this.progressing.end(paused);
    this.store.set({ task: "idle", progress: null, paused });
    return true;
  }

  /** Also after a start that failed, when the next task tries again. On what was chosen before a reload, as `beginning` has it. */
  async #startEngine(beginning?: Promise<Beginning>): Promise<void> {
    if (!this.store.state.engine) {
      // What was kept, or came with the page, may be of another build.
      this.store.set(await this.#client.call((lab) => lab.describe()));
      const first = await beginning;
      const { backend } = (first && first.kind !== "none" && first.snapshot) || this.store.state;
      this.store.set({ engine: await this.#client.callHearing((lab) => lab.startEngine(backend)) });
    }
  }

  async #setModel(modelChoice: ModelChoice): Promise<void> {
    // The form offers no such choice; an address may, or a result.
    const unfit = modelChoice.data.kind === "mnist" ? unfitForMnist(modelChoice.network) : null;
    if (unfit !== null) throw new LabError("invalid_problem", unfit);
    await this.#startEngine();
    this.#forget();
    const model = await this.#client.call((lab) => lab.setModel(modelChoice));
    this.store.set({ ...CLEARED, model, modelChoice, bend: noBend(model.depth) });
  }

  #failed(error: unknown): void {
    this.messages.error(error, this.store.state.opened !== null);
    if (error instanceof LabError && error.code === "unexpected") this.#recovery.begin();
  }
}
