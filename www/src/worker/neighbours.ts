/**
 * Petzka et al., appendix D.2: two samples next to each other, (1, 0) and (1, ε), of which a matrix A moves the one along itself and the
 * other across. A single linear layer at a minimum: its targets are what it gives.
 */

import { Engine, Network, Problem } from "isoflat";
import type { NeighboursFound } from "./protocol";
import type { Session } from "./session";

const WEIGHTS = [1, 1] as const;

export class Neighbours {
  /** In f64 on the CPU, whatever the lab computes on: calls of one engine queue, and this one is to wait for no other work. */
  #engine: Engine | undefined;

  constructor(session: Session) {
    session.lost.push(() => {
      this.#engine = undefined;
    });
  }

  async at(epsilons: number[], delta: number): Promise<NeighboursFound[]> {
    this.#engine ??= await Engine.create({ backend: "cpu" });
    const found: NeighboursFound[] = [];
    for (const epsilon of epsilons) found.push(await robustness(this.#engine, epsilon, delta));
    return found;
  }
}

async function robustness(engine: Engine, epsilon: number, delta: number): Promise<NeighboursFound> {
  const network = Network.dense([2, 1], { bias: false });
  try {
    const [first, second] = WEIGHTS;
    const problem = new Problem(network, {
      loss: "squared_error",
      inputs: new Float64Array([1, 0, 1, epsilon]),
      targets: new Float64Array([first, first + second * epsilon]),
    });
    try {
      // A x is (1, 0) at the one sample and (0, 1) at the other.
      const matrix = [1, -1 / epsilon, 0, 1 / epsilon];
      const options = { layer: 1, delta, matrix };
      const found = await engine.featureRobustness(problem, new Float64Array(WEIGHTS), options);
      const { value, bound, matrixNorm, kappa, resolved } = found;
      return { epsilon, value, bound, matrixNorm, kappa: kappa.value, trusted: resolved && kappa.converged };
    } finally {
      problem.free();
    }
  } finally {
    network.free();
  }
}
