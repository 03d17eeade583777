/** What is computed when a person asks for it: an operator’s spectrum, and Dinh’s constructions. */

import { lambdaFor } from "./bends";
import type { Client } from "./client";
import { wantsValley } from "./constructions";
import { LabError } from "./errors";
import type { Job } from "./jobs";
import { same } from "./same";
import { withoutTwin } from "./states";
import { type Dinh, type Finding, found, type Store } from "./store";
import type { AskedWith, Construction, Outcome, Point, SharpenChoice } from "./worker/protocol";

type Lab = Parameters<Parameters<Client["call"]>[0]>[0];

/** What a construction says of a network that it is not for: shown in its place, since nothing is wrong with the page. */
const REFUSALS: ReadonlySet<string> = new Set([
  "too_large",
  "invalid_option",
  "invalid_parameters",
  "not_homogeneous",
  "not_finite",
  "not_possible",
]);

/** To be asked later: is the point where it is now? A tour moves the twin by frames, which ends no task. */
export function stays(store: Store, point: Point): () => boolean {
  const { bend } = store.state;
  return () => point === "trained" || same(bend, store.state.bend);
}

export class Experiments {
  constructor(
    private readonly store: Store,
    private readonly client: Client,
  ) {}

  async ends(job: Job, point: Point): Promise<void> {
    const { spectrumChoice } = this.store.state;
    const ends = await this.#at(job, point, (lab) => lab.spectrum(point, spectrumChoice));
    if (ends) this.store.set({ spectra: { ...this.store.state.spectra, [point]: ends } });
  }

  async density(job: Job, point: Point): Promise<void> {
    const { spectrumChoice } = this.store.state;
    const density = await this.#at(job, point, (lab) => lab.density(point, spectrumChoice));
    if (density) this.store.set({ densities: { ...this.store.state.densities, [point]: density } });
  }

  /** What the worker says of a point; null where that is elsewhere by then. */
  async #at<T>(job: Job, point: Point, ask: (lab: Lab) => Promise<Outcome<T>>): Promise<T | null> {
    const isThere = stays(this.store, point);
    job.checkpoint();
    const found = await this.client.call(ask);
    job.checkpoint();
    return isThere() ? found : null;
  }

  async valley(job: Job): Promise<void> {
    const { dinh, model } = this.store.state;
    if (dinh.valley || !model?.homogeneous || model.depth < 2) return;
    await this.#find(job, "valley", (lab) => lab.valley());
    this.#follow();
  }

  /** The twin that Theorem 4 makes is where it is by the valley, whoever has asked for that. */
  #follow(): void {
    const { sharpness, dinh, model, bend } = this.store.state;
    if (!model || sharpness.way !== "sharpen" || sharpness.decades <= 0) return;
    const lambda = lambdaFor(sharpness, model, found(dinh.valley), dinh.powersOfTwo);
    // What was seen meanwhile was the twin before.
    if (!lambda || String(lambda) === String(bend.lambda)) return;
    this.store.set({ bend: { ...bend, lambda }, preview: null, ...withoutTwin(this.store.state) });
  }

  async sharpen(job: Job): Promise<void> {
    await this.valley(job);
    const choice = this.#choice();
    const { valley } = this.store.state.dinh;
    if (!choice || !valley || !("value" in valley)) return;
    await this.#find(job, "sharpened", (lab) => lab.sharpen(valley.value, choice));
  }

  async construct(job: Job, what: Construction, asked: AskedWith): Promise<void> {
    if (wantsValley(what)) await this.valley(job);
    const target = wantsValley(what) ? this.#choice() : null;
    if (wantsValley(what) && !target) return;
    await this.#find(job, what, (lab) => lab.construct(what, asked, target) as Promise<Outcome<Found<typeof what>>>);
  }

  #choice(): SharpenChoice | null {
    const { valley, decades, powersOfTwo } = this.store.state.dinh;
    return valley && "value" in valley ? { target: valley.value.norm * 10 ** decades, powersOfTwo } : null;
  }

  async #find<K extends "valley" | "sharpened" | Construction>(
    job: Job,
    key: K,
    ask: (lab: Lab) => Promise<Outcome<Found<K>>>,
  ): Promise<void> {
    job.checkpoint();
    const finding = await this.client.call(ask).then(
      (value): Finding<Found<K>> => ({ value }),
      (error: unknown): Finding<Found<K>> => {
        if (error instanceof LabError && REFUSALS.has(error.code)) return { refusal: error.message };
        throw error;
      },
    );
    job.checkpoint();
    this.store.set({ dinh: { ...this.store.state.dinh, [key]: finding } });
  }
}

type Found<K extends keyof Dinh> = Dinh[K] extends Finding<infer T> | null ? T : never;
