/** The maps of the invariance check: those of the bend where there is one, drawn ones otherwise. */

import type { Transformation } from "isoflat";
import type { Bend } from "./store";

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
