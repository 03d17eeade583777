/** Two runs, or two methods, held against each other and against what is claimed of them, with the sentence that says how it came out. */

import { number, round } from "../format";
import type { Run } from "./methods";
import { type Claim, type Interval, interval, LEAST_SEEDS, logRatios, slope, type Verdict, verdictOn } from "./paired";
import { begun, learns, type Results } from "./results";

export interface Comparison {
  interval: Interval;
  verdict: Verdict;
  here: string;
}

/** One side of a comparison: a run, and what it is called here. */
export interface Side {
  name: string;
  run: Run;
}

/**
 * The standard deviation of whole numbers that stand for something continuous: 1/√12 of their step. From where on a method learns lies
 * between two rates that were tried, so counts that are equal at every seed are known no better than that.
 */
const GRAIN = 1 / Math.sqrt(12);

/** `claim` is of the ratio of the losses; `atBest`: are they said to be each one's best? */
export function compareLosses(
  results: Results,
  side: Side,
  other: Side,
  claim: Claim,
  { atBest = false } = {},
): Comparison {
  const [losses, others] = [results.losses(side.run), results.losses(other.run)];
  const ratio = interval(logRatios(losses, others, { atBest }));
  const verdict = verdictOn(ratio, logarithms(claim));
  if (ratio.seeds === 0) {
    const why = `${atBest ? "one of them has not" : "neither has"} begun to learn${atBest ? " at any rate" : ""}, or both have diverged`;
    return { interval: ratio, verdict, here: `${side.name} and ${other.name} cannot be compared: ${why}` };
  }
  const lost = [...losses, ...others].some((loss) => loss === Number.POSITIVE_INFINITY);
  const times = `${said(Math.exp(ratio.mean))} times`;
  const how = bracket(ratio, results, claim, Math.exp) + (lost ? ", where diverged runs count as a loss of 10" : "");
  return { interval: ratio, verdict, here: `${side.name} has ${times} the loss of ${other.name} ${how}` };
}

/** What can be said of a run, seed by seed, and the word for it. */
export interface Trait {
  verb: string;
  of: (results: Results, run: Run) => boolean[];
}

export const LEARNS: Trait = { verb: "learns", of: (results, run) => results.losses(run).map(learns) };
export const EXPLODES: Trait = { verb: "explodes", of: (results, run) => results.explosions(run) };

/** `claim` is of the difference between the numbers of rates at which that is so of them. */
export function compareCounts(
  results: Results,
  { verb, of: isSo }: Trait,
  [name, runs]: [string, Run[]],
  [otherName, others]: [string, Run[]],
  claim: Claim,
): Comparison {
  const countsOf = (of: Run[]): number[] => {
    const all = of.map((each) => isSo(results, each));
    return Array.from({ length: results.repeats }, (_, seed) => all.filter((each) => each[seed]).length);
  };
  const [counts, otherCounts] = [countsOf(runs), countsOf(others)];
  const difference = interval(
    counts.map((count, seed) => count - (otherCounts[seed] ?? 0)),
    GRAIN,
  );
  const [mean, otherMean] = [counts, otherCounts].map((of) => of.reduce((sum, count) => sum + count, 0) / of.length);
  const rates = `${name} ${verb} at ${plain(mean ?? 0)} of ${runs.length} rates and ${otherName} at ${plain(otherMean ?? 0)}`;
  const more = `${plain(Math.abs(difference.mean))} ${difference.mean < 0 ? "fewer" : "more"}`;
  const here = `${rates}: ${more} ${bracket(difference, results, claim)}`;
  return { interval: difference, verdict: verdictOn(difference, claim), here };
}

/**
 * How the best rate goes with a value: the slope of its logarithm over the value's, from each seed. Here each seed has its own best
 * rates, since they are what is measured. `claim` is of the factor for ten times the value.
 */
export function compareRates(
  results: Results,
  values: readonly number[],
  runsOf: (value: number) => Run[],
  claim: Claim,
): Comparison {
  const slopes = Array.from({ length: results.repeats }, (_, seed) =>
    slope(
      values.flatMap((value) => {
        const [best] = runsOf(value)
          .map((each) => ({ rate: each.rate, loss: results.losses(each)[seed] ?? Number.POSITIVE_INFINITY }))
          .sort((a, b) => a.loss - b.loss);
        return best && begun(best.loss) ? [[Math.log10(value), Math.log10(best.rate)] as const] : [];
      }),
    ),
  );
  const factor = interval(
    slopes.map((each) => each && each * Math.LN10),
    grainOfSlope(values) * Math.LN10,
  );
  const verdict = verdictOn(factor, logarithms(claim));
  if (factor.seeds === 0) return { interval: factor, verdict, here: "fewer than three values learn at any rate" };
  const here = `for ten times the value the best rate is ${said(Math.exp(factor.mean))} times as large ${bracket(factor, results, claim, Math.exp)}`;
  return { interval: factor, verdict, here };
}

/** Rates are tried a factor of ten apart: what that coarseness makes of the slope. */
function grainOfSlope(values: readonly number[]): number {
  const logs = values.map(Math.log10);
  const mean = logs.reduce((sum, x) => sum + x, 0) / logs.length;
  return GRAIN / Math.sqrt(logs.reduce((sum, x) => sum + (x - mean) ** 2, 0));
}

const said = (value: number): string => number(value, 2);
/** What is a round number by its nature, as one. */
const plain = (value: number): string => round(value, 2);

/** With as many digits as tell an end of an interval from the limits that it is beside. */
function beside(value: number, { above, below }: Claim): string {
  const isLimit = (digits: number) => [above, below].includes(Number(value.toPrecision(digits)));
  return number(value, [2, 3].find((digits) => !isLimit(digits)) ?? 4);
}

const logarithms = ({ above, below }: Claim): Claim => ({
  ...(above !== undefined && { above: Math.log(above) }),
  ...(below !== undefined && { below: Math.log(below) }),
});

/** Where the true value lies, and what is claimed of it. */
function bracket(
  { low, high, seeds }: Interval,
  { repeats }: Results,
  claim: Claim,
  scale: (value: number) => number = (value) => value,
): string {
  const silent = seeds < repeats ? `, from ${seeds} of ${repeats} seeds` : "";
  const where =
    seeds < LEAST_SEEDS
      ? `${seeds === 1 ? "one seed" : "two seeds"} only, ${LEAST_SEEDS} are needed`
      : `${beside(scale(low), claim)} to ${beside(scale(high), claim)}${silent}`;
  return `(${where}; claimed: ${words(claim)})`;
}

function words({ above, below }: Claim): string {
  if (above === undefined) return `less than ${plain(below ?? Number.POSITIVE_INFINITY)}`;
  return below === undefined ? `more than ${plain(above)}` : `between ${plain(above)} and ${plain(below)}`;
}
