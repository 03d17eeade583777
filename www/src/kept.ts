/** What the page shows, kept in the browser: a reload shows it again at once, before there is an engine. */

import { transaction } from "./database";
import { showsHere } from "./other-tabs";
import type { Key, State, Store } from "./store";

/** Of the network that the page comes with. */
export const arrivalStamp = (build: string): string => `arrival ${build}`;
export const isArrival = (stamp: string): boolean => stamp.startsWith("arrival ");

/** Each build comes with another one, of which nothing needs to be kept. */
export const ARRIVAL = "arrival";
const keyOf = (stamp: string): string => (isArrival(stamp) ? ARRIVAL : stamp);
/** A slider sends many values, and a growing surface many rows. */
const REST_MS = 400;
/** Numbers may come one after the other for minutes, and whoever leaves meanwhile has seen them. */
const MOST_MS = 1000;

/** All but what is under way, and what the device is. */
export const PARTS = [
  "backend",
  "descriptions",
  "operators",
  "model",
  "modelChoice",
  "trainChoice",
  "opened",
  "training",
  "way",
  "sharpness",
  "bend",
  "examples",
  "accuracy",
  "landscapeChoice",
  "look",
  "lines",
  "surfaces",
  "growing",
  "measures",
  "layers",
  "spectrumChoice",
  "spectra",
  "densities",
  "dinh",
  "invariance",
  "checkChoice",
  "table2",
  "table3",
] as const satisfies Key[];

export type Snapshot = Pick<State, (typeof PARTS)[number]>;

/** Of this very build: its file's name has a hash of all that it loads. Another build may mean something else by what was kept. */
const BUILD = import.meta.url;

interface Record {
  build: string;
  /** The weights that it is of. */
  stamp: string;
  snapshot: Snapshot;
}

/** The page as it was at one moment, of weights that are kept. */
export interface Step {
  stamp: string;
  /** The device that computed it; null before there is one. */
  device: string | null;
  snapshot: Snapshot;
}

/** Null while there is nothing to come back to. */
export function stepNow(state: State): Step | null {
  const { stamp, ready, engine } = state;
  if (stamp === null || !ready) return null;
  // Files that are no network yet are not what is shown.
  const shown = { ...state, opened: state.opened?.model ? state.opened : null };
  const snapshot = Object.fromEntries(PARTS.map((part) => [part, shown[part]])) as Snapshot;
  return { stamp, device: deviceOf(engine), snapshot };
}

/** Numbers of two devices are not set beside each other. */
export const deviceOf = (engine: State["engine"]): string | null => engine && JSON.stringify(engine.info);

export class Snapshots {
  #timer = 0;
  /** When what is not kept yet has begun to change; null where all is kept. */
  #since: number | null = null;

  constructor(private readonly store: Store) {
    store.watch([...PARTS, "stamp"], () => this.#later());
    store.watch(["stamp"], () => {
      const { stamp } = store.state;
      if (stamp !== null) showsHere(stamp);
    });
    // A page that is left is not waited for.
    document.addEventListener("visibilitychange", () => {
      // Nor does it write what is kept: another tab may have come further with the same network.
      if (document.hidden && this.#since !== null) void this.#keep();
    });
  }

  #later(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    this.#since ??= now;
    const wait = Math.max(0, Math.min(REST_MS, this.#since + MOST_MS - now));
    this.#timer = window.setTimeout(() => void this.#keep(), wait);
  }

  async #keep(): Promise<void> {
    this.#since = null;
    const step = stepNow(this.store.state);
    if (!step) return;
    const { stamp, snapshot } = step;
    const record: Record = { build: BUILD, stamp, snapshot };
    await transaction("readwrite", (store) => store("snapshots").put(record, keyOf(stamp)));
  }
}

/** What was shown of these weights; null where it was of others. */
export async function snapshotOf(stamp: string): Promise<Snapshot | null> {
  const record = await transaction(
    "readonly",
    (store): IDBRequest<Record | undefined> => store("snapshots").get(keyOf(stamp)),
  );
  return record?.build === BUILD && record.stamp === stamp ? record.snapshot : null;
}
