/** What the runs have come to, and the numbers that charts and findings read from it. */

import type { RunEnd, RunPoint } from "../worker/spaces-protocol";
import { keyOf, type Run } from "./methods";

/** Nobody knows less than one who gives each of ten digits the same probability: that loss is ln 10. */
export const GUESSING = Math.log(10);
/** A validation loss above this is a run that has blown up, though its numbers may still be finite. */
export const BLOWN_UP = 10;

/** Training begins near what guessing costs: a training loss above twice that is of the steps' own making. */
const EXPLODED = 2 * GUESSING;

/** One run from one initialisation. */
export interface Curve {
  points: RunPoint[];
  end: RunEnd["end"] | "running";
}

/** By the run's key; one curve for each initialisation. */
export type Curves = ReadonlyMap<string, readonly Curve[]>;

export class Results {
  constructor(
    readonly curves: Curves,
    /** How many curves each run is to have. */
    readonly repeats: number,
  ) {}

  /** The curves of a run, as many as there are by now. */
  of(run: Run): readonly Curve[] {
    return this.curves.get(keyOf(run)) ?? [];
  }

  /** The best validation loss over the epochs, as the thesis counts, from each initialisation: infinite where it diverged. */
  losses(run: Run): (number | undefined)[] {
    return Array.from({ length: this.repeats }, (_, seed) => {
      const curve = this.of(run)[seed];
      return curve && lowest(curve);
    });
  }

  /** From each initialisation: did it diverge, or its training loss explode on the way? */
  explosions(run: Run): boolean[] {
    return Array.from({ length: this.repeats }, (_, seed) => {
      const curve = this.of(run)[seed];
      return curve !== undefined && (curve.end === "diverged" || curve.points.some(({ loss }) => !(loss <= EXPLODED)));
    });
  }

  /** Averaged over the initialisations. Infinite if one diverged; undefined while there is none. */
  best(run: Run): number | undefined {
    const losses = this.losses(run).filter((loss) => loss !== undefined);
    return losses.length === 0 ? undefined : losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
  }

  /** The run of the lowest loss, if one has a finite one. */
  winner(runs: Run[]): { run: Run; loss: number } | undefined {
    let winner: { run: Run; loss: number } | undefined;
    for (const run of runs) {
      const loss = this.best(run);
      if (loss !== undefined && Number.isFinite(loss) && !(winner && winner.loss <= loss)) winner = { run, loss };
    }
    return winner;
  }

  /**
   * The run of the lowest mean loss. Where one seed or another diverged in each of them, that of the least with diverged ones counted
   * as what they are at least.
   */
  leader(runs: Run[]): Run {
    const atLeast = (run: Run) =>
      this.losses(run).reduce<number>((sum, loss) => sum + Math.min(loss ?? BLOWN_UP, BLOWN_UP), 0);
    const [least] = [...runs].sort((a, b) => atLeast(a) - atLeast(b));
    const leader = this.winner(runs)?.run ?? least;
    if (!leader) throw new Error("no runs to choose from");
    return leader;
  }

  /** Have all these ended by themselves, from every initialisation? */
  complete(runs: Run[]): boolean {
    return runs.every((run) => {
      const curves = this.of(run);
      return curves.length >= this.repeats && curves.every(({ end }) => end === "done" || end === "diverged");
    });
  }
}

function lowest({ points, end }: Curve): number | undefined {
  const losses = points.flatMap(({ validationLoss }) => validationLoss ?? []);
  // What is not a number is no loss, and must not hide those that are.
  const least = Math.min(...losses.filter((loss) => !Number.isNaN(loss)));
  if (losses.length === 0) return end === "diverged" ? Number.POSITIVE_INFINITY : undefined;
  return least > BLOWN_UP ? Number.POSITIVE_INFINITY : least;
}

/** Better than half of what guessing costs: at such a rate a network can be said to learn. */
export const learns = (loss: number | undefined): boolean => loss !== undefined && loss < GUESSING / 2;

/** Has training got anywhere yet? */
export const begun = (loss: number): boolean => loss < 0.9 * GUESSING;
