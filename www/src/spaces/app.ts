/** What the part on parameter spaces can do. Its worker is its own, so that nothing here stops the lab's other work, nor the other way. */

import { Client } from "../client";
import { LabError } from "../errors";
import type { Messages } from "../messages";
import { same } from "../same";
import { type State, Store } from "../store";
import type { Curvature, Rescaling, RunPoint, Setting, SpacesApi, SpacesEvent, Speed } from "../worker/spaces-protocol";
import { EXPERIMENTS } from "./experiments";
import { KeptRuns, keptRuns } from "./kept";
import { beganWithOnes, keyOf, orderOf, type Place, type Run } from "./methods";
import { type Curve, type Curves, Results } from "./results";
import { type ExperimentId, QUICK, type SpacesChoice } from "./settings";

export type SpacesTask = "idle" | "training" | "rescaling" | "curvature";

export interface CurvatureRow {
  place: Place;
  rescaled: boolean;
  value: Curvature;
}

export interface SpacesState {
  task: SpacesTask;
  experiment: ExperimentId;
  setting: Setting;
  curves: Curves;
  /** Seconds left of the runs, as far as one knows. */
  remaining: number | null;
  speed: Speed | null;
  rescaling: Rescaling | null;
  /** Of which run, and what is there by now. */
  curvature: { run: Run; rows: CurvatureRow[] } | null;
  products: number;
  /** Runs whose weights the worker has: a reload keeps what they came to, and not where they ended. */
  here: ReadonlySet<string>;
}

type PageStore = Store<State>;

/** Of the curvature's table: products that each of its six rows takes, about, and steps of training that take as long as a product. */
const CURVATURE = { rows: 6, products: 18, images: 500, steps: 1.4 };

const PLACES: Place[] = ["weights", "weight_fixing", "g_space"];

const spacesWorker = (): Worker =>
  new Worker(new URL("../worker/spaces-worker.ts", import.meta.url), { type: "module", name: "isoflat-spaces" });

export class SpacesApp {
  readonly store = new Store<SpacesState>({
    task: "idle",
    experiment: "rates",
    setting: QUICK,
    curves: new Map(),
    remaining: null,
    speed: null,
    rescaling: null,
    curvature: null,
    products: 0,
    here: new Set(),
  });
  /** Asked before so many runs that have ended are forgotten. */
  mayForget: (runs: number) => Promise<boolean> = async () => true;
  readonly #client = new Client<SpacesApi, SpacesEvent>((event) => this.#heard(event), spacesWorker);
  #stopped = false;
  /** What this has said last. */
  #said: Element | null = null;
  #seed = 0;
  /** What the curvature took when it was taken last, relative to what it was said to take. */
  #curvaturePace = 1;
  /** Steps: those that are known to be done, of repeats that are over, and all. */
  #progress = { begun: 0, known: 0, over: 0, steps: 0 };
  /** Where the points of a run go: its key, and which of its repeats. */
  #places = new Map<string, { key: string; repeat: number }>();

  readonly #kept = new KeptRuns(() => this.store.state);
  readonly #read: Promise<void>;

  /** `page`: its state has what is chosen here, which an address says. */
  constructor(
    private readonly messages: Messages,
    private readonly page: PageStore,
  ) {
    this.#read = keptRuns().then((kept) => {
      if (kept) this.store.set(kept);
      this.#kept.are(this.store.state);
      this.store.watch(["curves", "curvature"], () => this.#kept.soon());
      // What a person chooses is kept at once, as a run that ends is.
      this.store.watch(["experiment", "setting"], () => void this.#kept.now());
    });
    // An address may have chosen before there was this part, or choose later.
    void this.#read.then(() => {
      this.page.watch(["spaces"], () => void this.#follow());
      this.store.watch(["experiment", "setting"], () => this.#tell());
    });
  }

  async #follow(): Promise<void> {
    const { spaces } = this.page.state;
    if (!spaces || same(spaces, this.#chosen)) return;
    this.choose(spaces.experiment);
    // Whoever keeps what is there has the setting that it is of.
    if (!(await this.set(spaces.setting))) this.#tell();
  }

  get #chosen(): SpacesChoice {
    const { experiment, setting } = this.store.state;
    return { experiment, setting };
  }

