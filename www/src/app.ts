/** What the page can do. Views call these methods; results go into the store, errors to the messages. */

import type { Landscape, MeasureKey } from "isoflat";
import { Client } from "./client";
import { LabError } from "./errors";
import { type Job, Jobs } from "./jobs";
import type { Messages } from "./messages";
import { resultFile } from "./result";
import { type Bend, measuredKeys, NO_VALUES, type State, type Store, type Task, transformationOf } from "./store";
import { checkTransformations } from "./transformations";
import type {
  BackendChoice,
  DataChoice,
  LandscapeChoice,
  ModelChoice,
  Point,
  SampleCosts,
  TrainChoice,
} from "./worker/protocol";

const EPSILON = 1e-3;
const PROBES = 100;
/** The check computes every trace five times; its tolerance knows the standard error. */
const CHECK_PROBES = 30;

/** Parameters above which a trial run of one sample takes more than a moment. */
const LARGE_NETWORK = 5e6;
/** As many as the worker tries at most. */
const TRIAL_SAMPLES = 32;

/** A slider sends many values; the weights are bent when it rests. */
const BEND_DELAY_MS = 200;

const CLEARED = {
  training: null,
  ready: false,
  bendSummary: null,
  lines: {},
  surfaces: {},
  growing: {},
  measures: NO_VALUES,
  invariance: null,
} satisfies Partial<State>;

type Lab = Parameters<Parameters<Client["call"]>[0]>[0];

export class App {
  readonly #client: Client;
  readonly #jobs: Jobs;
  #bendTimer = 0;
  #recovering = false;
  #latest = 0;
  /** The network and device that the costs are of, or are being asked for. */
  #costsOf = "";
  #scout: Client | undefined;

