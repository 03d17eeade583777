/** Rangamani et al., Table 2: F1 at 500 random samples with random labels, before and after two layer-wise maps; and Figure 1, Algorithm 1 before them. */

import { type Engine, type MeasureValue, Network, Problem, type RunOptions } from "isoflat";
import type { Table2Found, Table2Row } from "./protocol";

const LAMBDAS = [
  [5, 4, 1 / 20],
  [100, 30, 1 / 3000],
];

/** By how much a vector still turns that has settled. */
const SETTLED = { f64: 1e-6, f32: 1e-4 } as const;
/** Steps, at most. */
const STEPS = 500;

type Norm = Pick<MeasureValue, "value" | "converged">;

export class Table2 {
  /** Norms of a run that was stopped, by the map before them: it goes on with the others. */
  readonly #found = new Map<string, Norm>();
  /** A norm is of one device. */
  #engine: Engine | undefined;

  async find(engine: Engine, options: RunOptions): Promise<Table2Found> {
    if (engine !== this.#engine) this.#found.clear();
    this.#engine = engine;
    const network = Network.preset("f1");
    const problem = Problem.synthetic(network, { samples: 500, seed: 1 });
    try {
      const parameters = network.initialize({ seed: 1 });
      const norm = async (lambda: number[] | null): Promise<Norm> => {
        const name = String(lambda);
        const known = this.#found.get(name);
        if (known) return known;
        const at = lambda ? network.transform(parameters, { type: "layerwise", lambda }) : parameters;
        const measures = ["riemannian.layerwise_flat.spectral_norm"] as const;
        const { values } = await engine.measure(problem, at, { ...options, measures: [...measures] });
        const found = values[0] ?? { value: Number.NaN, converged: false };
        this.#found.set(name, found);
        return found;
      };
      const before = await norm(null);
      const rows: Table2Row[] = [];
      for (const lambda of LAMBDAS) {
        const after = await norm(lambda);
        rows.push({
          lambda,
          before: before.value,
          after: after.value,
          relativeDifference: Math.abs(after.value - before.value) / Math.abs(before.value),
          converged: before.converged && after.converged,
        });
      }
      const power = await engine.eigenvalues(problem, parameters, {
        ...options,
        operator: "riemannian.layerwise_flat",
        method: "power",
        tolerance: SETTLED[engine.info.precision],
        maxProducts: STEPS,
        seed: 1,
      });
      // Whoever asks again wants it computed again.
      this.#found.clear();
      return { rows, norms: [...(power.norms ?? [])], settled: power.converged };
    } finally {
      problem.free();
      network.free();
    }
  }
}
