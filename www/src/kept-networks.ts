/** Networks that are kept, on the stage again: after a reload, a lost worker, by name, or on the way back. */

import { fetchArrival, weightsOf } from "./arrival/load";
import { noBend } from "./bends";
import type { Client } from "./client";
import { deviceOf, isArrival, type Step, snapshotOf } from "./kept";
import { arrivedWith, CLEARED, knownSince, withoutResults } from "./states";
import type { State, Store } from "./store";
import { setLast } from "./worker/last";
import type { ModelInfo, Restored } from "./worker/protocol";

export class KeptNetworks {
  /** On its way to the stage: a worker that is lost meanwhile is to bring this one, and not what is shown by then. */
  wanted: string | null = null;

  /** `forget`: what is under way is of another network. */
  constructor(
    private readonly store: Store,
    private readonly client: Client,
    private readonly forget: () => void,
  ) {}

  /** On the stage, with what was known of it then, or else last. */
  async show(stamp: string, then?: Step): Promise<boolean> {
    const { state } = this.store;
    const found = then?.snapshot ?? (await snapshotOf(stamp));
    // Another network is looked at as this one is, and no step turns a surface.
    const look = then ? { ...then.snapshot.look, orbit: state.look.orbit } : state.look;
    const last = found && knownSince({ ...found, look, backend: state.backend }, state, stamp === state.stamp);
    const arrived = !last && isArrival(stamp) ? arrivedWith((await fetchArrival()).arrival) : null;
    const known = last ? { ...CLEARED, ...last } : arrived;
    const isOfOther = then && then.device !== null && then.device !== deviceOf(state.engine);
    const change = last && isOfOther ? { ...last, ...withoutResults({ ...state, ...last }) } : known;
    if (last && stamp === state.stamp && last.model?.measuredSamples === state.model?.measuredSamples) {
      // The worker has it, but for the bent point.
      const { dinh } = { ...state, ...change };
      this.store.set({ ...change, stamp, ready: true, dinh: { ...dinh, sharpened: null } });
      this.forget();
      return true;
    }
    if (!(await this.#bring(stamp, () => change))) return false;
    await setLast(isArrival(stamp) ? null : stamp);
    return true;
  }

  /** Gives a worker the weights of what the page shows already, or of what is to be shown if it shows nothing yet. */
  async reinstate(stamp: string, isStart = false): Promise<boolean> {
    return await this.reachable(() => this.#bring(stamp, () => (this.store.state.ready ? {} : null), isStart));
  }

  /** What the page shows can be seen if there is no worker that has it, and nothing can be asked of it. */
  async reachable<T>(body: () => Promise<T>): Promise<T> {
    try {
      return await body();
    } catch (error) {
      this.store.set({ ready: false });
      throw error;
    }
  }

  /**
   * Gives the worker the weights that are kept under the stamp, and then shows what is known of them; where nothing is, the network
   * alone. False where they are not to be had.
   */
  async #bring(stamp: string, known: () => Partial<State> | null, isStart = false): Promise<boolean> {
    this.wanted = stamp;
    const found = await this.#kept(stamp, isStart);
    if (!found?.model) {
      this.wanted = null;
      return false;
    }
    const { opened, choice: modelChoice, summary: training } = found;
    const trainChoice = this.store.state.shelf.find((entry) => entry.stamp === stamp)?.training ?? null;
    const fresh = { ...CLEARED, opened, modelChoice, trainChoice, training, bend: noBend(found.model.depth) };
    const samples = { ...this.store.state, ...(known() ?? { model: found.model }) }.model?.measuredSamples;
    const model = await this.#measuredOn(samples, found.model);
    const change = known() ?? fresh;
    const { dinh } = { ...this.store.state, ...change };
    this.forget();
    // The worker has nothing at the bent point now, and has not seen the valley.
    const open = { bendSummary: null, dinh: { ...dinh, valley: null, sharpened: null } };
    this.wanted = null;
    this.store.set({ ...change, ...open, opened, model, way: found.way, stamp, ready: true });
    return true;
  }

  async #kept(stamp: string, isStart: boolean): Promise<Restored | null> {
    if (!isArrival(stamp)) return this.client.call((lab) => lab.restore(stamp, isStart));
    const shown = stamp === this.store.state.stamp ? this.store.state.modelChoice : null;
    const choice = shown ?? (await fetchArrival()).arrival.modelChoice;
    const weights = await weightsOf();
    const model = await this.client.call((lab) => lab.arrive(choice, weights));
    return { opened: null, choice, model, way: 0, summary: null };
  }

  async #measuredOn(samples: number | undefined, model: ModelInfo): Promise<ModelInfo> {
    if (samples === undefined || samples === model.measuredSamples) return model;
    return await this.client.call((lab) => lab.setMeasured(samples));
  }
}
