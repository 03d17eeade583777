/** Rangamani et al., Table 2: F1 at 500 random samples with random labels, before and after two layer-wise maps. */

import { type Engine, Network, Problem, type RunOptions } from "isoflat";
import type { Table2Row } from "./protocol";

const LAMBDAS = [
  [5, 4, 1 / 20],
  [100, 30, 1 / 3000],
];

export async function table2(engine: Engine, options: RunOptions): Promise<Table2Row[]> {
  const network = Network.preset("f1");
  const problem = Problem.synthetic(network, { samples: 500, seed: 1 });
  try {
    const parameters = network.initialize({ seed: 1 });
    const norm = async (at: Float64Array) => {
      const { values } = await engine.measure(problem, at, {
        ...options,
        measures: ["riemannian.layerwise_flat.spectral_norm"],
      });
      return values[0] ?? { value: Number.NaN, converged: false };
    };
    const before = await norm(parameters);
    const rows: Table2Row[] = [];
    for (const lambda of LAMBDAS) {
      const after = await norm(network.transform(parameters, { type: "layerwise", lambda }));
      rows.push({
        lambda,
        before: before.value,
        after: after.value,
        relativeDifference: Math.abs(after.value - before.value) / Math.abs(before.value),
        converged: before.converged && after.converged,
      });
    }
    return rows;
  } finally {
    problem.free();
    network.free();
  }
}
