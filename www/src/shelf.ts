/** The networks that this browser keeps: those that were given a name, until they are let go; the newest of the others. */

import { transaction } from "./database";
import { isArrival } from "./kept";
import type { State, Store } from "./store";
import { stampOf } from "./worker/last";

/** A network that is kept, and what it is. */
export interface Entry {
  stamp: string;
  /** As a person calls it; null for one that is kept for a while only. */
  name: string | null;
  /** When it came, in milliseconds. */
  at: number;
  summary: string;
  parameterCount: number;
  /** Snapshots of the way of its training. */
  way?: number;
  data: string;
  /** How it was trained; null as it begins, or as a file has it. */
  training: State["trainChoice"];
  testAccuracy: number | null;
}

/** Without a name, so many are kept, and no more than so much: the browser grants a page a share of the disk. */
const MOST_UNNAMED = 8;
const MOST_BYTES = 256e6;
/** Weights are kept as float64, the snapshots of their way as float32. */
const bytesOf = ({ parameterCount, way = 0 }: Entry): number => parameterCount * (8 + 4 * way);

export class Shelf {
  /** Which of those without a name are needed still, though they are old. */
  needed: () => ReadonlySet<string> = () => new Set();

  readonly #isRead: Promise<void>;

  constructor(private readonly store: Store) {
    this.#isRead = this.#read();
    store.watch(["stamp", "training", "accuracy"], () => void this.#note());
  }

  isNamed(stamp: string): boolean {
    return this.store.state.shelf.some((entry) => entry.stamp === stamp && entry.name !== null);
  }

  async name(stamp: string, name: string | null): Promise<void> {
    const entry = this.store.state.shelf.find((other) => other.stamp === stamp);
    if (entry) await this.#put({ ...entry, name });
  }

  /** Lets it go, weights and all. */
  async remove(stamp: string): Promise<void> {
    this.store.set({ shelf: this.store.state.shelf.filter((entry) => entry.stamp !== stamp) });
    await discard([stamp]);
  }

  /** What is on the stage, as far as it is known. */
  async #note(): Promise<void> {
    // Or its name would not be known yet.
    await this.#isRead;
    const { stamp, model, shelf, training, way, trainChoice, accuracy } = this.store.state;
    if (stamp === null || isArrival(stamp) || !model) return;
    const known = shelf.find((entry) => entry.stamp === stamp);
    const entry: Entry = {
      stamp,
      name: known?.name ?? null,
      at: known?.at ?? Date.now(),
      summary: model.summary,
      parameterCount: model.parameterCount,
      way,
      data: model.data,
      training: training && trainChoice,
      testAccuracy: training?.validationAccuracy ?? accuracy.trained ?? known?.testAccuracy ?? null,
    };
    if (JSON.stringify(known) !== JSON.stringify(entry)) await this.#put(entry);
  }

  async #put(entry: Entry): Promise<void> {
    const others = this.store.state.shelf.filter(({ stamp }) => stamp !== entry.stamp);
    const { kept, old } = sorted([...others, entry], this.#protected());
    this.store.set({ shelf: kept });
    await transaction("readwrite", (store) => store("shelf").put(entry, entry.stamp));
    if (old.length > 0) await discard(old.map(({ stamp }) => stamp));
  }

  #protected(): ReadonlySet<string> {
    const { stamp } = this.store.state;
    return new Set([...this.needed(), ...(stamp === null ? [] : [stamp])]);
  }

  async #read(): Promise<void> {
    const entries = await transaction("readonly", (store): IDBRequest<Entry[]> => store("shelf").getAll());
    const stamps = await transaction("readonly", (store) => store("networks").getAllKeys());
    if (!entries || !stamps) return;
    const last = await stampOf();
    const there = entries.filter(({ stamp }) => stamps.includes(stamp));
    const known = new Set([...there.map(({ stamp }) => stamp), last, this.store.state.stamp]);
    // A page that was closed between the two has left one without the other.
    const lost = [...stamps.map(String), ...entries.map(({ stamp }) => stamp)].filter((stamp) => !known.has(stamp));
    this.store.set({ shelf: there.sort(byAge) });
    if (lost.length > 0) await discard(lost);
  }
}

const byAge = (a: Entry, b: Entry): number => b.at - a.at;

/** Newest first; `old`: without a name, and more than are kept. */
export function sorted(entries: Entry[], needed: ReadonlySet<string>): { kept: Entry[]; old: Entry[] } {
  const [kept, old]: [Entry[], Entry[]] = [[], []];
  let [count, bytes] = [0, 0];
  for (const entry of [...entries].sort(byAge)) {
    if (entry.name === null) {
      count++;
      bytes += bytesOf(entry);
    }
    const isOld = entry.name === null && (count > MOST_UNNAMED || bytes > MOST_BYTES) && !needed.has(entry.stamp);
    (isOld ? old : kept).push(entry);
  }
  return { kept, old };
}

async function discard(stamps: string[]): Promise<void> {
  await transaction("readwrite", (store) => {
    for (const name of ["networks", "snapshots", "shelf"] as const) {
      for (const stamp of stamps) store(name).delete(stamp);
    }
    return store("last").count();
  });
}
