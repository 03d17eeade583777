/** Computes what the page shows of its points and is not there yet, in the order in which it is most telling. */

import type { Landscape, MeasureKey } from "isoflat";
import type { Client } from "./client";
import type { Experiments } from "./experiments";
import { gaugeKeys } from "./gauges";
import type { Job } from "./jobs";
import { measureGroups } from "./papers";
import { measuresOf, type Store, transformationOf } from "./store";
import type { LandscapeChoice, Point } from "./worker/protocol";

export const EPSILON = 1e-3;
/** Products for an estimate of a trace or a norm. */
export const PROBES = 100;

type Lab = Parameters<Parameters<Client["call"]>[0]>[0];

export class Completion {
  constructor(
    private readonly store: Store,
    private readonly client: Client,
    private readonly experiments: Experiments,
  ) {}

  /** What the stage shows. */
  async stage(job: Job): Promise<void> {
    job.checkpoint();
    const { landscapeChoice, way } = this.store.state;
    // A choice outlives the network, and another one may have come without a way.
    if (landscapeChoice.directions === "way" && way === 0) {
      const choice = { ...landscapeChoice, directions: "random" } as const;
      this.store.set({ landscapeChoice: choice, lines: {}, surfaces: {}, growing: {} });
    }
    for (const point of this.#points()) await this.#stage(job, point);
  }

  #points(): Point[] {
    return transformationOf(this.store.state.bend) ? ["trained", "bent"] : ["trained"];
  }

  async run(job: Job): Promise<void> {
    job.checkpoint();
    // Whatever came before is over: the sliders may move again.
    if (this.store.state.task !== "bending") this.store.set({ task: "looking", progress: null });
    await this.stage(job);
    const points = this.#points();
    const [first, second, ...others] = measureGroups(measuresOf(this.store.state));
    for (const point of points) {
      await this.#measure(job, point, first);
      await this.#measure(job, point, second);
    }
    await this.experiments.valley(job);
    if (this.#isToBeSharpened()) await this.experiments.sharpen(job);
    for (const point of points) await this.#layers(job, point);
    for (const group of others) for (const point of points) await this.#measure(job, point, group);
  }

  /** Of the bent point what swings first, then what theory has said already. */
  async #stage(job: Job, point: Point): Promise<void> {
    const [swings, stands] = gaugeKeys(this.store.state);
    if (point === "bent") {
      const isNew = !this.store.state.bendSummary;
      await this.bend(job);
      // What a frame has said of it is replaced by what is so here.
      await this.#measure(job, point, swings, isNew);
    } else await this.#examples(job);
    // The line first: with it a growing surface's scale is nearly the whole one's.
    await this.#landscape(job, "lines", point, (lab, choice) => lab.line(point, choice));
    await this.#surface(job, point);
    await this.#measure(job, point, [...swings, ...stands]);
    await this.#accuracy(job, point);
  }

  #isToBeSharpened(): boolean {
    const { sharpness, dinh } = this.store.state;
    return sharpness.way === "sharpen" && sharpness.decades > 0 && !dinh.sharpened;
  }

  async #examples(job: Job): Promise<void> {
    if (this.store.state.examples) return;
    job.checkpoint();
    const examples = await this.client.call((lab) => lab.examples());
    job.checkpoint();
    this.store.set({ examples });
  }

  async #accuracy(job: Job, point: Point): Promise<void> {
    if (this.store.state.accuracy[point] !== undefined) return;
    job.checkpoint();
    const accuracy = await this.client.call((lab) => lab.accuracy(point));
    job.checkpoint();
    this.store.set({ accuracy: { ...this.store.state.accuracy, [point]: accuracy } });
  }

  /** Puts the worker's bent point where the page has it. */
  async bend(job: Job): Promise<void> {
    const transformation = transformationOf(this.store.state.bend);
    if (this.store.state.bendSummary || !transformation) return;
    job.checkpoint();
    const bendSummary = await this.client.call((lab) => lab.bend(transformation));
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
    const landscape = await this.client.call((lab) => ask(lab, this.store.state.landscapeChoice));
    job.checkpoint();
    const { [point]: _, ...growing } = this.store.state.growing;
    this.store.set({
      [kind]: { ...this.store.state[kind], [point]: landscape },
      ...(kind === "surfaces" && { growing }),
      ...(kind === "surfaces" && point === "bent" && { preview: null }),
    });
  }

  #surface(job: Job, point: Point): Promise<void> {
    return this.#landscape(job, "surfaces", point, (lab, choice) => lab.surface(point, choice, this.#about(point)));
  }

  /** All that a point's surface depends on and the page may change while it is computed. */
  #about(point: Point): string {
    const { landscapeChoice, bend } = this.store.state;
    return JSON.stringify([landscapeChoice, point === "bent" && bend]);
  }

  /** Rows that are there stay until those of a new run, over the same choice, are more. */
  grow(point: Point, about: string, landscape: Landscape): void {
    const { growing, surfaces } = this.store.state;
    // A task that is being stopped may still send a row.
    if (about !== this.#about(point)) return;
    if (surfaces[point] || (growing[point]?.loss.length ?? 0) > landscape.loss.length) return;
    this.store.set({ growing: { ...growing, [point]: landscape } });
  }

  async #layers(job: Job, point: Point): Promise<void> {
    const { layers, model } = this.store.state;
    if (layers[point] || model?.piecewiseLinear === false) return;
    job.checkpoint();
    const report = await this.client.call((lab) => lab.layers(point));
    job.checkpoint();
    this.store.set({ layers: { ...this.store.state.layers, [point]: report } });
  }

  async #measure(job: Job, point: Point, keys: MeasureKey[], anew = false): Promise<void> {
    const missing = keys.filter((key) => anew || !this.store.state.measures[point].has(key));
    if (missing.length === 0) return;
    job.checkpoint();
    const choice = { keys: missing, epsilon: EPSILON, probes: PROBES };
    const report = await this.client.call((lab) => lab.measure(point, choice));
    job.checkpoint();
    const { measures } = this.store.state;
    const values = new Map(measures[point]);
    for (const value of report.values) values.set(value.key, value);
    this.store.set({ measures: { ...measures, [point]: values } });
  }
}
