/** What the page shows, kept in the browser: a reload shows it again at once, before there is an engine. */

import { transaction } from "./database";
import type { Key, State, Store } from "./store";

/** Of the network that the page comes with. */
export const arrivalStamp = (build: string): string => `arrival ${build}`;
export const isArrival = (stamp: string): boolean => stamp.startsWith("arrival ");

/** A link, or a frame in an article, that shows what the page comes with leaves one's own alone. */
const keyOf = (stamp: string): string => (isArrival(stamp) ? "arrival" : "page");
/** A slider sends many values, and a growing surface many rows. */
const REST_MS = 400;

/** All but what is under way, and what the device is. */
const PARTS = [
  "descriptions",
  "operators",
  "model",
  "modelChoice",
  "trainChoice",
  "opened",
  "training",
  "sharpness",
  "bend",
  "examples",
  "accuracy",
  "landscapeChoice",
  "lines",
  "surfaces",
  "measures",
  "layers",
  "spectrumChoice",
  "spectra",
  "densities",
  "dinh",
  "invariance",
  "table2",
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

export class Kept {
  #stamp: string | null = null;
  #timer = 0;

  constructor(private readonly store: Store) {
    store.watch([...PARTS], () => this.#later());
  }

  /** What is shown from now on is of these weights; of none that are kept, without. */
  belongsTo(stamp: string | null): void {
    this.#stamp = stamp;
    this.#later();
  }

  get stamp(): string | null {
    return this.#stamp;
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#keep(), REST_MS);
  }

  async #keep(): Promise<void> {
    const { state } = this.store;
    if (this.#stamp === null || !state.ready) return;
    // Files that are no network yet are not what is shown.
    const shown = { ...state, opened: state.opened?.model ? state.opened : null };
    const snapshot = Object.fromEntries(PARTS.map((part) => [part, shown[part]])) as Snapshot;
    const record: Record = { build: BUILD, stamp: this.#stamp, snapshot };
    await transaction("readwrite", (store) => store.put(record, keyOf(record.stamp)));
  }
}

/** What was shown of these weights; null where it was of others. */
export async function snapshotOf(stamp: string): Promise<Snapshot | null> {
  const record = await transaction("readonly", (store): IDBRequest<Record | undefined> => store.get(keyOf(stamp)));
  return record?.build === BUILD && record.stamp === stamp ? record.snapshot : null;
}
