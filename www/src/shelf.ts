/** The networks that this browser keeps: those that were given a name, until they are let go; the newest of the others. */

import { transaction } from "./database";
import { ARRIVAL, isArrival } from "./kept";
import { Needs, neededAnywhere, onChange } from "./other-tabs";
import { same } from "./same";
import type { State, Store } from "./store";
import { STAMP } from "./worker/last";

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
  /** Epochs after which it was stopped. */
  stoppedAt?: number;
  testAccuracy: number | null;
}

interface Naming {
  stamp: string;
  name: string;
}

/** Without a name, so many are kept, and no more than so much: the browser grants a page a share of the disk. */
const MOST_UNNAMED = 8;
const MOST_BYTES = 256e6;
/** Weights are kept as float64, the snapshots of their way as float32. */
const bytesOf = ({ parameterCount, way = 0 }: Entry): number => parameterCount * (8 + 4 * way);

export class Shelf {
  /** Which of those without a name are needed still, though they are old. */
  needed: () => ReadonlySet<string> = () => new Set();
  /** Told of networks that are kept no longer. */
  gone: (stamps: string[]) => void = () => {};

  /** Names on their way to the database, the last one of a network last: what is read meanwhile has them not yet. */
  readonly #naming = new Set<Naming>();
  readonly #isRead: Promise<void>;
  readonly #needs = new Needs();
  readonly #tellOthers = onChange("networks", () => void this.#read());

  constructor(private readonly store: Store) {
    this.#isRead = this.#read(true);
    store.watch(["stamp", "training", "accuracy"], () => void this.#note());
    store.watch(["stamp", "undo", "redo"], () => this.#needs.set(this.#needed()));
  }

  isNamed(stamp: string): boolean {
    return this.store.state.shelf.some((entry) => entry.stamp === stamp && entry.name !== null);
  }

  /** At once on the page: whoever gives it is about to type. */
  async name(stamp: string, name: string): Promise<void> {
    const naming = { stamp, name };
    this.#naming.add(naming);
    this.#set(this.store.state.shelf);
    await this.#change(stamp, (known) => known && { ...known, name }, naming);
  }

  /** Lets it go, weights and all. */
  async remove(stamp: string): Promise<void> {
    await transaction("readwrite", (store) => discard(store, [stamp]));
    this.#show(this.store.state.shelf.filter((entry) => entry.stamp !== stamp));
  }

  /** What is on the stage, as far as it is known. */
  async #note(): Promise<void> {
    // Or what was known of it would be overwritten.
    await this.#isRead;
    const { stamp, shelf } = this.store.state;
    const before = shelf.find((entry) => entry.stamp === stamp);
    const now = noted(this.store.state, before);
    if (now === null || same(before, now)) return;
    await this.#change(now.stamp, (known) => ({
      ...now,
      name: known?.name ?? null,
      at: known?.at ?? now.at,
      training: now.training ?? known?.training ?? null,
    }));
  }

  /**
   * As the database has it and not as this tab has seen it: another one may have named it meanwhile. Where it cannot be written the
   * page shows what is kept.
   */
  async #change(
    stamp: string,
    change: (known: Entry | undefined) => Entry | null | undefined,
    naming?: Naming,
  ): Promise<void> {
    const needed = new Set([...this.#needed(), ...(await neededAnywhere())]);
    let found: ReturnType<typeof sorted> | undefined;
    const done = await transaction("readwrite", (store) => {
      const weights = store("networks").getKey(stamp);
      const all: IDBRequest<Entry[]> = store("shelf").getAll();
      all.onsuccess = () => {
        const entry = change(all.result.find((other) => other.stamp === stamp));
        // One that another tab has let go is nothing to come back to.
        if (!entry || weights.result === undefined) return;
        found = sorted([...all.result.filter((other) => other.stamp !== stamp), entry], needed);
        store("shelf").put(entry, stamp);
        discard(
          store,
          found.old.map((old) => old.stamp),
        );
      };
      return all;
    });
    // Written or not, the database has the last word from here on.
    if (naming) this.#naming.delete(naming);
    if (done === undefined) await this.#read();
    else if (found) this.#show(found.kept);
  }

  #show(shelf: Entry[]): void {
    this.#set(shelf);
    this.#tellOthers();
  }

  #set(there: Entry[]): void {
    const shelf = renamed(there, this.#naming);
    const stamps = new Set(shelf.map(({ stamp }) => stamp));
    const gone = this.store.state.shelf.flatMap(({ stamp }) => (stamps.has(stamp) ? [] : stamp));
    this.store.set({ shelf });
    if (gone.length > 0) this.gone(gone);
  }

  #needed(): ReadonlySet<string> {
    const { stamp } = this.store.state;
    return new Set([...this.needed(), ...(stamp === null ? [] : [stamp])]);
  }

  /** `isStart`: and lets go what a page that was closed between two steps has left without its other half. */
  async #read(isStart = false): Promise<void> {
    let [there, keys, last]: [Entry[], string[], string | null] = [[], [], null];
    const done = await transaction("readonly", (store) => {
      const entries: IDBRequest<Entry[]> = store("shelf").getAll();
      const networks = store("networks").getAllKeys();
      const snapshots = store("snapshots").getAllKeys();
      const stamp: IDBRequest<string | undefined> = store("last").get(STAMP);
      stamp.onsuccess = () => {
        last = stamp.result ?? null;
        const weights = networks.result.map(String);
        there = entries.result.filter(({ stamp }) => weights.includes(stamp));
        keys = [...weights, ...snapshots.result.map(String), ...entries.result.map(({ stamp }) => stamp)];
      };
      return store("last").count();
    });
    // What cannot be read is not known to be gone.
    if (done === undefined) return;
    this.#set(there.sort(byAge));
    if (!isStart || keys.length === 0) return;
    const known = new Set([...there.map(({ stamp }) => stamp), ...(await neededAnywhere()), last, ARRIVAL]);
    const lost = keys.filter((stamp) => !known.has(stamp) && stamp !== this.store.state.stamp);
    if (lost.length > 0) await transaction("readwrite", (store) => discard(store, lost));
  }
}

