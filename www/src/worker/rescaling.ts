/** A small network trained from two starting points that are the same function: are its path values the same afterwards? */

import { type Engine, Network, Problem, type RunOptions, type SpaceSpec } from "isoflat";
import { ONES } from "../spaces/methods";
import type { Rescaling, RescalingRow } from "./spaces-protocol";

const WIDTHS = [6, 5, 5, 5, 3];
const SAMPLES = 64;
const STEPS = 60;
const LEARNING_RATE = 0.05;
/** Units of the second starting point are multiplied by factors in this range. */
const RANGE = { low: 0.5, high: 2 };

const SPACES: SpaceSpec[] = [{ type: "weights" }, { type: "weight_fixing" }, { type: "g_space" }];

export async function rescaling(engine: Engine, options: RunOptions, seed: number): Promise<Rescaling> {
  const network = Network.dense(WIDTHS, false);
  const problem = Problem.synthetic(network, { samples: SAMPLES, seed });
  const drawn = network.initialize({ scheme: "kaiming_uniform", seed });
  // With ones on its skeleton, as the thesis begins: path values are then of the weights' own size, and one rate fits all.
  const opened = network.space(drawn, { type: "g_space", values: { set: 1 }, tree: ONES });
  const first = opened.parameters;
  opened.free();
  const second = network.transform(first, { type: "random_nodewise", seed: seed + 1, ...RANGE });
  const paths = network.space(first, { type: "g_space" });
  try {
    const begin = paths.toCoordinates(first);
    const rows: RescalingRow[] = [];
    for (const space of SPACES) {
      const ends: Float64Array[] = [];
      const losses: number[] = [];
      for (const start of [first, second]) {
        const { parameters } = await engine.train(problem, start, {
          ...options,
          space,
          optimizer: { type: "sgd", learningRate: LEARNING_RATE },
          batchSize: SAMPLES,
          epochs: STEPS,
          seed,
        });
        ends.push(paths.toCoordinates(parameters));
        losses.push((await engine.evaluate(problem, parameters)).loss);
      }
      const [one = begin, other = begin] = ends;
      rows.push({
        space: space.type,
        losses: [losses[0] ?? Number.NaN, losses[1] ?? Number.NaN],
        difference: relative(one, other),
        moved: relative(begin, one),
      });
    }
    return {
      summary: network.summary,
      parameterCount: network.parameterCount,
      dimension: paths.dimension,
      steps: STEPS,
      learningRate: LEARNING_RATE,
      outputDifference: relative(await engine.outputs(problem, first), await engine.outputs(problem, second)),
      pathDifference: relative(begin, paths.toCoordinates(second)),
      weightDifference: relative(first, second),
      rows,
    };
  } finally {
    paths.free();
    problem.free();
    network.free();
  }
}

/** max |a − b| / max |a|. */
function relative(a: Float64Array, b: Float64Array): number {
  let difference = 0;
  let size = 0;
  for (let i = 0; i < a.length; i++) {
    difference = Math.max(difference, Math.abs((a[i] ?? 0) - (b[i] ?? 0)));
    size = Math.max(size, Math.abs(a[i] ?? 0));
  }
  return difference / size;
}
