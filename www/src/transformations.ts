/** The maps of the invariance check: those of the bend where there is one, drawn ones otherwise. */

import type { FreeTensor, Transformation } from "isoflat";
import type { Bend } from "./store";

/** By how much units may be rescaled. */
export const UNIT_RANGE = [1.1, 1000] as const;

export function checkTransformations(bend: Bend, depth: number, range: number): Transformation[] {
  const bent = bend.lambda.some((factor) => factor !== 1);
  const layerwise: Transformation = bent
    ? { type: "layerwise", lambda: bend.lambda }
    : { type: "random_layerwise", seed: 1, low: 1 / range, high: range };
  // With one layer only there is nothing to rescale against and no hidden unit.
  if (depth < 2) return [layerwise];
  const nodewise: Transformation = {
    type: "random_nodewise",
    seed: bend.nodewise?.seed ?? 1,
    low: 1 / range,
    high: range,
  };
  const permutation: Transformation = { type: "random_permutation", seed: bend.permutation?.seed ?? 1 };
  return [layerwise, nodewise, permutation, { type: "composition", of: [layerwise, nodewise, permutation] }];
}

/** The layers' factors where tensors have these, in powers of ten: writers are multiplied by their tensor's, readers divided. */
export function factorsOf(tensors: FreeTensor[], powers: number[], depth: number): number[] {
  const sums = new Array<number>(depth).fill(0);
  tensors.forEach(({ writers, readers }, tensor) => {
    const power = powers[tensor] ?? 0;
    for (const layer of writers) sums[layer] = (sums[layer] ?? 0) + power;
    for (const layer of readers) sums[layer] = (sums[layer] ?? 0) - power;
  });
  return sums.map((sum) => 10 ** sum);
}

/** The tensors' factors that make the layers' ones, in powers of ten: a layer's is its own tensor's over those of what it reads. */
export function powersOf(tensors: FreeTensor[], lambda: number[]): number[] {
  const found: (number | undefined)[] = [];
  const powerOf = (tensor: number): number => {
    const known = found[tensor];
    if (known !== undefined) return known;
    // What is met again on the way, a tensor that a layer both reads and writes, says nothing of itself.
    found[tensor] = 0;
    const { writers, readers } = tensors[tensor] ?? { writers: [], readers: [] };
    const writer = writers.find((layer) => !readers.includes(layer));
    if (writer !== undefined) {
      const read = tensors.flatMap(({ readers }, other) => (readers.includes(writer) ? [other] : []));
      const power = Math.log10(lambda[writer] ?? 1) + read.reduce((sum, other) => sum + powerOf(other), 0);
      found[tensor] = power;
    }
    return found[tensor] ?? 0;
  };
  return tensors.map((_, tensor) => powerOf(tensor));
}

const NAMES: Record<Transformation["type"], string> = {
  layerwise: "layer-wise",
  random_layerwise: "layer-wise",
  alpha_scale: "α-scale",
  nodewise: "node-wise",
  random_nodewise: "node-wise",
  permutation: "permutation",
  random_permutation: "permutation",
  composition: "all three",
};

export const transformationName = ({ type }: Transformation): string => NAMES[type];
