/** What a measure takes: in words, and in seconds where it is known what a sample costs on this device. */

import type { MeasureCost, MeasureDescription } from "isoflat";
import { PROBES } from "./completion";
import type { ModelInfo, SampleCosts } from "./worker/protocol";

const WORDS: Record<MeasureCost, string> = {
  pass: "a pass or two over the samples",
  sweep: "a pass back through the network for each output, once for all measures of this kind",
  eigenvalues: "tens of products with the matrix, once for all measures of its eigenvalues",
  probes: `up to ${PROBES} products with random vectors, once for all estimates of the matrix`,
  search: "ascents of some hundred losses and gradients nearby",
};

/** Products with a Hessian and gradients that each takes, about, where it is not one for each output. */
const COUNTS: Record<Exclude<MeasureCost, "sweep">, { products: number; gradients: number }> = {
  pass: { products: 0, gradients: 1 },
  eigenvalues: { products: 25, gradients: 0 },
  probes: { products: PROBES, gradients: 0 },
  search: { products: 0, gradients: 80 },
};

/** Samples that a thread has at least. */
const SHARE = 8;

/** What it takes of this network: without a sweep, traces are estimated. */
function kindOf({ cost }: Pick<MeasureDescription, "cost">, model: ModelInfo | null): MeasureCost {
  return cost === "sweep" && model?.piecewiseLinear === false ? "probes" : cost;
}

export const costInWords = (measure: Pick<MeasureDescription, "cost">, model: ModelInfo | null): string =>
  WORDS[kindOf(measure, model)];

/** At one point; null where too little is known. */
export function costInSeconds(
  measure: Pick<MeasureDescription, "cost">,
  model: ModelInfo | null,
  costs: SampleCosts | null,
  threads: number,
): number | null {
  if (!model || !costs) return null;
  const kind = kindOf(measure, model);
  const { measuredSamples } = model;
  const shared = measuredSamples / Math.max(1, Math.min(threads, measuredSamples / SHARE));
  const { callSeconds, gradientSeconds, productSeconds } = costs;
  const gradient = shared * gradientSeconds + callSeconds;
  if (kind === "sweep") {
    // `64 → 10`: the last layer's outputs are the network's.
    const outputs = Number(/→ (\d+)/.exec(model.layers.at(-1) ?? "")?.[1]);
    return outputs > 0 ? outputs * gradient : null;
  }
  const { products, gradients } = COUNTS[kind];
  const product = shared * productSeconds + callSeconds * (productSeconds / gradientSeconds);
  return products * product + gradients * gradient;
}
