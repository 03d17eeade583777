/** The way of a training: the weights at evenly spaced steps, from its beginning to its end. */

import type { Snapshot } from "isoflat";

/** In f32, in which networks are trained: half as much to keep, and nothing that a drawing shows. */
export interface WayStep {
  step: number;
  /** Passes over the data so far. */
  epoch: number;
  loss: number;
  parameters: Float32Array;
}

export type Way = readonly WayStep[];

/** So many are kept, and no more than so much. */
const MOST = 33;
const MOST_BYTES = 32e6;
/** Fewer would draw no way. */
const LEAST = 5;

/** How many snapshots a network of so many parameters is given at most; 0 where it is too large for a way. */
export function snapshotsOf(parameterCount: number): number {
  const count = Math.min(MOST, Math.floor(MOST_BYTES / (4 * parameterCount)));
  return count < LEAST ? 0 : count;
}

/** The package's rule for a count of snapshots: steps between two of them, where so many steps are done. */
function spacingOf(steps: number, count: number): number {
  let spacing = 1;
  while (Math.floor(steps / spacing) + 2 > count) spacing *= 2;
  return spacing;
}

/** A way, and what was trained since: what a run without a stop would have kept. */
export function joined(before: Way, more: readonly Snapshot[], count: number): Way {
  const [first, last] = [more[0], more.at(-1)];
  if (!first || !last) return before;
  const spacing = spacingOf(last.step, count);
  const isKept = ({ step }: { step: number }): boolean => step % spacing === 0;
  const since = more.filter((snapshot) => isKept(snapshot) || snapshot === last);
  return [
    ...before.filter((kept) => kept.step < first.step && isKept(kept)),
    ...since.map(({ step, epoch, loss, parameters }) => ({
      step,
      epoch,
      loss,
      parameters: Float32Array.from(parameters),
    })),
  ];
}
