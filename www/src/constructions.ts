/** Dinh et al. 2017: which of their constructions a network is for, before one is tried, and what is said of what was found. */

import { refusalToRescale } from "./bends";
import { integer } from "./format";
import type { ModelInfo } from "./worker/protocol";

/** Parameters up to which the engine computes whole spectra. */
const WHOLE_SPECTRUM = 4096;

export const CONSTRUCTIONS = ["boxes", "many", "ball"] as const;
export type Construction = (typeof CONSTRUCTIONS)[number];

type Network = Pick<ModelInfo, "homogeneous" | "depth" | "tensors" | "parameterCount">;

/** Why the engine will refuse; null where it may find something. */
export function refusalBefore(construction: Construction, network: Network): string | null {
  const why = refusalToRescale({ ...network, tensors: construction === "many" ? null : network.tensors });
  if (why || construction !== "many" || network.parameterCount <= WHOLE_SPECTRUM) return why;
  return (
    `Whole spectra are for networks of up to ${integer(WHOLE_SPECTRUM)} parameters; this one has ${integer(network.parameterCount)}. ` +
    "Among the options of training, other widths such as 784-5-10 are small enough."
  );
}

/** Does what was measured hold? What has not converged says neither. */
export function judged(holds: boolean, converged: boolean, otherwise: string, right = ""): string {
  if (!converged) return "? not converged";
  return holds ? `✓ ${right}`.trimEnd() : `✗ ${otherwise}`;
}