  #tell(): void {
    if (!same(this.page.state.spaces, this.#chosen)) this.page.set({ spaces: this.#chosen });
  }

  choose(experiment: ExperimentId): void {
    this.store.set({ experiment });
  }

  /** Other settings are other results. False where it stays as it is. */
  async set(setting: Setting): Promise<boolean> {
    await this.#read;
    const { state } = this.store;
    if (same(setting, state.setting)) return true;
    const runs = [...state.curves.values()].flat().filter(isEnded).length;
    if (state.task === "training" || (runs > 0 && !(await this.mayForget(runs)))) return false;
    this.store.set({ setting, curves: new Map(), curvature: null, here: new Set() });
    void this.#client.tell((lab) => lab.forget());
    return true;
  }

  /** How long a step takes here; asked once, when it begins to matter. */
  async measureSpeed(): Promise<void> {
    if (this.store.state.speed || this.store.state.task !== "idle") return;
    try {
      const speed = await this.#client.call((lab) => lab.speed(this.store.state.setting.batch));
      this.store.set({ speed });
    } catch {
      // What is wrong, the work itself will say; until then there is no estimate.
    }
  }

  /** Runs what the experiment has not run yet; a run that was stopped begins anew, those that have ended stay. */
  async run(): Promise<void> {
    await this.#task("training", async () => {
      const { setting, experiment } = this.store.state;
      const { runs } = EXPERIMENTS[experiment];
      this.#change((curves) => {
        for (const run of runs) curves.set(keyOf(run), untilFirst(curves.get(keyOf(run)) ?? []));
      });
      const missing = (run: Run): number => setting.repeats - this.results.of(run).length;
      const steps = runs.reduce((sum, run) => sum + missing(run), 0) * stepsOf(setting);
      this.#progress = { begun: performance.now(), known: 0, over: 0, steps };
      for (let repeat = 0; repeat < setting.repeats && !this.#stopped; repeat++) {
        const left = runs.filter((run) => this.results.of(run).length <= repeat);
        if (left.length === 0) continue;
        await this.#repeat(left, repeat);
        this.#progress.over += left.length * stepsOf(setting);
      }
      this.#learnSpeed();
    });
  }

  async rescale(): Promise<void> {
    await this.#task("rescaling", async () => {
      const seed = ++this.#seed;
      this.store.set({ rescaling: await this.#client.call((lab) => lab.rescaling(seed)) });
    });
  }

  /** Those that have been run with ones on the skeleton, where all three spaces have sound coordinates. */
  get soundRuns(): Run[] {
    const { curves } = this.store.state;
    const runs = Object.values(EXPERIMENTS).flatMap((experiment) => experiment.runs);
    return runs.filter((run) => beganWithOnes(run) && curves.get(keyOf(run))?.[0]?.end === "done");
  }

  /** At the best point that was reached there, of those that the worker has. */
  get curvatureRun(): Run | undefined {
    return this.results.winner(this.soundRuns.filter((run) => this.store.state.here.has(keyOf(run))))?.run;
  }

  /** Seconds that the curvature takes; null while it is not known how fast this device is. */
  estimateCurvature(): number | null {
    const { speed, setting } = this.store.state;
    if (!speed) return null;
    const { rows, products, images, steps } = CURVATURE;
    const sample = speed.stepSeconds / Math.max(setting.batch, 1);
    return this.#curvaturePace * rows * products * Math.min(images, setting.images) * steps * sample;
  }

  async takeCurvature(): Promise<void> {
    const run = this.curvatureRun;
    if (!run) return;
    const estimated = this.estimateCurvature();
    await this.#task("curvature", async () => {
      const begun = performance.now();
      this.store.set({ curvature: { run, rows: [] } });
      for (const rescaled of [false, true]) {
        for (const place of PLACES) {
          if (this.#stopped) return;
          this.store.set({ products: 0 });
          const key = workerKey(run, 0);
          const value = await this.#client.call((lab) => lab.curvature(key, { type: place }, rescaled));
          const rows = this.store.state.curvature?.rows ?? [];
          this.store.set({ curvature: { run, rows: [...rows, { place, rescaled, value }] } });
        }
      }
      if (estimated) this.#curvaturePace *= (performance.now() - begun) / 1000 / estimated;
    });
  }

  stop(): void {
    this.#stopped = true;
    void this.#client.stop().catch(() => {});
  }

  get results(): Results {
    return new Results(this.store.state.curves, this.store.state.setting.repeats);
  }

  /** Seconds that the runs which are missing will take; null while it is not known how fast this device is. */
  estimate(): number | null {
    const { speed, setting, experiment } = this.store.state;
    if (!speed) return null;
    const { runs } = EXPERIMENTS[experiment];
    const missing = runs.reduce((sum, run) => sum + this.missing(run), 0);
    const evaluation = setting.epochs * setting.testImages * speed.evaluationSeconds;
    return missing * (stepsOf(setting) * speed.stepSeconds + evaluation);
  }

  /** Of how many initialisations a run has still to come to its end. */
  missing(run: Run): number {
    return Math.max(this.store.state.setting.repeats - untilFirst(this.results.of(run)).length, 0);
  }

  async #repeat(runs: Run[], repeat: number): Promise<void> {
    const { setting } = this.store.state;
    this.#places = new Map(runs.map((run) => [workerKey(run, repeat), { key: keyOf(run), repeat }]));
    this.#change((curves) => {
      for (const run of runs)
        curves.set(keyOf(run), [...(curves.get(keyOf(run)) ?? []), { points: [], end: "running" }]);
    });
    const orders = runs.map((run) => orderOf(run, workerKey(run, repeat)));
    const own = { ...setting, seed: setting.seed + repeat };
    const failed: { error?: unknown } = {};
    const ends = await this.#client
      .call((lab) => lab.train(own, orders))
      .catch((error: unknown) => {
        failed.error = error;
        return orders.map(({ key }) => ({ key, end: "stopped" as const }));
      });
    for (const { key, end } of ends) this.#extend(key, (curve) => ({ ...curve, end }));
    const here = new Set(this.store.state.here);
    // The curvature is taken of the first.
    if (repeat === 0) for (const run of runs) here.add(keyOf(run));
    this.store.set({ curves: new Map(this.store.state.curves), here });
    void this.#kept.now();
    if ("error" in failed) throw failed.error;
  }

  #heard(event: SpacesEvent): void {
    if (event.type === "products") {
      this.store.set({ products: event.products });
      return;
    }
    const byKey = new Map<string, RunPoint[]>();
    for (const point of event.points) byKey.set(point.key, [...(byKey.get(point.key) ?? []), point]);
    for (const [key, points] of byKey) {
      this.#extend(key, (curve) => ({ ...curve, points: [...curve.points, ...points] }));
    }
    this.store.set({ curves: new Map(this.store.state.curves), remaining: this.#remaining() });
  }

  /** Without telling anybody: news of many runs come together. */
  #extend(workerKey: string, change: (curve: Curve) => Curve): void {
    const place = this.#places.get(workerKey);
    if (!place) return;
    const curves = this.store.state.curves as Map<string, readonly Curve[]>;
    const own = curves.get(place.key) ?? [];
    curves.set(
      place.key,
      own.map((curve, index) => (index === place.repeat ? change(curve) : curve)),
    );
  }

  #change(body: (curves: Map<string, readonly Curve[]>) => void): void {
    const curves = new Map(this.store.state.curves);
    body(curves);
    this.store.set({ curves });
  }

  /** From what is done since the beginning: runs that diverge are over sooner, so this errs upwards. */
  #remaining(): number | null {
    const { setting } = this.store.state;
    const per = stepsOf(setting) / setting.epochs;
    let done = this.#progress.over;
    for (const { key, repeat } of this.#places.values()) {
      const curve = this.store.state.curves.get(key)?.[repeat];
      done += (curve?.points.at(-1)?.epoch ?? 0) * per;
    }
    const seconds = (performance.now() - this.#progress.begun) / 1000;
    this.#progress.known = done;
    return done > 0 && seconds > 1 ? (seconds / done) * Math.max(this.#progress.steps - done, 0) : null;
  }

  /** A whole experiment tells more than the trial did. */
  #learnSpeed(): void {
    const { speed, setting } = this.store.state;
    const { known, begun } = this.#progress;
    if (known < 1000) return;
    const evaluation =
      (setting.testImages * (speed?.evaluationSeconds ?? 0) * known) / (stepsOf(setting) / setting.epochs);
    const seconds = Math.max((performance.now() - begun) / 1000 - evaluation, 0);
    this.store.set({ speed: { stepSeconds: seconds / known, evaluationSeconds: speed?.evaluationSeconds ?? 0 } });
  }

  async #task(task: SpacesTask, body: () => Promise<void>): Promise<void> {
    await this.#read;
    if (this.store.state.task !== "idle") return;
    this.#stopped = false;
    // Some tasks begin by themselves, and what the lab has to say then is not theirs to take away.
    if (this.#said) this.messages.clear(this.#said);
    this.store.set({ task, remaining: null, products: 0 });
    try {
      await body();
    } catch (error) {
      const wanted = this.#stopped || (error instanceof LabError && error.code === "aborted");
      if (!wanted) this.#said = this.messages.error(error);
      // A module that has crashed, or a broken worker: the next task begins with a new one.
      if (error instanceof LabError && BROKEN.has(error.code)) {
        this.#client.discard();
        this.store.set({ here: new Set() });
      }
    } finally {
      this.store.set({ task: "idle", remaining: null });
    }
  }
}

const BROKEN: ReadonlySet<LabError["code"]> = new Set(["unexpected", "crashed"]);

const isEnded = ({ end }: Curve): boolean => end === "done" || end === "diverged";
/** The repeats up to the first that has not ended by itself: runs begin one after the other. */
const untilFirst = (curves: readonly Curve[]): readonly Curve[] => {
  const first = curves.findIndex((curve) => !isEnded(curve));
  return first < 0 ? curves : curves.slice(0, first);
};

const stepsOf = ({ images, batch, epochs }: Setting): number => epochs * Math.ceil(images / Math.max(batch, 1));
const workerKey = (run: Run, repeat: number): string => `${keyOf(run)} ${repeat}`;
