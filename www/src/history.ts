/** Undo and redo: what the page showed before each thing that was changed, results and all. */

import { PARTS, type Snapshot, type Step, stepNow } from "./kept";
import type { Key, State, Store } from "./store";

/** What a person chooses; all else follows from it. */
const CHOSEN = ["sharpness", "bend", "landscapeChoice", "spectrumChoice", "stamp"] as const satisfies Key[];

const MOST = 50;
/** A slider is moved to many places on its way to one. */
const REST_MS = 500;

/** What is chosen, as one can compare it. */
const chosen = (stamp: string, { sharpness, bend, landscapeChoice, spectrumChoice, model }: Snapshot): string[] => [
  stamp,
  JSON.stringify([sharpness, bend]),
  JSON.stringify(landscapeChoice),
  JSON.stringify(spectrumChoice),
  String(model?.measuredSamples),
];

const NAMES = ["the network", "the bend", "the landscape", "the spectrum", "the samples"];

/** What is not the same in both, in words; null where all of it is. */
function difference(a: Step, b: Step): string | null {
  const other = chosen(b.stamp, b.snapshot);
  const at = chosen(a.stamp, a.snapshot).findIndex((value, index) => value !== other[index]);
  return at < 0 ? null : (NAMES[at] ?? null);
}

export class History {
  #past: Step[] = [];
  #present: Step | null = null;
  #future: Step[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `go` brings the page to a step, and says whether it could. */
  constructor(
    private readonly store: Store,
    private readonly go: (step: Step) => Promise<boolean>,
  ) {
    store.watch([...CHOSEN, "ready", "task"], () => this.#later(true));
    store.watch([...PARTS], () => this.#later(false));
  }

  /** Networks that one can come back to. */
  get stamps(): ReadonlySet<string> {
    const steps = [...this.#past, ...this.#future, ...(this.#present ? [this.#present] : [])];
    return new Set(steps.map(({ stamp }) => stamp));
  }

  async undo(): Promise<void> {
    clearTimeout(this.#timer);
    this.#note();
    // What is shown now may be nothing to come back to: a network that is still to be trained.
    const target = this.#isAway() ? this.#present : this.#past.pop();
    if (!target) return;
    if (target !== this.#present && this.#present) this.#future.push(this.#present);
    await this.#goTo(target);
  }

  async redo(): Promise<void> {
    const target = this.#future.pop();
    if (!target) return;
    if (this.#present) this.#past.push(this.#present);
    await this.#goTo(target);
  }

  async #goTo(target: Step): Promise<void> {
    this.#present = target;
    // A network that is kept no longer is nothing to come back to.
    if (!(await this.go(target))) {
      const isThere = ({ stamp }: Step): boolean => stamp !== target.stamp;
      this.#past = this.#past.filter(isThere);
      this.#future = this.#future.filter(isThere);
      this.#present = null;
    }
    this.#say();
  }

  #later(isChosen: boolean): void {
    // Results that come in the meantime do not put off what a person has done.
    if (!isChosen && this.#timer !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#note(), REST_MS);
  }

  #now(): Step | null {
    // While it starts the page moves by itself.
    return this.store.state.task === "starting" ? null : stepNow(this.store.state);
  }

  /** Is something on the page that is no step? */
  #isAway(): boolean {
    const { ready, task } = this.store.state;
    return this.#present !== null && !ready && task !== "starting";
  }

  #note(): void {
    this.#timer = undefined;
    const now = this.#now();
    if (now) {
      if (this.#present && difference(this.#present, now) !== null) {
        this.#past = [...this.#past, this.#present].slice(-MOST);
        this.#future = [];
      }
      this.#present = now;
    }
    this.#say();
  }

  #say(): void {
    const [before, next, present] = [this.#past.at(-1), this.#future.at(-1), this.#present];
    const words: Pick<State, "undo" | "redo"> = {
      undo: this.#isAway() ? "the network" : before && present ? difference(before, present) : null,
      redo: next && present ? difference(present, next) : null,
    };
    const { undo, redo } = this.store.state;
    if (words.undo !== undo || words.redo !== redo) this.store.set(words);
  }
}
