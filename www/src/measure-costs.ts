/** What a measure takes, in words. */

import type { MeasureCost, MeasureDescription } from "isoflat";
import { PROBES } from "./completion";
import type { ModelInfo } from "./worker/protocol";

const WORDS: Record<MeasureCost, string> = {
  pass: "a pass or two over the samples",
  sweep: "a pass back through the network for each output, once for all measures of this kind",
  eigenvalues: "tens of products with the matrix, once for all measures of its eigenvalues",
  probes: `up to ${PROBES} products with random vectors, once for all estimates of the matrix`,
  search: "ascents of some hundred losses and gradients nearby",
};

/** What it takes of this network: without a sweep, traces are estimated. */
function kindOf({ cost }: Pick<MeasureDescription, "cost">, model: ModelInfo | null): MeasureCost {
  return cost === "sweep" && model?.piecewiseLinear === false ? "probes" : cost;
}

export const costInWords = (measure: Pick<MeasureDescription, "cost">, model: ModelInfo | null): string =>
  WORDS[kindOf(measure, model)];