  constructor(
    readonly store: Store,
    readonly messages: Messages,
  ) {
    this.#client = new Client((event) => {
      if (event.type === "progress") return store.set({ progress: event.progress });
      if (event.type === "rows") return this.#grow(event.point, event.about, event.landscape);
      store.set({ engine: event.start });
      messages.notice("The GPU was lost. It has been set up again, and the step begun anew.", event.start.note);
    });
    this.#jobs = new Jobs(this.#client, (error) => this.#failed(error));
    store.watch(["model", "engine"], () => void this.#estimate());
  }

  async start(choice: ModelChoice): Promise<void> {
    await this.#task("starting", async () => {
      await this.#setModel(choice);
    });
  }

  async chooseBackend(choice: BackendChoice): Promise<void> {
    await this.#task("starting", async (job) => {
      const engine = await this.#client.call((lab) => lab.startEngine(choice));
      this.store.set({ engine, ...this.#withoutResults() });
      if (engine.note) this.messages.notice("WebGPU is not available here: going on with the CPU.", engine.note);
      await this.#complete(job);
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
      await this.#complete(job);
    });
  }

  async openFile(file: File): Promise<void> {
    await this.#task("starting", async (job) => {
      await this.#startEngine();
      const text = await file.text();
      const model = await this.#client.call((lab) => lab.openProblem(text, file.name));
      this.store.set({
        ...CLEARED,
        model,
        modelChoice: null,
        trainChoice: null,
        bend: noBend(model.depth),
        ready: true,
      });
      await this.#complete(job);
    });
  }

  /** From the initialisation of `model`; from where it stands if a file is open. */
  async train(model: ModelChoice | null, choice: TrainChoice): Promise<void> {
    await this.#task("training", async (job) => {
      if (model) await this.#setModel(model);
      else this.store.set({ ...CLEARED, bend: noBend(this.store.state.model?.depth ?? 1) });
      job.checkpoint();
      const training = await this.#client.call((lab) => lab.train(choice));
      this.store.set({ training, trainChoice: choice, ready: true });
      if (!training.stopped) await this.#complete(job);
    });
  }

  /** Landscape and measures of the point reached, whatever it is. */
  async look(): Promise<void> {
    await this.#task("looking", async (job) => {
      this.store.set({ ready: true });
      await this.#complete(job);
    });
  }

  stop(): void {
    clearTimeout(this.#bendTimer);
    void this.#jobs.stop();
  }

  setBend(bend: Bend): void {
    const { measures, lines, surfaces, growing } = this.store.state;
    this.store.set({
      bend,
      bendSummary: null,
      lines: only(lines),
      surfaces: only(surfaces),
      growing: only(growing),
      measures: { trained: measures.trained, bent: new Map() },
    });
    clearTimeout(this.#bendTimer);
    if (!this.store.state.ready) return;
    this.#bendTimer = window.setTimeout(() => {
      void this.#task("bending", (job) => this.#complete(job));
    }, BEND_DELAY_MS);
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
    if (this.store.state.ready) void this.#task("looking", (job) => this.#complete(job));
  }

  async check(range: number): Promise<void> {
    await this.#task("checking", async (job) => {
      const { bend, model } = this.store.state;
      if (!model) return;
      this.store.set({ invariance: null });
      const transformations = checkTransformations(bend, model.depth, range);
      const choice = { epsilon: EPSILON, probes: CHECK_PROBES };
      const invariance = await this.#client.call((lab) => lab.invariance(transformations, choice));
      this.store.set({ invariance });
      await this.#complete(job);
    });
  }

  async reproduceTable2(): Promise<void> {
    await this.#task("table2", async (job) => {
      this.store.set({ table2: null });
      this.store.set({ table2: await this.#client.call((lab) => lab.table2()) });
      if (this.store.state.ready) await this.#complete(job);
    });
  }

  async problemFile(point: Point): Promise<string | null> {
    try {
      return await this.#client.call((lab) => lab.saveProblem(point));
    } catch (error) {
      this.#failed(error);
      return null;
    }
  }

  resultFile(): string {
    return resultFile(this.store.state);
  }

  /** For trying out how the page takes a lost GPU. */
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

  /** Also after a start that failed, when the next task tries again. */
  async #startEngine(): Promise<void> {
    if (this.store.state.descriptions.length === 0) {
      this.store.set({ descriptions: await this.#client.call((lab) => lab.describe()) });
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

  /** Computes what is not there yet, in the order in which it is most telling. */
  async #complete(job: Job): Promise<void> {
    job.checkpoint();
    // Whatever came before is over: the sliders may move again.
    if (this.store.state.task !== "bending") this.store.set({ task: "looking", progress: null });
    const points: Point[] = transformationOf(this.store.state.bend) ? ["trained", "bent"] : ["trained"];
    const [extremes, riemannian, others] = this.#measureGroups();
    for (const point of points) {
      if (point === "bent") await this.#bend(job);
      await this.#landscape(job, "lines", point, (lab, choice) => lab.line(point, choice));
      if (point === "trained")
        await this.#landscape(job, "surfaces", point, (lab, choice) => lab.surface(point, choice, this.#about(point)));
      await this.#measure(job, point, extremes);
      await this.#measure(job, point, riemannian);
      if (point === "bent")
        await this.#landscape(job, "surfaces", point, (lab, choice) => lab.surface(point, choice, this.#about(point)));
    }
    for (const point of points) await this.#measure(job, point, others);
  }

  async #bend(job: Job): Promise<void> {
    if (this.store.state.bendSummary) return;
    job.checkpoint();
    const transformation = transformationOf(this.store.state.bend);
    const bendSummary = await this.#client.call((lab) => lab.bend(transformation));
    job.checkpoint();
    this.store.set({ bendSummary });
  }

  async #landscape(
    job: Job,
    kind: "lines" | "surfaces",
    point: Point,
    ask: (lab: Lab, choice: LandscapeChoice) => ReturnType<Lab["line"]>,
  ): Promise<void> {
    if (this.store.state[kind][point]) return;
    job.checkpoint();
    const landscape = await this.#client.call((lab) => ask(lab, this.store.state.landscapeChoice));
    job.checkpoint();
    const { [point]: _, ...growing } = this.store.state.growing;
    this.store.set({
      [kind]: { ...this.store.state[kind], [point]: landscape },
      ...(kind === "surfaces" && { growing }),
    });
  }

  /** All that a point's surface depends on and the page may change while it is computed. */
  #about(point: Point): string {
    const { landscapeChoice, bend } = this.store.state;
    return JSON.stringify([landscapeChoice, point === "bent" && bend]);
  }

  /** Rows that are there stay until those of a new run, over the same choice, are more. */
  #grow(point: Point, about: string, landscape: Landscape): void {
    const { growing, surfaces } = this.store.state;
    // A task that is being stopped may still send a row.
    if (about !== this.#about(point)) return;
    if (surfaces[point] || (growing[point]?.loss.length ?? 0) > landscape.loss.length) return;
    this.store.set({ growing: { ...growing, [point]: landscape } });
  }

  /** The largest networks are tried out in a worker of their own: the trial takes seconds, and nobody is to wait for it. */
  async #costs(modelChoice: ModelChoice | null, size: number): Promise<SampleCosts> {
    if (!modelChoice || size < LARGE_NETWORK) return this.#client.call((lab) => lab.costs());
    const scout = new Client(() => {});
    this.#scout = scout;
    const { network, init } = modelChoice;
    const data: DataChoice = { kind: "synthetic", samples: TRIAL_SAMPLES, seed: 1 };
    const backend = this.store.state.engine?.info.backend === "gpu" ? "webgpu" : "cpu";
    try {
      await scout.call((lab) => lab.startEngine(backend));
      await scout.call((lab) => lab.setModel({ network, init, data, measured: TRIAL_SAMPLES }));
      return await scout.call((lab) => lab.costs());
    } finally {
      scout.discard();
    }
  }

  /** What a sample costs depends on network and device alone: asked once for both, beside all tasks. */
  async #estimate(): Promise<void> {
    const { model, engine, modelChoice } = this.store.state;
    const key = model && engine ? JSON.stringify([modelChoice?.network ?? model.data, model.summary, engine.info]) : "";
    if (key === this.#costsOf) return;
    this.#costsOf = key;
    this.#scout?.discard();
    this.#scout = undefined;
    this.store.set({ costs: null });
    if (key === "") return;
    try {
      const costs = await this.#costs(modelChoice, model?.parameterCount ?? 0);
      if (key === this.#costsOf) this.store.set({ costs });
    } catch {
      // Whatever is wrong, the work itself says so in words; until then there is no estimate.
      if (key === this.#costsOf) this.#costsOf = "";
    }
  }

  async #measure(job: Job, point: Point, keys: MeasureKey[]): Promise<void> {
    const missing = keys.filter((key) => !this.store.state.measures[point].has(key));
    if (missing.length === 0) return;
    job.checkpoint();
    const choice = { keys: missing, epsilon: EPSILON, probes: PROBES };
    const report = await this.#client.call((lab) => lab.measure(point, choice));
    job.checkpoint();
    const { measures } = this.store.state;
    const values = new Map(measures[point]);
    for (const value of report.values) values.set(value.key, value);
    this.store.set({ measures: { ...measures, [point]: values } });
  }

  #measureGroups(): [MeasureKey[], MeasureKey[], MeasureKey[]] {
    const keys = measuredKeys(this.store.state);
    const slow = (key: MeasureKey) => key.endsWith(".trace") || key.startsWith("gauss_newton.");
    const riemannian = (key: MeasureKey) => key.startsWith("riemannian.");
    return [keys.filter((key) => !slow(key) && !riemannian(key)), keys.filter(riemannian), keys.filter(slow)];
  }

  #withoutResults(): Partial<State> {
    const { training, ready } = this.store.state;
    return { ...CLEARED, training, ready };
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

function only<T>(landscapes: { trained?: T }): { trained?: T } {
  return landscapes.trained ? { trained: landscapes.trained } : {};
}

export function noBend(depth: number): Bend {
  return { lambda: new Array<number>(depth).fill(1), nodewise: null, permutation: null };
}
