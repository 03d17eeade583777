/**
 * Rangamani et al. (2019), Table 4 and Figure 2, on so few images that one can wait for them: minima of small and of large batches, their
 * spectral norms, and lines through them. Networks begin and train as in `examples/papers/rangamani_training.rs`, but for the batches,
 * which are smaller as the data are.
 */

import { type Engine, Network, type Problem } from "isoflat";
import { MINIMA } from "../gallery/quick-settings";
import type { Lengths, Lines, Table4 } from "../gallery/results";
import type { MnistProblems } from "./mnist-problems";
import { type Piece, telling } from "./pieces";

type Batches = keyof typeof MINIMA.batches;
const BATCHES: readonly Batches[] = ["small", "large"];
type NetworkName = "mnist_fc" | "lenet";
/** As a visitor reads them; seconds of a training and of its norms, about. */
const NETWORKS: Record<NetworkName, { says: string; seconds: Record<As, { training: number; norms: number }> }> = {
  mnist_fc: {
    says: "784-512×5-10",
    seconds: { printed: { training: 9, norms: 7 }, published: { training: 17, norms: 13 } },
  },
  lenet: {
    says: "LeNet’s type",
    seconds: { printed: { training: 13, norms: 2 }, published: { training: 5, norms: 3 } },
  },
};
const NORMS = ["riemannian.layerwise_flat.spectral_norm", "riemannian.nodewise_flat.spectral_norm"] as const;

/** How all of an experiment's networks are trained: as the paper says, or as its authors' published program does. */
export type As = "printed" | "published";
const AS: Record<As, { epochs: number; bias: boolean; rates: Record<Batches, number>; target?: { accuracy: number } }> =
  {
    printed: { epochs: MINIMA.mostEpochs, bias: true, rates: { small: 1e-4, large: 1e-3 }, target: { accuracy: 1 } },
    published: { epochs: MINIMA.publishedEpochs, bias: false, rates: { small: 1e-3, large: 1e-3 } },
  };

interface Minimum {
  network: NetworkName;
  batches: Batches;
  batch: number;
  seed: number;
  epochs: number;
  training_loss: number;
  test_accuracy: number;
}

/** What a job computes with, once it has begun. */
interface Place {
  /** In f32, for training. */
  engine: Engine;
  data: MnistProblems;
}

class Trained {
  /** When it has been trained. */
  found: { problem: Problem; parameters: Float64Array; entry: Minimum } | undefined;

  constructor(
    private readonly place: Place,
    readonly name: NetworkName,
    readonly batches: Batches,
    private readonly as: As,
    readonly seed: number,
  ) {}

  get says(): string {
    return `${NETWORKS[this.name].says}, batches of ${MINIMA.batches[this.batches]}`;
  }

  training(): Piece {
    const run = async (signal: AbortSignal): Promise<void> => {
      const { engine, data } = this.place;
      const { epochs, bias, rates, target } = AS[this.as];
      const network = networkOf(this.name, bias);
      const problem = await data.train(network, MINIMA.training);
      const test = await data.test(network, MINIMA.test);
      const start = network.initialize({ scheme: "kaiming_uniform", bias: "uniform", seed: this.seed });
      const batch = MINIMA.batches[this.batches];
      try {
        const trained = await engine.train(problem, start, {
          signal,
          optimizer: { type: "adam", learningRate: rates[this.batches] },
          batchSize: batch,
          epochs,
          seed: this.seed,
          ...(target && { target }),
        });
        const { parameters } = trained;
        const { loss } = await engine.evaluate(problem, parameters, { signal });
        const { accuracy } = await engine.evaluate(test, parameters, { signal });
        const entry: Minimum = {
          network: this.name,
          batches: this.batches,
          batch,
          seed: this.seed,
          epochs: trained.epochs,
          training_loss: loss,
          test_accuracy: accuracy,
        };
        this.found = { problem: problem.first(MINIMA.measured), parameters, entry };
      } finally {
        problem.free();
        test.free();
      }
    };
    // When all images are right nobody knows beforehand: its estimate says more than a share of the epochs that it may take.
    return {
      what: `training ${this.says}`,
      group: "training",
      seconds: NETWORKS[this.name].seconds[this.as].training,
      run,
    };
  }

  get end(): { problem: Problem; parameters: Float64Array; entry: Minimum } {
    if (!this.found) throw new Error("a network is measured before it is trained");
    return this.found;
  }
}

function networkOf(name: NetworkName, bias: boolean): Network {
  const network = Network.preset(name);
  if (bias) return network;
  const { layers, ...rest } = network.toJSON();
  return Network.fromJSON({
    ...rest,
    layers: layers.map((layer) =>
      layer.type === "dense" || layer.type === "conv2d" ? { ...layer, bias: false } : layer,
    ),
  });
}

/** `exact`: an engine in f64, where norms may be as small as single precision's rounding. */
export function table4(place: Place, exact: Engine, as: As): { pieces: Piece[]; result: () => Table4 } {
  const all = (["mnist_fc", "lenet"] as const).flatMap((name) =>
    BATCHES.map((batches) => new Trained(place, name, batches, as, MINIMA.seed)),
  );
  const runs: Table4["runs"] = [];
  const norms = (network: Trained): Piece => ({
    what: `spectral norms of ${network.says}`,
    group: "norms",
    seconds: NETWORKS[network.name].seconds[as].norms,
    run: async (signal, tell) => {
      const { problem, parameters, entry } = network.end;
      const { values } = await exact.measure(problem, parameters, { ...telling(signal, tell), measures: NORMS });
      const [spectral_norm = Number.NaN, nodewise_spectral_norm = Number.NaN] = values.map(({ value }) => value);
      runs.push({ ...entry, spectral_norm, nodewise_spectral_norm });
    },
  });
  return {
    pieces: all.flatMap((network) => [network.training(), norms(network)]),
    result: () => ({ training: MINIMA.training, measured: MINIMA.measured, epochs: AS[as].epochs, runs }),
  };
}

const LENGTHS: readonly Lengths[] = ["layer", "filter"];

export function lines(place: Place): { pieces: Piece[]; result: () => Lines } {
  const { seeds, directions, points } = MINIMA.lines;
  const runs: Lines["runs"] = [];
  const all = seeds.flatMap((seed) => BATCHES.map((batches) => new Trained(place, "lenet", batches, "printed", seed)));
  const drawing = (network: Trained): Piece => ({
    what: `lines through ${network.says}, seed ${network.seed}`,
    group: "lines",
    seconds: 1.5,
    run: async (signal, tell) => {
      const { problem, parameters, entry } = network.end;
      const { engine } = place;
      const of = { layer: [] as number[][], filter: [] as number[][] };
      let t: number[] = [];
      for (const normalization of LENGTHS) {
        for (let direction = 0; direction < directions; direction++) {
          const found = await engine.landscape(problem, parameters, {
            signal,
            // The same directions through both minima of a seed.
            directions: [{ type: "random", seed: 1000 * network.seed + direction }],
            normalization,
            points,
          });
          t = [...found.s];
          of[normalization].push([...found.loss]);
          tell((of.layer.length + of.filter.length) / (LENGTHS.length * directions));
        }
      }
      runs.push({ ...entry, t, ...of });
    },
  });
  return {
    pieces: all.flatMap((network) => [network.training(), drawing(network)]),
    result: () => ({
      network: networkOf("lenet", true).summary,
      training: MINIMA.training,
      drawn: MINIMA.measured,
      directions,
      runs,
    }),
  };
}
