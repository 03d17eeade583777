/** The lab's state and its operations, all in the worker. The page asks; nothing here knows of the page. */

import {
  describeMeasures,
  Engine,
  type EngineOptions,
  type InvarianceTable,
  IsoflatError,
  type Landscape,
  type MeasureDescription,
  type MeasureReport,
  type Network,
  Problem,
  type Progress,
  type RunOptions,
  type Transformation,
} from "isoflat";
import { norm, randomVector, scaled } from "./directions";
import { type LabelledImages, Mnist } from "./mnist";
import { initialize, layerNames, networkOf, optimizerOf } from "./options";
import { outcome } from "./outcome";
import {
  type BackendChoice,
  type BendSummary,
  type EngineStart,
  type LabApi,
  LabFailure,
  type LandscapeChoice,
  type MeasureChoice,
  type ModelChoice,
  type ModelInfo,
  type Outcome,
  type Point,
  type SampleCosts,
  type Table2Row,
  type TrainChoice,
  type TrainSummary,
  type WorkerEvent,
} from "./protocol";
import { table2 } from "./table2";

/** An opened file’s measures and landscapes are of this many samples: enough to be stable, few enough to be quick. */
const MEASURED = 500;
/** A progress message costs the page a frame; more than this many a second nobody can read. */
const PROGRESS_INTERVAL_MS = 50;
/** Rows of a landscape are shown as they come, but no page is drawn more often than this. */
const ROWS_INTERVAL_MS = 80;
const LINE_POINTS = 41;
/** More than the engine tries out when it estimates what a sample costs. */
const TRIAL_SAMPLES = 128;

interface Model {
  network: Network;
  train: Problem;
  measured: Problem;
  validation?: Problem;
  trained: Float64Array;
  bent: Float64Array;
  name: string;
}

export class Lab implements LabApi {
  #engine: Engine | undefined;
  #choice: BackendChoice = "auto";
  #model: Model | undefined;
  #mnist: Mnist | undefined;
  #directions: { key: string; raw: [Float64Array, Float64Array]; length: number } | undefined;
  #controller = new AbortController();
  #listener: (event: WorkerEvent) => void = () => {};
  #lastProgress = 0;
  #mnistFolder = "";

  connect(mnistFolder: string, listener: (event: WorkerEvent) => void): void {
    this.#mnistFolder = mnistFolder;
    this.#listener = listener;
  }

  describe(): Promise<Outcome<MeasureDescription[]>> {
    return outcome(async () => describeMeasures());
  }

  startEngine(choice: BackendChoice): Promise<Outcome<EngineStart>> {
    return outcome(async () => {
      this.#choice = choice;
      this.#engine?.free();
      this.#engine = undefined;
      return this.#createEngine();
    });
  }

  setModel(choice: ModelChoice): Promise<Outcome<ModelInfo>> {
    return outcome(async () => {
      const network = networkOf(choice.network);
      const trained = initialize(network, choice.init);
      if (choice.data.kind === "synthetic") {
        const { samples, seed } = choice.data;
        const train = Problem.synthetic(network, { samples, seed });
        return this.#adopt({ network, train, trained, name: `${samples} random samples` }, choice.measured);
      }
      this.#mnist ??= new Mnist(new URL(this.#mnistFolder));
      const { samples } = choice.data;
      const [images, test] = await Promise.all([this.#mnist.train(samples), this.#mnist.test()]);
      const train = new Problem(network, { loss: "cross_entropy", ...firstOf(images, samples) });
      const validation = new Problem(network, { loss: "cross_entropy", ...test });
      return this.#adopt({ network, train, validation, trained, name: "MNIST" }, choice.measured);
    });
  }

  setMeasured(samples: number): Promise<Outcome<ModelInfo>> {
    return outcome(async () => {
      const model = this.#require();
      const old = model.measured;
      model.measured = firstSamples(model.train, samples);
      if (old !== model.train && old !== model.measured) old.free();
      // Hessian eigenvectors are those of the samples measured.
      this.#directions = undefined;
      return infoOf(model);
    });
  }

  /** Not by `#run`: Stop is for what a person has begun, and aborting it must not be lost on this. */
  costs(): Promise<Outcome<SampleCosts>> {
    return outcome(async () => {
      const { measured, trained } = this.#require();
      const engine = this.#engine;
      if (!engine) throw new LabFailure("not_possible", "there is no engine yet");
      return await sampleCosts(engine, measured, trained);
    });
  }

  openProblem(text: string, fileName: string): Promise<Outcome<ModelInfo>> {
    return outcome(async () => {
      const { problem, parameters, name } = Problem.open(text);
      return this.#adopt({ network: problem.network, train: problem, trained: parameters, name: name ?? fileName });
    });
  }

  saveProblem(point: Point): Promise<Outcome<string>> {
    return outcome(async () => {
      const model = this.#require();
      return model.measured.save(model[point], model.name);
    });
  }

  train(choice: TrainChoice): Promise<Outcome<TrainSummary>> {
    return this.#run(async (engine, options) => {
      const model = this.#require();
      const { parameters, stopped, epochs } = await engine.train(model.train, model.trained, {
        ...options,
        optimizer: optimizerOf(choice),
        batchSize: Math.min(choice.batchSize, model.train.samples),
        epochs: choice.epochs,
        seed: choice.seed,
        ...(model.validation && { validation: model.validation }),
      });
      model.trained = parameters;
      model.bent = parameters;
      this.#directions = undefined;
      const { loss, accuracy } = await engine.evaluate(model.measured, parameters);
      const summary: TrainSummary = { epochs, stopped, loss, accuracy };
      if (model.validation) {
        const validation = await engine.evaluate(model.validation, parameters);
        summary.validationLoss = validation.loss;
        summary.validationAccuracy = validation.accuracy;
      }
      return summary;
    });
  }

