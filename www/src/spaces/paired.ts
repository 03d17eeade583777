/**
 * Comparisons of what was trained from the same seeds. All methods begin a seed with the same weights and see the same batches, so what
 * a seed makes easy or hard is in both, and cancels in their difference: intervals are of differences, seed by seed.
 */

import { BLOWN_UP, begun } from "./results";

/** Of two runs a spread can be computed, but it is known to within a factor of thirty: nothing is decided by fewer than three. */
export const LEAST_SEEDS = 3;

/**
 * Student's t: within ± this many standard errors of the mean lie 95 % of all means of normal values whose spread is estimated from
 * themselves. By degrees of freedom, one less than the seeds, from 1 to 9: the page makes ten runs of each kind at the most.
 */
export const T_95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262] as const;

/** A mean, and where the true one lies with 95 % confidence: anywhere, where too few seeds say something. */
export interface Interval {
  mean: number;
  low: number;
  high: number;
  /** Those that say something. */
  seeds: number;
}

/** What a claim says of a number; ends that it says nothing of are left out. */
export interface Claim {
  above?: number;
  below?: number;
}

export type Verdict = "agrees" | "differs" | "cannot say";

/**
 * Of one value a seed, null where a seed says nothing. `grain`: the least standard deviation that values of such a kind can be said to
 * have. Counts that are equal by chance have none of their own, and would decide anything.
 */
export function interval(values: readonly (number | null)[], grain = 0): Interval {
  const known = values.filter((value): value is number => value !== null);
  const seeds = known.length;
  const mean = known.reduce((sum, value) => sum + value, 0) / seeds;
  if (seeds < LEAST_SEEDS) return { mean, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY, seeds };
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const deviation = Math.max(Math.sqrt(squares / (seeds - 1)), grain);
  // With more seeds than the table has, its last entry is a little too large, and errs towards saying nothing.
  const quantile = T_95[Math.min(seeds - 2, T_95.length - 1)] ?? Number.POSITIVE_INFINITY;
  const reach = (quantile * deviation) / Math.sqrt(seeds);
  return { mean, low: mean - reach, high: mean + reach, seeds };
}

/** Agrees where the whole interval is as claimed, differs where none of it is. */
export function verdictOn(
  { low, high }: Interval,
  { above = Number.NEGATIVE_INFINITY, below = Number.POSITIVE_INFINITY }: Claim,
): Verdict {
  if (high < above || low > below) return "differs";
  return low > above && high < below ? "agrees" : "cannot say";
}

/** Of claims that are made together: one that differs is enough, and all have to agree. */
export function together(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes("differs")) return "differs";
  return verdicts.every((verdict) => verdict === "agrees") ? "agrees" : "cannot say";
}

/**
 * The logarithm of one run's loss over the other's, seed by seed. Ratios and not differences: losses of 0.2 and 0.4 are as far apart as
 * 0.02 and 0.04. A run that has diverged counts with the least loss that counts as diverged, so it is worse than any that has not, by at
 * least what is said. A seed says nothing where both have diverged, or where neither has begun to learn: what they differ by is then
 * chance. `atBest`: nor where one has not, though it did not diverge. How good methods are at their best is seen only when each has got
 * somewhere; before that it is a matter of how long one waits.
 */
export function logRatios(
  losses: readonly (number | undefined)[],
  others: readonly (number | undefined)[],
  { atBest = false } = {},
): (number | null)[] {
  return losses.map((loss, seed) => {
    const other = others[seed];
    if (loss === undefined || other === undefined) return null;
    const finite = [loss, other].filter(Number.isFinite);
    if (finite.length === 0) return null;
    const waiting = finite.filter((each) => !begun(each)).length;
    if (waiting === 2 || (atBest && waiting > 0)) return null;
    return Math.log(Math.min(loss, BLOWN_UP) / Math.min(other, BLOWN_UP));
  });
}

/** The least-squares slope of y over x; null of fewer than three points, or where all have one x. */
export function slope(points: readonly (readonly [number, number])[]): number | null {
  if (points.length < 3) return null;
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const spread = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  return spread === 0 ? null : points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) / spread;
}
