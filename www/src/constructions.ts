/** Dinh et al. 2017: which of their constructions a network is for, before one is tried, and what is said of what was found. */

import { integer } from "./format";
import type { ModelInfo } from "./worker/protocol";

/** Parameters up to which the engine computes whole spectra. */
const WHOLE_SPECTRUM = 4096;

export const CONSTRUCTIONS = ["boxes", "many", "ball"] as const;
export type Construction = (typeof CONSTRUCTIONS)[number];

type Network = Pick<ModelInfo, "homogeneous" | "depth" | "tensors" | "parameterCount">;

/** Why the engine will refuse; null where it may find something. */
export function refusalBefore(construction: Construction, network: Network): string | null {
  const { homogeneous, depth, tensors, parameterCount } = network;
  if (!homogeneous) {
    return "This network has an activation that is not positively homogeneous: rescaling its layers would change what it computes.";
  }
  if (depth < 2) return "This network has a single layer, which leaves nothing to rescale against.";
  if (construction === "many") {
    if (parameterCount <= WHOLE_SPECTRUM) return null;
    return (
      `Whole spectra are for networks of up to ${integer(WHOLE_SPECTRUM)} parameters; this one has ${integer(parameterCount)}. ` +
      "Among the options of training, other widths such as 784-5-10 are small enough."
    );
  }
  if (tensors?.length !== 0) return null;
  return "All that this network’s layers give is added to its inputs or outputs: no rescaling of layers leaves the function as it is.";
}

/** Does what was measured hold? What has not converged says neither. */
export function judged(holds: boolean, converged: boolean, otherwise: string, right = ""): string {
  if (!converged) return "? not converged";
  return holds ? `✓ ${right}`.trimEnd() : `✗ ${otherwise}`;
}
