/** A worker that is lost: a trap in wasm leaves it unusable. A new one takes its place, with the weights that are kept. */

import type { Client } from "./client";
import type { KeptNetworks } from "./kept-networks";
import { CLEARED } from "./states";
import type { Store } from "./store";
import type { ModelChoice } from "./worker/protocol";

interface Page {
  startEngine: () => Promise<void>;
  setModel: (choice: ModelChoice) => Promise<void>;
  /** The network is back; the worker has nothing at its bent point. */
  back: () => void;
}

export class Recovery {
  #running: Promise<void> | null = null;

  constructor(
    private readonly store: Store,
    private readonly client: Client,
    private readonly kept: KeptNetworks,
    private readonly page: Page,
  ) {}

  /** What is begun meanwhile waits for it: it would meet a worker that has no network yet. */
  async over(): Promise<void> {
    await this.#running;
  }

  begin(): void {
    this.#running ??= this.#recover().finally(() => {
      this.#running = null;
    });
  }

  async #recover(): Promise<void> {
    this.client.discard();
    const { modelChoice } = this.store.state;
    this.store.set({ engine: null });
    try {
      await this.page.startEngine();
      const stamp = this.kept.wanted ?? this.store.state.stamp;
      // No more than that: what has brought the worker down is not to be begun by itself.
      if (stamp !== null && (await this.kept.reinstate(stamp))) return this.page.back();
      this.store.set({ ...CLEARED, model: modelChoice ? this.store.state.model : null });
      if (modelChoice) await this.page.setModel(modelChoice);
    } catch {
      // The first message has said what is wrong; the next task will try once more.
    }
  }
}
