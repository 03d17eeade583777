/** The training that was stopped, or broken off: kept in the browser's own database, so that it can go on. */

import type { Checkpoint } from "isoflat";
import { transaction } from "../database";
import { runs, tellOfTraining } from "../other-tabs";
import type { Last } from "./last";
import type { TrainChoice } from "./protocol";
import type { Way, WayStep } from "./way";

/** What is said of it. */
export interface Unfinished {
  /** Two pages may train at once: the later one's is kept, and when that has come to its end the other's. */
  run: string;
  choice: TrainChoice;
  /** The network, as it is called in a summary. */
  network: string;
  /** Whole epochs, with the part of the one in which it was stopped. */
  epochs: number;
  /** Whole epochs' outcomes. */
  history: Checkpoint["history"];
  /** The network that Stop kept last on its way; null where it was not stopped, or nothing had the time to. */
  stamp: string | null;
  /** Another tab runs it. Nothing of what is kept: the page finds out. */
  isElsewhere?: boolean;
}

/** Whole epochs, with the part of the one that it is in. */
export const epochsOf = ({ steps, samples, batchSize }: Checkpoint): number => steps / Math.ceil(samples / batchSize);

/** All that it takes to go on; without a checkpoint from the beginning. */
export interface ToGoOn extends Pick<Unfinished, "choice" | "stamp"> {
  of: Last;
  checkpoint: Checkpoint | null;
  way: Way;
}

/** Names in the database. Each snapshot of the way has one of its own: they are many times the checkpoint, and stay as they are. */
const [SAID, BEGUN, CHECKPOINT] = ["unfinished", "begun", "checkpoint"] as const;
const nameOf = (step: number): string => `way ${String(step).padStart(16, "0")}`;
const WAY = (): IDBKeyRange => IDBKeyRange.bound("way ", "way ~");

export class UnfinishedRun {
  readonly #run = `${Date.now()} ${Math.random()}`;
  #steps = new Set<number>();
  #letGo = (): void => {};

  constructor(
    private readonly choice: TrainChoice,
    private readonly network: string,
    private readonly of: Last,
    /** Of the network that it goes on from. */
    private readonly stamp: string | null,
  ) {}

  /** In the place of whatever was there. */
  async begin(way: Way, checkpoint: Checkpoint | null): Promise<void> {
    // Before anybody can find it.
    this.#letGo = runs(this.#run);
    await transaction("readwrite", (store) => {
      store("last").delete(WAY());
      for (const step of way) store("last").put(step, nameOf(step.step));
      if (checkpoint) store("last").put(checkpoint, CHECKPOINT);
      else store("last").delete(CHECKPOINT);
      store("last").put({ of: this.of }, BEGUN);
      return store("last").put(this.#said(checkpoint, this.stamp), SAID);
    });
    this.#steps = new Set(way.map(({ step }) => step));
    tellOfTraining();
  }

  /** It does not run any more, and goes on in whichever tab wants it to. */
  rest(): void {
    this.#letGo();
  }

  async reach(checkpoint: Checkpoint, way: Way, stamp = this.stamp): Promise<void> {
    const steps = new Set(way.map(({ step }) => step));
    let isBack = false;
    const isDone = await this.#unlessTaken((store, isFree) => {
      // A run that had been begun in its place has come to its end.
      isBack = isFree;
      if (isFree) {
        this.#steps.clear();
        store.put({ of: this.of }, BEGUN);
      }
      for (const step of this.#steps) if (!steps.has(step)) store.delete(nameOf(step));
      for (const step of way) if (!this.#steps.has(step.step)) store.put(step, nameOf(step.step));
      store.put(checkpoint, CHECKPOINT);
      store.put(this.#said(checkpoint, stamp), SAID);
    });
    if (isDone) this.#steps = steps;
    if (isDone && isBack) tellOfTraining();
  }

  /** It has come to its end. */
  async end(): Promise<void> {
    await this.#unlessTaken((store) => {
      for (const name of [SAID, BEGUN, CHECKPOINT, WAY()]) store.delete(name);
    });
  }

  #said(checkpoint: Checkpoint | null, stamp: string | null): Unfinished {
    const { choice, network } = this;
    const history = checkpoint?.history ?? [];
    return { run: this.#run, choice, network, history, stamp, epochs: checkpoint ? epochsOf(checkpoint) : 0 };
  }

  /** Only where no other run has been begun since, or that one is over; whether that was so, and it is done. */
  async #unlessTaken(body: (store: IDBObjectStore, isFree: boolean) => void): Promise<boolean> {
    let isTaken = true;
    const done = await transaction("readwrite", (store) => {
      const said: IDBRequest<Unfinished | undefined> = store("last").get(SAID);
      said.onsuccess = () => {
        const isFree = said.result === undefined;
        isTaken = !isFree && said.result?.run !== this.#run;
        if (!isTaken) body(store("last"), isFree);
      };
      // Of nothing there the answer is none, as of a transaction that was not to be had.
      return store("last").count();
    });
    return !isTaken && done !== undefined;
  }
}

/** Is there one? */
export async function unfinished(): Promise<Unfinished | null> {
  const said = await transaction("readonly", (store): IDBRequest<Unfinished | undefined> => store("last").get(SAID));
  return said ?? null;
}

/** Undefined where there is none, or another run has taken its place. */
export async function recallUnfinished(run: string): Promise<ToGoOn | undefined> {
  let found: Partial<ToGoOn> = {};
  await transaction("readonly", (store) => {
    const read = <T>(name: string | IDBKeyRange, put: (value: T) => void): void => {
      const request = store("last").getAll(name);
      request.onsuccess = () => put(request.result as T);
    };
    read<[Unfinished?]>(SAID, ([said]) => {
      if (said?.run === run) found = { ...found, choice: said.choice, stamp: said.stamp };
    });
    read<[{ of: Last }?]>(BEGUN, ([begun]) => {
      found = { ...found, ...begun };
    });
    read<[Checkpoint?]>(CHECKPOINT, ([checkpoint]) => {
      found = { ...found, checkpoint: checkpoint ?? null };
    });
    read<WayStep[]>(WAY(), (way) => {
      found = { ...found, way };
    });
    return store("last").count();
  });
  const { of, choice, checkpoint = null, way = [], stamp = null } = found;
  return of && choice ? { of, choice, checkpoint, way, stamp } : undefined;
}
