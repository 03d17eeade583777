/** Undo and redo: what the page showed before each thing that was changed, results and all. */

import { PARTS, type Snapshot, type Step, stepNow } from "./kept";
import type { Key, State, Store } from "./store";

/** What a person chooses; all else follows from it. */
const CHOSEN = ["sharpness", "bend", "landscapeChoice", "look", "spectrumChoice", "stamp"] as const satisfies Key[];

const MOST = 50;
/** A slider is moved to many places on its way to one. */
const REST_MS = 500;

/** What is chosen, as one can compare it. */
const chosen = (stamp: string, snapshot: Snapshot): string[] => {
  const { sharpness, bend, landscapeChoice, look, spectrumChoice, model } = snapshot;
  return [
    stamp,
    JSON.stringify([sharpness, bend]),
    JSON.stringify(landscapeChoice),
    // Not from where: turning a surface is no step, and no step turns it.
    JSON.stringify([look.view, look.height]),
    JSON.stringify(spectrumChoice),
    String(model?.measuredSamples),
  ];
};

const NAMES = ["the network", "the bend", "the landscape", "the view", "the spectrum", "the samples"];

/** What is not the same in both, in words; null where all of it is. */
function difference(a: Step, b: Step): string | null {
  const other = chosen(b.stamp, b.snapshot);
  const at = chosen(a.stamp, a.snapshot).findIndex((value, index) => value !== other[index]);
  return at < 0 ? null : (NAMES[at] ?? null);
}

/** How it went to bring the page to a step: it may be kept no longer, fail, or give way to what a person does meanwhile. */
export type Reached = "shown" | "gone" | "overtaken";

interface Steps {
  past: Step[];
  present: Step | null;
  future: Step[];
}

export class History {
  #steps: Steps = { past: [], present: null, future: [] };
  /** While there is no step: what is to be the first. An address may still be putting it where it says. */
  #first: Step | null = null;
  /** What the steps were before those that the page is on its way to. */
  #before: Steps | null = null;
  #asked = 0;
  /** Addresses that are being carried out. */
  #passing = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `go` brings the page to a step. */
  constructor(
    private readonly store: Store,
    private readonly go: (step: Step) => Promise<Reached>,
  ) {
    store.watch([...CHOSEN, "ready", "task"], () => (this.#isOfOther() ? this.#note() : this.#later(true)));
    store.watch([...PARTS], () => this.#later(false));
  }

  /** Networks that one can come back to. */
  get stamps(): ReadonlySet<string> {
    const of = ({ past, present, future }: Steps): Step[] => [...past, ...future, ...(present ? [present] : [])];
    return new Set([...of(this.#steps), ...(this.#before ? of(this.#before) : [])].map(({ stamp }) => stamp));
  }

  async undo(): Promise<void> {
    this.#note();
    const { past, present, future } = this.#steps;
    // What is shown now may be nothing to come back to: a network that is still to be trained.
    if (present && this.#isAway()) return await this.#goTo({ past, present, future });
    const target = past.at(-1);
    if (target)
      await this.#goTo({ past: past.slice(0, -1), present: target, future: present ? [...future, present] : future });
  }

  async redo(): Promise<void> {
    this.#note();
    const { past, present, future } = this.#steps;
    const target = future.at(-1);
    if (target)
      await this.#goTo({ past: present ? [...past, present] : past, present: target, future: future.slice(0, -1) });
  }

  /**
   * From now on the page passes what is nothing to come back to, until what is returned is called: an address is carried out in several
   * steps, and a worker may take longer for one of them than a choice has to rest.
   */
  passing(): () => void {
    // Where nothing has rested yet, the page has only just been opened: by the address, say.
    if (this.#steps.present) this.#note();
    this.#passing++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#passing--;
      this.#later(true);
    };
  }

  /** Steps of networks that are kept no longer are nothing to come back to; what is on the stage stays. */
  forget(stamps: string[]): void {
    const isThere = ({ stamp }: Step): boolean => !stamps.includes(stamp);
    const without = ({ past, present, future }: Steps): Steps => {
      const shown = present && (isThere(present) || present.stamp === this.store.state.stamp) ? present : null;
      return {
        past: distinct(past.filter(isThere), shown),
        present: shown,
        future: distinct(future.filter(isThere), shown),
      };
    };
    this.#steps = without(this.#steps);
    if (this.#before) this.#before = without(this.#before);
    this.#say();
  }

  /** With `after` as the steps if the page gets there; as if nothing had been asked for if it does not. */
  async #goTo(after: Steps & { present: Step }): Promise<void> {
    const mine = ++this.#asked;
    const { stamp } = after.present;
    this.#before ??= this.#steps;
    this.#steps = after;
    this.#say();
    const reached = await this.go(after.present);
    if (mine === this.#asked) {
      if (reached !== "shown") this.#steps = this.#before;
      this.#before = null;
    }
    if (reached === "gone") this.forget([stamp]);
    this.#later(true);
    this.#say();
  }

  #later(isChosen: boolean): void {
    // Results that come in the meantime do not put off what a person has done.
    if (!isChosen && this.#timer !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#note(), REST_MS);
  }

  #now(): Step | null {
    // While it starts the page moves by itself; on its way to a step it still shows the one before.
    const isMoving = this.store.state.task === "starting" || this.#before !== null || this.#passing > 0;
    return isMoving ? null : stepNow(this.store.state);
  }

  /** Is something on the page that is no step? */
  #isAway(): boolean {
    const { state } = this.store;
    return this.#steps.present !== null && !this.#before && state.task !== "starting" && stepNow(state) === null;
  }

  /** Another network is on the stage: that is a step however soon the next one follows, and so is the first, as it was shown last. */
  #isOfOther(): boolean {
    const now = this.#now();
    if (now === null) return false;
    if (this.#steps.present === null) {
      if (this.#first && this.#first.stamp !== now.stamp) this.#steps.present = this.#first;
      this.#first = now;
    }
    return this.#steps.present !== null && now.stamp !== this.#steps.present.stamp;
  }

  #note(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const now = this.#now();
    if (now) {
      const { past, present, future } = this.#steps;
      const isOther = present !== null && difference(present, now) !== null;
      this.#steps = isOther
        ? { past: [...past, present].slice(-MOST), present: now, future: [] }
        : { past, present: now, future };
      this.#first = null;
    }
    this.#say();
  }

  #say(): void {
    const { past, present, future } = this.#steps;
    const [before, next] = [past.at(-1), future.at(-1)];
    const words: Pick<State, "undo" | "redo"> = {
      undo: this.#isAway() ? "the network" : before && present ? difference(before, present) : null,
      redo: next && present ? difference(present, next) : null,
    };
    const { undo, redo } = this.store.state;
    if (words.undo !== undo || words.redo !== redo) this.store.set(words);
  }
}

/** Without those that are the same as what one would come from. */
function distinct(steps: Step[], present: Step | null): Step[] {
  const found: Step[] = [];
  for (const step of steps.toReversed()) {
    const next = found[0] ?? present;
    if (!next || difference(step, next) !== null) found.unshift(step);
  }
  return found;
}
