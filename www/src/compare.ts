/** A measure before and after the bend: how far it went, and whether that is more than the numbers' own uncertainty. */

import type { BackendInfo, MeasureDescription, MeasureValue } from "isoflat";
import { factor, number } from "./format";
import type { Bend } from "./store";

export interface Comparison {
  verdict: "still" | "moves" | "unsure";
  /** after / before; NaN where a factor says nothing (zero, or another sign). */
  ratio: number;
  symbol: string;
  word: string;
}

/** How far two computations of the same number may lie apart: rounding over a Lanczos run. */
const TOLERANCE = { f64: 1e-6, f32: 2e-3 } as const;

export function compare(before: MeasureValue, after: MeasureValue, precision: BackendInfo["precision"]): Comparison {
  const size = Math.max(Math.abs(before.value), Number.MIN_VALUE);
  const change = Math.abs(after.value - before.value) / size;
  const uncertainty = (value: MeasureValue) =>
    ((value.residual ?? 0) + 3 * (value.standardError ?? 0)) / Math.max(Math.abs(value.value), Number.MIN_VALUE);
  // One that was kept may be another device's.
  const isCoarse = [precision, before.precision, after.precision].includes("f32");
  const tolerance = TOLERANCE[isCoarse ? "f32" : "f64"] + uncertainty(before) + uncertainty(after);
  const ratio = after.value / before.value > 0 ? after.value / before.value : Number.NaN;
  if (change <= tolerance) {
    const by = change === 0 ? "exactly" : `to ${number(change, 1)}`;
    return { verdict: "still", ratio, symbol: "=", word: `stands still, ${by}` };
  }
  if (!before.converged || !after.converged) {
    return { verdict: "unsure", ratio, symbol: "?", word: "not converged" };
  }
  const up = Math.abs(after.value) > Math.abs(before.value);
  const word = Number.isNaN(ratio) ? "moves, changes sign" : `moves, ${factor(ratio)}`;
  return { verdict: "moves", ratio, symbol: up ? "↗" : "↘", word };
}

/** By theory, under the maps that the bend is made of. */
export function shouldStandStill(
  { invariant }: Pick<MeasureDescription, "invariant">,
  { lambda, nodewise, permutation }: Bend,
): boolean {
  return (
    (invariant.layerwise || lambda.every((factor) => factor === 1)) &&
    (invariant.nodewise || nodewise === null) &&
    (invariant.permutation || permutation === null)
  );
}
