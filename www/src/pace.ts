/** How far a job of many pieces is, and how long it will take yet: by estimates, corrected by the pace so far. */

/** Seconds at the estimated pace that the first pieces are mixed with: one short piece says little of the others. */
const PRIOR = 1;
/** Of what is over its time so much is still to come, relative to what it has taken. */
const OVERDUE = 0.25;
/** A share of the running piece beyond which its own pace is all that counts. */
const TELLING = 0.3;

export interface Part {
  /** Parts of one group are off by the same factor: how training goes says nothing of measures. */
  group: string;
  /** Estimated; null where there is no telling. */
  seconds: number | null;
}

export interface HowFar {
  /** In [0, 1], and never less than before; null while nothing can be said. */
  fraction: number | null;
  left: number | null;
}

export class Pace {
  readonly #groups = new Map<string, { estimated: number; actual: number }>();
  #running: ({ began: number } & Part) | null = null;
  #spent = 0;
  #finished = 0;
  #shown = 0;

  /** `now`: in seconds. */
  constructor(private readonly now: () => number) {}

  begin(part: Part): void {
    this.#running = { began: this.now(), ...part };
  }

  /** What ran has been given up. */
  rest(): void {
    this.#running = null;
  }

  /** How long the running piece has taken. */
  end(): number {
    if (!this.#running) return 0;
    const { began, group, seconds } = this.#running;
    const taken = this.now() - began;
    this.#running = null;
    this.#spent += taken;
    this.#finished++;
    if (seconds !== null) {
      const { estimated, actual } = this.#groups.get(group) ?? { estimated: 0, actual: 0 };
      this.#groups.set(group, { estimated: estimated + seconds, actual: actual + taken });
    }
    return taken;
  }

  /** What a part takes as things are going, relative to its estimate. */
  factor(group: string): number {
    const { estimated, actual } = this.#groups.get(group) ?? { estimated: 0, actual: 0 };
    return (actual + PRIOR) / (estimated + PRIOR);
  }

  /** `share`: how much of the running piece is done, where it says so; `after`: the pieces that come after it. */
  howFar(after: readonly Part[], share: number | null): HowFar {
    const running = this.#running;
    const elapsed = running ? this.now() - running.began : 0;
    const spent = this.#spent + elapsed;
    const own = running ? this.#left(elapsed, running, share) : 0;
    const others = after.reduce<number | null>(
      (sum, { group, seconds }) => (sum === null || seconds === null ? null : sum + this.factor(group) * seconds),
      0,
    );
    if (own === null || others === null) {
      // By their number, where times are not known.
      const total = this.#finished + Number(running !== null) + after.length;
      return { fraction: this.#atLeast(total > 0 ? (this.#finished + (share ?? 0)) / total : 0), left: null };
    }
    const left = own + others;
    return { fraction: this.#atLeast(spent + left > 0 ? spent / (spent + left) : 0), left };
  }

  #left(elapsed: number, { group, seconds }: Part, share: number | null): number | null {
    const known = share !== null && share > 0 ? Math.min(share, 1) : 0;
    const byShare = known > 0 ? (elapsed * (1 - known)) / known : 0;
    if (seconds === null) return known > 0 ? byShare : null;
    const byEstimate = Math.max(this.factor(group) * seconds - elapsed, OVERDUE * elapsed);
    const weight = Math.min(known / TELLING, 1);
    return weight * byShare + (1 - weight) * byEstimate;
  }

  /** A bar that goes back says that all before was wrong. */
  #atLeast(fraction: number): number {
    this.#shown = Math.max(this.#shown, Math.min(fraction, 1));
    return this.#shown;
  }
}