/** With the names that are still to be written, the last one of each network. */
export function renamed(entries: readonly Entry[], naming: Iterable<Naming>): Entry[] {
  const names = new Map([...naming].map(({ stamp, name }) => [stamp, name]));
  return entries.map((entry) => ({ ...entry, name: names.get(entry.stamp) ?? entry.name }));
}

/** The network on the stage, with what was known of it before; null where there is none that is kept. */
export function noted(state: State, known: Entry | undefined): Entry | null {
  const { stamp, model, training, trainChoice, way, accuracy } = state;
  if (stamp === null || isArrival(stamp) || !model) return null;
  return {
    stamp,
    name: known?.name ?? null,
    at: known?.at ?? Date.now(),
    summary: model.summary,
    parameterCount: model.parameterCount,
    way: way || (known?.way ?? 0),
    data: model.data,
    // A newer build of the page has the weights and not what was shown of them: what is known of their training stays.
    training: training ? trainChoice : (known?.training ?? null),
    ...stoppedAt(training, known),
    testAccuracy: testAccuracyOf({ model, training, accuracy }) ?? known?.testAccuracy ?? null,
  };
}

/** Of the network as trained; where there are no samples for that, there is none. */
export function testAccuracyOf({
  model,
  training,
  accuracy,
}: Pick<State, "model" | "training" | "accuracy">): number | undefined {
  const measured = (model?.validationSamples ?? 0) > 0 ? accuracy.trained : undefined;
  return training?.validationAccuracy ?? measured ?? undefined;
}

function stoppedAt(training: State["training"], known: Entry | undefined): Pick<Entry, "stoppedAt"> {
  const at = training ? (training.stopped ? training.epochs : undefined) : known?.stoppedAt;
  return at === undefined ? {} : { stoppedAt: at };
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

type Stores = Parameters<Parameters<typeof transaction>[1]>[0];

function discard(store: Stores, stamps: string[]): IDBRequest<number> {
  for (const name of ["networks", "snapshots", "shelf"] as const) {
    for (const stamp of stamps) store(name).delete(stamp);
  }
  return store("last").count();
}
