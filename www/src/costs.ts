/** What a sample costs on the device in use, asked beside all tasks. */

import { Client } from "./client";
import type { Store } from "./store";
import type { DataChoice, ModelChoice, SampleCosts } from "./worker/protocol";

/** Parameters above which a trial run of one sample takes more than a moment. */
const LARGE_NETWORK = 5e6;
/** As many as the worker tries at most. */
const TRIAL_SAMPLES = 32;

export class Costs {
  /** The network and device that the costs are of, or are being asked for. */
  #of = "";
  #scout: Client | undefined;

  constructor(
    private readonly store: Store,
    private readonly client: Client,
  ) {
    store.watch(["model", "engine"], () => void this.#estimate());
  }

  /** The largest networks are tried out in a worker of their own: the trial takes seconds, and nobody is to wait for it. */
  async #costs(modelChoice: ModelChoice | null, size: number): Promise<SampleCosts> {
    if (!modelChoice || size < LARGE_NETWORK) return this.client.call((lab) => lab.costs());
    const scout = new Client(() => {});
    this.#scout = scout;
    const { network, init } = modelChoice;
    const data: DataChoice = { kind: "synthetic", samples: TRIAL_SAMPLES, seed: 1 };
    const backend = this.store.state.engine?.info.backend === "gpu" ? "webgpu" : "cpu";
    try {
      await scout.call((lab) => lab.startEngine(backend, 1));
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
    if (key === this.#of) return;
    this.#of = key;
    this.#scout?.discard();
    this.#scout = undefined;
    this.store.set({ costs: null });
    if (key === "") return;
    try {
      const costs = await this.#costs(modelChoice, model?.parameterCount ?? 0);
      if (key === this.#of) this.store.set({ costs });
    } catch {
      // Whatever is wrong, the work itself says so in words; until then there is no estimate.
      if (key === this.#of) this.#of = "";
    }
  }
}
