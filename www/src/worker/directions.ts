/**
 * The two directions of a landscape as vectors. The lab holds them itself, because the bent point is to be looked at
 * along the very vectors that were scaled for the trained one.
 */

import type { ParameterBlock } from "isoflat";
import type { NormalizationKind } from "./protocol";

/** Small and seeded; its only task is to draw directions. */
function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
}

/** Standard normal entries (Box and Muller). */
export function randomVector(length: number, seed: number): Float64Array {
  const next = uniform(seed);
  const vector = new Float64Array(length);
  for (let i = 0; i < length; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(1 - next()));
    const angle = 2 * Math.PI * next();
    vector[i] = radius * Math.cos(angle);
    if (i + 1 < length) vector[i + 1] = radius * Math.sin(angle);
  }
  return vector;
}

export function norm(vector: Float64Array): number {
  let sum = 0;
  for (const x of vector) sum += x * x;
  return Math.sqrt(sum);
}

/** Scales v[start..end] in place to the norm of the same part of w; nothing where either is zero. */
function matchNorm(v: Float64Array, w: Float64Array, start: number, end: number): void {
  const part = v.subarray(start, end);
  const length = norm(part);
  const factor = length > 0 ? norm(w.subarray(start, end)) / length : 0;
  for (let i = 0; i < part.length; i++) part[i] = (part[i] ?? 0) * factor;
}

/**
 * `none`: the whole vector at `length`. `layer`: every W_l and b_l at the norm of the weights there (Rangamani, Figure 2).
 * `filter`: every row of W_l at the norm of the row there, biases held (Li et al. 2018).
 */
export function scaled(
  raw: Float64Array,
  parameters: Float64Array,
  blocks: ParameterBlock[],
  kind: NormalizationKind,
  length: number,
): Float64Array {
  const vector = raw.slice();
  if (kind === "none") {
    const factor = length / norm(raw);
    return vector.map((x) => x * factor);
  }
  for (const block of blocks) {
    if (kind === "layer") matchNorm(vector, parameters, block.start, block.end);
    else if (block.kind === "bias") vector.fill(0, block.start, block.end);
    else
      for (let row = 0; row < block.outputs; row++) {
        const start = block.start + row * block.inputs;
        matchNorm(vector, parameters, start, start + block.inputs);
      }
  }
  return vector;
}
