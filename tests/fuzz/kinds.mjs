/** All kinds of case. Each has a name, the targets it is for, `generate(random, target)` and, if it is no list of steps, `execute`. */

import extremes from "./kinds/extremes.mjs";
import faults from "./kinds/faults.mjs";
import files from "./kinds/files.mjs";
import hostile from "./kinds/hostile.mjs";
import invariance from "./kinds/invariance.mjs";
import options from "./kinds/options.mjs";
import stopping from "./kinds/stopping.mjs";
import { Random } from "./random.mjs";

export const kinds = Object.fromEntries(
  [files, options, hostile, extremes, invariance, stopping, faults].map((kind) => [kind.name, kind]),
);

/** Case number `index` of a kind: the same for the same seed, whenever it is asked for. A GPU computes in f32, whatever one asks for. */
export function caseOf(kind, target, seed, index) {
  const test = { kind, ...kinds[kind].generate(new Random(`${seed} ${kind} ${target} ${index}`), target) };
  return target === "gpu" && test.precision !== undefined ? { ...test, precision: "f32" } : test;
}
