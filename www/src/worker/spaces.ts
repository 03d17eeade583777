/**
 * Training in parameter spaces, in a worker of its own: a long experiment goes on while one works in the lab's other steps. On the
 * CPU: steps of 64 images through so small a network are over before a GPU has begun. In f32 for training, in f64 for what is compared.
 */

import { type FinishOptions, Network, Problem, type Progress, type SpaceSpec } from "isoflat";
import { CpuEngines } from "./cpu-engines";
import { Mnist } from "./mnist";
import { MnistProblems } from "./mnist-problems";
import { outcome } from "./outcome";
import { LabFailure, type Outcome } from "./protocol";
import { rescaling } from "./rescaling";
import type {
  Curvature,
  Rescaling,
  RunEnd,
  RunOrder,
  RunPoint,
  Setting,
  SpacesApi,
  SpacesEvent,
  Speed,
} from "./spaces-protocol";

/** News of the runs go to the page this often. */
const POINTS_INTERVAL_MS = 120;
const TRIALS = 4;
const TRIAL_STEPS = 10;
/** The curvature is that of the loss over so many of the training images. */
const CURVATURE_IMAGES = 500;
/** Factors that the rescaled point's units are multiplied by. */
const RESCALING = { type: "random_nodewise", seed: 7, low: 1 / 3, high: 3 } as const;

interface Data {
  key: string;
  train: Problem;
  test: Problem;
}

export class SpacesLab implements SpacesApi {
  /** 784-64-64-64-64-10 without biases, as in the thesis. */
  readonly #network = Network.preset("straight_mnist");
  readonly #engines = new CpuEngines();
  readonly #trained = new Map<string, Float64Array>();
  #mnist: MnistProblems | undefined;
  #data: Data | undefined;
  #controller = new AbortController();
  #listener: (event: SpacesEvent) => void = () => {};

  connect(mnistFolder: string, listener: (event: SpacesEvent) => void): void {
    this.#mnist = new MnistProblems(new Mnist(new URL(mnistFolder)), pixelOfThesis);
    this.#listener = listener;
  }

