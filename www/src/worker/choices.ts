/** What a network's ReLUs and max pools choose at every sample, as this device computes it. */

import { type Engine, Network, Problem, type RunOptions } from "isoflat";
import { beginningsOf, choicesAmong } from "../flips";

/** Random inputs, which are the same for every network that takes as many. */
export interface Drawn {
  samples: number;
  seed: number;
}

export async function choicesOf(
  engine: Engine,
  network: Network,
  { samples, seed }: Drawn,
  parameters: Float64Array,
  options: RunOptions,
): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  for (const beginning of beginningsOf(network.toJSON())) {
    const before = Network.fromJSON(beginning.network);
    try {
      const problem = Problem.synthetic(before, { samples, seed });
      try {
        const values = await engine.outputs(problem, parameters.subarray(0, before.parameterCount), options);
        found.push(choicesAmong(values, samples, beginning));
      } finally {
        problem.free();
      }
    } finally {
      before.free();
    }
  }
  return found;
}
