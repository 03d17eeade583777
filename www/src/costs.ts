/** What a sample costs on the device in use, asked beside all tasks. */

import { Client } from "./client";
import type { Store } from "./store";
import type { DataChoice, ModelChoice, SampleCosts } from "./worker/protocol";

/** Parameters above which a trial run of one sample takes more than a moment. */
const LARGE_NETWORK = 5e6;
/** As many as the worker tries at most. */
const TRIAL_SAMPLES = 32;

/** How long nothing has run before that counts as rest: one task may follow another, and whoever has just seen a result may go on at once. */
const REST_MS = 1000;
/** A trial whose data have given way to others is made again; what fails so often in a row fails for another reason. */
const FAILURES = 4;

export class Costs {
  /** The network and device that the costs are of, or are being asked for. */
  #of = "";
  #failures = 0;
  /** The trial that is under way; another network may make it one for nothing. */
  #trial: symbol | null = null;
  /** Has other work run since it began? */
  #isBeside = false;
  #dense: { device: string; weight: number } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #scout: Client | undefined;

  constructor(
    private readonly store: Store,
    private readonly client: Pick<Client, "call">,
  ) {
    store.watch(["model", "engine"], () => void this.#estimate());
    store.watch(["task"], () => this.#follow());
  }

  /** What is tried out beside other work takes longer, and a module that has just been loaded is slow yet: when nothing runs, it is tried again. */
  #follow(): void {
    clearTimeout(this.#timer);
    if (this.store.state.task !== "idle") {
      this.#isBeside = true;
      return;
    }
    this.#timer = setTimeout(() => {
      const { costs } = this.store.state;
      if (this.#trial === null && costs?.isBeside !== false) void this.#try();
    }, REST_MS);
  }

  /** The largest networks are tried out in a worker of their own: the trial takes seconds, and nobody is to wait for it. */
  async #costs(modelChoice: ModelChoice | null, size: number): Promise<SampleCosts> {
    if (!modelChoice || size < LARGE_NETWORK) {
      const isThorough = this.store.state.task === "idle";
      return this.client.call((lab) => lab.costs(isThorough));
    }
    const scout = new Client(() => {});
    this.#scout = scout;
    const { network, init } = modelChoice;
    const data: DataChoice = { kind: "synthetic", samples: TRIAL_SAMPLES, seed: 1 };
    const backend = this.store.state.engine?.info.backend === "gpu" ? "webgpu" : "cpu";
    try {
      await scout.call((lab) => lab.startEngine(backend, 1));
      await scout.call((lab) => lab.setModel({ network, init, data, measured: TRIAL_SAMPLES }));
      return await scout.call((lab) => lab.costs(false));
    } finally {
      scout.discard();
    }
  }

  /** What a sample costs depends on network and device alone: asked for both, beside all tasks. */
  async #estimate(): Promise<void> {
    const { model, engine, modelChoice } = this.store.state;
    const key = model && engine ? JSON.stringify([modelChoice?.network ?? model.data, model.summary, engine.info]) : "";
    if (key === this.#of) return;
    this.#of = key;
    this.#failures = 0;
    this.#trial = null;
    this.#scout?.discard();
    this.#scout = undefined;
    this.store.set({ costs: null });
    await this.#try();
  }

  /** One that is dense tells of others, as a convolution does not. */
  #weightOf({ product }: SampleCosts): number | null {
    const { model, engine } = this.store.state;
    const device = JSON.stringify(engine?.info);
    if (model?.dense) {
      // Of all that are measured together: what two trials differ by is known less well.
      const sample = product.call / model.measuredSamples + product.sample;
      this.#dense = { device, weight: sample / model.parameterCount };
    }
    return this.#dense?.device === device ? this.#dense.weight : null;
  }

  async #try(): Promise<void> {
    if (this.#of === "" || this.#failures >= FAILURES) return;
    const { modelChoice, model, task } = this.store.state;
    const trial = Symbol();
    this.#trial = trial;
    this.#isBeside = task !== "idle";
    try {
      const costs = await this.#costs(modelChoice, model?.parameterCount ?? 0);
      if (trial !== this.#trial) return;
      const weight = this.#weightOf(costs);
      this.store.set({ costs: { ...costs, isBeside: this.#isBeside, weight } });
      this.#failures = 0;
    } catch {
      if (trial === this.#trial) this.#failures++;
      // Its data may have given way to others meanwhile. Whatever else is wrong, the work itself says so in words.
    }
    if (trial !== this.#trial) return;
    this.#trial = null;
    if (this.store.state.task === "idle") this.#follow();
  }
}