  speed(batch: number): Promise<Outcome<Speed>> {
    return outcome(async () => {
      const engine = await this.#engines.of("f32");
      const problem = Problem.synthetic(this.#network, { samples: batch * TRIAL_STEPS, seed: 1 });
      try {
        const parameters = startOf(this.#network, 1);
        const options = { batchSize: batch, epochs: 1, optimizer: { type: "sgd", learningRate: 1e-3 } } as const;
        // The first passes load what stays loaded, and let the browser compile.
        await engine.evaluate(problem, parameters);
        await engine.train(problem, parameters, options);
        const [, evaluation] = await timed(() => engine.evaluate(problem, parameters));
        // The least of a few trials: whatever else the computer does only makes them longer.
        const trials: number[] = [];
        for (let trial = 0; trial < TRIALS; trial++) {
          trials.push((await timed(() => engine.train(problem, parameters, options)))[1]);
        }
        return { stepSeconds: Math.min(...trials) / TRIAL_STEPS, evaluationSeconds: evaluation / problem.samples };
      } finally {
        problem.free();
      }
    });
  }

  train(setting: Setting, runs: RunOrder[]): Promise<Outcome<RunEnd[]>> {
    return this.#run(async (signal) => {
      const [engine, { train, test }] = await Promise.all([this.#engines.of("f32"), this.#problems(setting)]);
      const start = startOf(this.#network, setting.seed);
      const { epochs, seed } = setting;
      const batchSize = Math.min(setting.batch, train.samples);
      const orders = runs.map(({ space, optimizer }) => ({
        parameters: start,
        options: { space, optimizer, epochs, batchSize, seed },
      }));
      const news = new News(runs, epochs, this.#listener);
      const options: FinishOptions & { validation: Problem } = {
        finish: signal,
        validation: test,
        onProgress: (progress) => news.add(progress),
      };
      try {
        const results = await engine.trainSideBySide(train, orders, options);
        return results.map((result, index): RunEnd => {
          const key = runs[index]?.key ?? "";
          if ("error" in result) return { key, end: "diverged" };
          this.#trained.set(key, result.parameters);
          return { key, end: result.stopped ? "stopped" : "done" };
        });
      } finally {
        news.send();
      }
    });
  }

  forget(): void {
    this.#trained.clear();
  }

  rescaling(seed: number): Promise<Outcome<Rescaling>> {
    return this.#run(async (signal) => rescaling(await this.#engines.of("f64"), { signal }, seed));
  }

  curvature(run: string, space: SpaceSpec, rescaled: boolean): Promise<Outcome<Curvature>> {
    return this.#run(async (signal) => {
      const trained = this.#trained.get(run);
      if (!trained || !this.#data) throw new LabFailure("not_possible", "this run has left no weights");
      const engine = await this.#engines.of("f64");
      const network = this.#network;
      const at = rescaled ? network.transform(trained, RESCALING) : trained;
      const problem = this.#data.train.first(Math.min(CURVATURE_IMAGES, this.#data.train.samples));
      const opened = network.space(at, space);
      try {
        const found = await engine.eigenvalues(problem, at, {
          signal,
          space,
          operator: "hessian",
          onProgress: ({ done }) => this.#listener({ type: "products", products: done }),
        });
        const { value, residual, converged } = found.top[0] ?? { value: Number.NaN, residual: 0, converged: false };
        const { warning } = opened;
        return { value, residual, converged, products: found.products, ...(warning && { warning: warning.message }) };
      } finally {
        opened.free();
        problem.free();
      }
    });
  }

  stop(): void {
    this.#controller.abort(new LabFailure("aborted", "stopped"));
  }

  #run<T>(body: (signal: AbortSignal) => Promise<T>): Promise<Outcome<T>> {
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    return outcome(() => body(signal));
  }

  async #problems({ images, testImages }: Setting): Promise<Data> {
    const key = `${images} ${testImages}`;
    if (this.#data?.key === key) return this.#data;
    if (!this.#mnist) throw new LabFailure("not_possible", "the worker is not connected");
    const [train, test] = await Promise.all([
      this.#mnist.train(this.#network, images),
      this.#mnist.test(this.#network, testImages),
    ]);
    this.#data?.train.free();
    this.#data?.test.free();
    this.#data = { key, train, test };
    return this.#data;
  }
}

function startOf(network: Network, seed: number): Float64Array {
  return network.initialize({ scheme: "pytorch", seed });
}

/**
 * As the thesis' code has them: in [−1, 1]. Of those in [0, 1] the first 64, which the in-tree weights of the first layer read, are nearly
 * always 0.
 */
const pixelOfThesis = (pixel: number): number => 2 * pixel - 1;

async function timed<T>(body: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  const value = await body();
  return [value, (performance.now() - start) / 1000];
}

/** Collects what the runs report and sends it on in parcels. */
class News {
  #points: RunPoint[] = [];
  #sent = performance.now();

  constructor(
    private readonly runs: RunOrder[],
    private readonly epochs: number,
    private readonly listener: (event: SpacesEvent) => void,
  ) {}

  add({ run, done, total, loss, validationLoss, validationAccuracy }: Progress): void {
    const key = this.runs[run ?? 0]?.key;
    if (key === undefined || loss === undefined) return;
    const epoch = (this.epochs * done) / Math.max(total, 1);
    this.#points.push({
      key,
      epoch,
      loss,
      ...(validationLoss !== undefined && { validationLoss }),
      ...(validationAccuracy !== undefined && { validationAccuracy }),
    });
    if (performance.now() - this.#sent > POINTS_INTERVAL_MS) this.send();
  }

  send(): void {
    this.#sent = performance.now();
    if (this.#points.length === 0) return;
    this.listener({ type: "points", points: this.#points });
    this.#points = [];
  }
}