  evaluate(): Promise<Outcome<{ loss: number; accuracy: number }>> {
    return this.#run((engine) => engine.evaluate(this.#require().measured, this.#require().trained));
  }

  bend(transformation: Transformation | null): Promise<Outcome<BendSummary>> {
    return this.#run(async (engine) => {
      const model = this.#require();
      model.bent = transformation ? model.network.transform(model.trained, transformation) : model.trained;
      const before = await engine.outputs(model.measured, model.trained);
      const after = await engine.outputs(model.measured, model.bent);
      let maxDifference = 0;
      let maxOutput = 0;
      for (let i = 0; i < before.length; i++) {
        const output = before[i] ?? 0;
        maxDifference = Math.max(maxDifference, Math.abs((after[i] ?? 0) - output));
        maxOutput = Math.max(maxOutput, Math.abs(output));
      }
      return { maxDifference, maxOutput };
    });
  }

  measure(point: Point, choice: MeasureChoice): Promise<Outcome<MeasureReport>> {
    return this.#run((engine, options) => {
      const model = this.#require();
      return engine.measure(model.measured, model[point], { ...options, ...measureOptions(choice) });
    });
  }

  line(point: Point, choice: LandscapeChoice): Promise<Outcome<Landscape>> {
    return this.#run(async (engine, options) => {
      const model = this.#require();
      const [u] = await this.#vectors(engine, options, point, choice);
      return engine.landscape(model.measured, model[point], {
        ...options,
        directions: [{ type: "vector", values: u }],
        points: LINE_POINTS,
      });
    });
  }

  surface(point: Point, choice: LandscapeChoice, about: string): Promise<Outcome<Landscape>> {
    return this.#run(async (engine, options) => {
      const model = this.#require();
      const [u, v] = await this.#vectors(engine, options, point, choice);
      return engine.landscape(model.measured, model[point], {
        ...options,
        onProgress: this.#rows(engine, point, choice.points, about),
        directions: [
          { type: "vector", values: u },
          { type: "vector", values: v },
        ],
        points: choice.points,
        pointsT: choice.points,
      });
    });
  }

  invariance(transformations: Transformation[], choice: MeasureChoice): Promise<Outcome<InvarianceTable>> {
    return this.#run((engine, options) => {
      const model = this.#require();
      return engine.invariance(model.measured, model.trained, {
        ...options,
        ...measureOptions(choice),
        transformations,
      });
    });
  }

  table2(): Promise<Outcome<Table2Row[]>> {
    return this.#run(table2);
  }

  stop(): void {
    this.#controller.abort();
  }

  loseDevice(): void {
    this.#engine?.loseDevice();
  }

  #require(): Model {
    if (!this.#model) throw new LabFailure("not_possible", "there is no network yet");
    return this.#model;
  }

  #adopt(parts: Omit<Model, "measured" | "bent">, samples = MEASURED): ModelInfo {
    const measured = firstSamples(parts.train, samples);
    // The old model's handles are freed only now, when nothing of the new one can fail any more.
    const old = this.#model;
    const model = { ...parts, measured, bent: parts.trained };
    this.#model = model;
    this.#directions = undefined;
    if (old) for (const handle of new Set([old.network, old.train, old.measured, old.validation])) handle?.free();
    return infoOf(model);
  }

  async #createEngine(): Promise<EngineStart> {
    try {
      const options: EngineOptions = { backend: this.#choice };
      this.#engine = await Engine.create(options);
      return { info: this.#engine.info };
    } catch (error) {
      if (this.#choice === "cpu" || !(error instanceof IsoflatError)) throw error;
      this.#engine = await Engine.create({ backend: "cpu" });
      return { info: this.#engine.info, note: error.message };
    }
  }

  /** Runs with the engine; a lost device is replaced once and the step begun anew. */
  #run<T>(body: (engine: Engine, options: RunOptions) => Promise<T>): Promise<Outcome<T>> {
    return outcome(async () => {
      this.#controller = new AbortController();
      const options: RunOptions = {
        signal: this.#controller.signal,
        onProgress: (progress) => this.#report(progress),
      };
      if (!this.#engine) await this.#createEngine();
      const engine = this.#engine;
      if (!engine) throw new Error("no engine");
      try {
        return await body(engine, options);
      } catch (error) {
        if (!(error instanceof IsoflatError) || error.code !== "device_lost") throw error;
        engine.free();
        const start = await this.#createEngine();
        this.#listener({ type: "engine", start });
        if (!this.#engine) throw error;
        return await body(this.#engine, options);
      }
    });
  }

  #report(progress: Progress): void {
    const now = performance.now();
    // An epoch's validation must not get lost between two reports.
    if (now - this.#lastProgress < PROGRESS_INTERVAL_MS && progress.validationAccuracy === undefined) return;
    this.#lastProgress = now;
    this.#listener({ type: "progress", progress });
  }

  /** Collects a surface's rows and tells the page of them; a row that comes too soon goes with a later one. */
  #rows(engine: Engine, point: Point, points: number, about: string): (progress: Progress) => void {
    const axis = Float64Array.from({ length: points }, (_, index) => (2 * index) / (points - 1) - 1);
    const losses: number[] = [];
    let last = Number.NEGATIVE_INFINITY;
    return (progress) => {
      this.#report(progress);
      if (!progress.losses) return;
      losses.push(...progress.losses);
      const now = performance.now();
      // The last row is the landscape itself.
      if (now - last < ROWS_INTERVAL_MS || losses.length >= points * points) return;
      last = now;
      const landscape: Landscape = {
        s: axis,
        t: axis,
        loss: Float64Array.from(losses),
        accuracy: new Float64Array(),
        center: losses[(points * points - 1) / 2] ?? Number.NaN,
        backend: engine.info,
      };
      this.#listener({ type: "rows", point, about, landscape });
    };
  }

  async #vectors(
    engine: Engine,
    options: RunOptions,
    point: Point,
    choice: LandscapeChoice,
  ): Promise<[Float64Array, Float64Array]> {
    const model = this.#require();
    const key = `${choice.directions} ${choice.seed}`;
    if (this.#directions?.key !== key) {
      this.#directions = { key, ...(await this.#draw(engine, options, choice)) };
    }
    const { raw, length } = this.#directions;
    const weights = point === "bent" && choice.atBent === "anew" ? model.bent : model.trained;
    const blocks = model.network.blocks();
    return [
      scaled(raw[0], weights, blocks, choice.normalization, length),
      scaled(raw[1], weights, blocks, choice.normalization, length),
    ];
  }

  async #draw(
    engine: Engine,
    options: RunOptions,
    choice: LandscapeChoice,
  ): Promise<{ raw: [Float64Array, Float64Array]; length: number }> {
    const model = this.#require();
    const count = model.network.parameterCount;
    if (choice.directions === "random") {
      const seed = 2 * choice.seed;
      return { raw: [randomVector(count, seed), randomVector(count, seed + 1)], length: norm(model.trained) };
    }
    const { top } = await engine.eigenvalues(model.measured, model.trained, { ...options, top: 2, vectors: true });
    const [first, second] = top;
    if (!first?.vector || !second?.vector)
      throw new LabFailure("not_possible", "two eigenvectors could not be computed for this network");
    // Along an eigenvector of length √(2·2/λ) the quadratic part of the loss rises by 2 at the ends.
    const length = Math.min(norm(model.trained), Math.sqrt(4 / Math.max(first.value, 1e-12)));
    return { raw: [first.vector, second.vector], length };
  }
}

function measureOptions(choice: MeasureChoice) {
  return { epsilon: choice.epsilon, probes: choice.probes, ...(choice.keys && { measures: choice.keys }) };
}

async function sampleCosts(engine: Engine, problem: Problem, at: Float64Array): Promise<SampleCosts> {
  const trial = firstSamples(problem, TRIAL_SAMPLES);
  const { samples } = trial;
  try {
    const estimate = await engine.estimate(trial, at);
    // What is fixed for a gradient is so for the others, in proportion.
    const share = (1 - estimate.callSeconds / estimate.gradientSeconds) / samples;
    return {
      callSeconds: estimate.callSeconds,
      gradientSeconds: share * estimate.gradientSeconds,
      productSeconds: share * estimate.productSeconds,
      evaluationSeconds: share * estimate.evaluationSeconds,
      dataBytes: estimate.dataBytes / samples,
      pointBytes: estimate.pointBytes / samples,
      vectorBytes: estimate.vectorBytes,
    };
  } finally {
    if (trial !== problem) trial.free();
  }
}

/** A problem of at most so many samples: the very same where it has no more. */
function firstSamples(problem: Problem, samples: number): Problem {
  return problem.samples > samples ? problem.first(Math.max(samples, 1)) : problem;
}

function firstOf({ inputs, targets }: LabelledImages, samples: number): LabelledImages {
  const length = inputs.length / targets.length;
  return { inputs: inputs.subarray(0, samples * length), targets: targets.subarray(0, samples) };
}

function infoOf({ name, network, train, validation, measured }: Model): ModelInfo {
  return {
    data: name,
    summary: network.summary,
    parameterCount: network.parameterCount,
    depth: network.depth,
    homogeneous: network.homogeneous,
    loss: train.loss,
    samples: train.samples,
    validationSamples: validation?.samples ?? 0,
    measuredSamples: measured.samples,
    layers: layerNames(network),
  };
}
