/**
 * Rangamani et al., Tables 2 and 3: the largest eigenvalue at 500 random samples with random labels, before and after two layer-wise
 * maps; and Figure 1, Algorithm 1 before them. As `examples/tables.rs` has it: biases are drawn as the weights are, so that none is zero,
 * and the search behind a map begins at a vector of its own. What agrees has converged to the same number from two places.
 */

import { type Engine, Network, Problem, type RunOptions } from "isoflat";
import { flipsBetween } from "../flips";
import { FIRST_SEED, OF_TABLES, SAMPLES, type TableName } from "../seeds";
import { choicesOf } from "./choices";
import type { DeviceOfTable, PowerFound, TableRow, TableSeed } from "./protocol";

const OPERATOR = "riemannian.layerwise_flat";
/** By how much a vector still turns that has settled. */
const SETTLED = { f64: 1e-6, f32: 1e-4 } as const;
/** Steps, at most. */
const STEPS = 500;
/** Two searches that differ by less have found the same eigenvalue, and not one of each end of the spectrum. */
const ONE_AND_THE_SAME = 1e-4;

interface Eigenvalue {
  value: number;
  converged: boolean;
}

interface Place {
  network: Network;
  problem: Problem;
  parameters: Float64Array;
}

/** What it is of lives as long as the body runs. */
async function drawn<T>(name: TableName, seed: number, body: (place: Place) => Promise<T>): Promise<T> {
  const network = Network.preset(OF_TABLES[name].preset);
  try {
    const problem = Problem.synthetic(network, { samples: SAMPLES, seed });
    try {
      return await body({ network, problem, parameters: network.initialize({ seed, bias: "uniform" }) });
    } finally {
      problem.free();
    }
  } finally {
    network.free();
  }
}

export const deviceOf = ({ info }: Engine): DeviceOfTable => ({ backend: info.backend, precision: info.precision });

export class Tables {
  /** Of a seed that was stopped: it goes on with the others. */
  readonly #found = new Map<string, Eigenvalue>();
  /** An eigenvalue is of one device. */
  #engine: Engine | undefined;

  /** One seed: all its maps. */
  seed(engine: Engine, options: RunOptions, name: TableName, seed: number): Promise<TableSeed> {
    if (engine !== this.#engine) this.#found.clear();
    this.#engine = engine;
    return drawn(name, seed, async ({ network, problem, parameters }) => {
      const find = async (at: Float64Array, start: number): Promise<Eigenvalue> => {
        const key = `${name} ${seed} ${start}`;
        const known = this.#found.get(key);
        if (known) return known;
        const { top, converged, verified } = await engine.eigenvalues(problem, at, {
          ...options,
          operator: OPERATOR,
          seed: start,
        });
        const found = { value: top[0]?.value ?? Number.NaN, converged: converged && verified === true };
        this.#found.set(key, found);
        return found;
      };
      const choices = (at: Float64Array) => choicesOf(engine, network, { samples: SAMPLES, seed }, at, options);
      const chosen = await choices(parameters);
      const before = await find(parameters, 3 * seed);
      // The largest eigenvalue is the norm where none is as far below 0, which a search for the norm is asked once.
      const key = `${name} ${seed} norm`;
      const norm = this.#found.get(key) ?? (await normAt(engine, options, problem, parameters));
      this.#found.set(key, norm);
      const isNorm = norm.converged && Math.abs(norm.value / before.value - 1) < ONE_AND_THE_SAME;
      const rows: TableRow[] = [];
      for (const [index, { lambda }] of OF_TABLES[name].maps.entries()) {
        const moved = network.transform(parameters, { type: "layerwise", lambda });
        const after = await find(moved, 3 * seed + 1 + index);
        rows.push({
          lambda,
          after: after.value,
          relativeDifference: Math.abs(after.value - before.value) / Math.abs(before.value),
          converged: before.converged && isNorm && after.converged,
          flips: flipsBetween(chosen, await choices(moved)),
        });
      }
      // Whoever asks again wants it computed again.
      this.#found.clear();
      return { seed, before: before.value, rows };
    });
  }

  /** Algorithm 1 on the first network of Table 2. */
  power(engine: Engine, options: RunOptions): Promise<PowerFound> {
    return drawn("table2", FIRST_SEED, async ({ problem, parameters }) => {
      const { norms, converged } = await engine.eigenvalues(problem, parameters, {
        ...options,
        operator: OPERATOR,
        method: "power",
        tolerance: SETTLED[engine.info.precision],
        maxProducts: STEPS,
        seed: FIRST_SEED,
      });
      return { norms: [...(norms ?? [])], settled: converged };
    });
  }
}

async function normAt(engine: Engine, options: RunOptions, problem: Problem, at: Float64Array): Promise<Eigenvalue> {
  const { values } = await engine.measure(problem, at, { ...options, measures: [`${OPERATOR}.spectral_norm`] });
  const [found] = values;
  return { value: found?.value ?? Number.NaN, converged: found?.converged === true };
}
