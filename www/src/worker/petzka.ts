/**
 * Petzka et al. (2019), Figures 3 to 6 and Figure 2's rescaling, on so few images that one can wait for them: networks that are trained
 * with batches of several sizes, their measures before and after random factors of the layers, and how each goes with the
 * generalisation gap. As `examples/papers/petzka_mnist.rs` has it, on a fifteenth of the images and with the paper's own measures alone.
 */

import { type Engine, IsoflatError, Network, type Problem } from "isoflat";
import { correlationsOf } from "../gallery/correlations";
import { CORRELATIONS } from "../gallery/quick-settings";
import type { Measured, Petzka } from "../gallery/results";
import type { MnistProblems } from "./mnist-problems";
import { type Piece, telling } from "./pieces";

const { training, test: tested, measured, epochs, batches, rate, seeds, largestLoss } = CORRELATIONS;

/** Changes no function. */
const RESCALING = { type: "random_layerwise", low: 5, high: 25 } as const;

const MEASURES = [
  "hessian.max_eigenvalue",
  "hessian.trace",
  "petzka.kappa_trace_max",
  "petzka.kappa_trace_sum",
  "petzka.rho_max",
  "petzka.rho_sum",
] as const;

type Run = Petzka["runs"][number];

export function petzka(engine: Engine, data: MnistProblems): { pieces: Piece[]; result: () => Petzka } {
  const network = Network.preset("petzka_mnist");
  const runs: Run[] = [];
  const pieces = seeds.flatMap((seed) =>
    batches.flatMap((batch): Piece[] => {
      const says = `batches of ${batch}, seed ${seed}`;
      /** Once it has been trained. */
      let trained: Trained | undefined;
      const measuring = (point: "at" | "rescaled"): Piece => ({
        what: `measuring ${says}${point === "at" ? "" : ", rescaled"}`,
        group: "measures",
        seconds: 0.9,
        run: async (signal, tell) => {
          if (!trained || trained.run.training_loss > largestLoss) return;
          const { parameters, run } = trained;
          const place = point === "at" ? parameters : network.transform(parameters, { ...RESCALING, seed });
          const problem = await data.train(network, measured);
          run[point] = await measuredAt(engine, problem, place, signal, tell);
        },
      });
      const training: Piece = {
        what: `training with ${says}`,
        group: "training",
        seconds: 4.5,
        run: async (signal, tell) => {
          trained = await trainedWith(engine, data, network, batch, seed, signal, tell);
          runs.push(trained.run);
        },
      };
      return [training, measuring("at"), measuring("rescaled")];
    }),
  );
  const result = (): Petzka => {
    const kept = runs.filter(({ training_loss }) => training_loss <= largestLoss);
    return {
      network: network.summary,
      training,
      epochs,
      largest_loss: largestLoss,
      runs,
      correlations: correlationsOf(kept),
    };
  };
  return { pieces, result };
}

interface Trained {
  parameters: Float64Array;
  run: Run;
}

async function trainedWith(
  engine: Engine,
  data: MnistProblems,
  network: Network,
  batch: number,
  seed: number,
  signal: AbortSignal,
  tell: (share: number) => void,
): Promise<Trained> {
  const problem = await data.train(network, training);
  const test = await data.test(network, tested);
  const learning_rate = rate * batch;
  const start = network.initialize({ scheme: "xavier_normal", seed });
  try {
    const { parameters } = await engine.train(problem, start, {
      ...telling(signal, tell),
      optimizer: { type: "sgd", learningRate: learning_rate },
      batchSize: batch,
      epochs,
      seed,
    });
    const [{ loss: training_loss }, { loss: test_loss }] = await Promise.all([
      engine.evaluate(problem, parameters),
      engine.evaluate(test, parameters),
    ]);
    return { parameters, run: { batch, seed, learning_rate, training_loss, test_loss } };
  } catch (error) {
    if (!(error instanceof IsoflatError && error.code === "not_finite")) throw error;
    // It diverged, and is left out.
    const lost = Number.POSITIVE_INFINITY;
    return { parameters: start, run: { batch, seed, learning_rate, training_loss: lost, test_loss: lost } };
  } finally {
    problem.free();
    test.free();
  }
}

async function measuredAt(
  engine: Engine,
  problem: Problem,
  point: Float64Array,
  signal: AbortSignal,
  tell: (share: number) => void,
): Promise<Measured> {
  try {
    const { values } = await engine.measure(problem, point, { ...telling(signal, tell), measures: [...MEASURES] });
    const { petzka } = (await engine.report(problem, point, { signal, sections: ["petzka"] })).values;
    return {
      measures: Object.fromEntries(values.map(({ key, value }) => [key, value])),
      layers: {
        kappa_trace: petzka?.kappaTrace ?? [],
        rho_max_per_layer: petzka?.rhoMaxPerLayer ?? [],
        rho_sum_per_layer: petzka?.rhoSumPerLayer ?? [],
      },
    };
  } finally {
    problem.free();
  }
}
