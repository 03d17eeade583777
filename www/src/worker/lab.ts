/** The lab's operations, all in the worker. The page asks; nothing here knows of the page. */

import {
  crash,
  describeMeasures,
  describeOperators,
  type EigenResult,
  type EngineOptions,
  type InvarianceTable,
  type Landscape,
  type MeasureReport,
  type PetzkaReport,
  Problem,
  type SpectralDensity,
  type Transformation,
  type VolumeFlatness,
} from "isoflat";
import { sampleCosts } from "./costs";
import * as curvature from "./curvature";
import { Dinh } from "./dinh";
import { Landscapes } from "./landscapes";
import { Mnist } from "./mnist";
import { firstOf, firstSamples, infoOf, initialize, measureOptions, networkOf, optimizerOf } from "./options";
import type {
  BackendChoice,
  BallFinding,
  BendSummary,
  Descriptions,
  EngineStart,
  LabApi,
  LandscapeChoice,
  ManyFinding,
  MeasureChoice,
  ModelChoice,
  ModelInfo,
  Outcome,
  Point,
  SampleCosts,
  SharpenChoice,
  SharpenFinding,
  SpectrumChoice,
  Table2Row,
  TrainChoice,
  TrainSummary,
  Valley,
  WorkerEvent,
} from "./protocol";
import { type Handles, Session } from "./session";
import { table2 } from "./table2";

export class Lab implements LabApi {
  readonly #session = new Session();
  readonly #landscapes = new Landscapes(this.#session);
  readonly #dinh = new Dinh(this.#session);
  #mnist: Mnist | undefined;
  #mnistFolder = "";

  connect(mnistFolder: string, listener: (event: WorkerEvent) => void): void {
    this.#mnistFolder = mnistFolder;
    this.#session.listener = listener;
  }

  describe(): Promise<Outcome<Descriptions>> {
    return this.#session.outcome(async () => ({ descriptions: describeMeasures(), operators: describeOperators() }));
  }

  startEngine(choice: BackendChoice, threads: EngineOptions["threads"] = "auto"): Promise<Outcome<EngineStart>> {
    return this.#session.outcome(() => this.#session.start(choice, threads));
  }

  setModel(choice: ModelChoice): Promise<Outcome<ModelInfo>> {
    return this.#session.outcome(async () => {
      const source = (): Promise<Handles> => this.#handles(choice);
      const handles = await source();
      const trained = initialize(handles.network, choice.init);
      const name = choice.data.kind === "mnist" ? "MNIST" : `${choice.data.samples} random samples`;
      return this.#adopt({ ...handles, source, trained, name }, choice.measured);
    });
  }

  async #handles({ network: choice, data }: ModelChoice): Promise<Handles> {
    const network = networkOf(choice);
    if (data.kind === "synthetic") {
      return { network, train: Problem.synthetic(network, { samples: data.samples, seed: data.seed }) };
    }
    this.#mnist ??= new Mnist(new URL(this.#mnistFolder));
    const [images, test] = await Promise.all([this.#mnist.train(data.samples), this.#mnist.test()]);
    const train = new Problem(network, { loss: "cross_entropy", ...firstOf(images, data.samples) });
    return { network, train, validation: new Problem(network, { loss: "cross_entropy", ...test }) };
  }

  setMeasured(samples: number): Promise<Outcome<ModelInfo>> {
    return this.#session.outcome(async () => {
      const { model } = this.#session;
      const old = model.measured;
      model.measured = firstSamples(model.train, samples);
      model.measuredSamples = model.measured.samples;
      if (old !== model.train && old !== model.measured) old.free();
      this.#forget();
      return infoOf(model);
    });
  }

  /** Not by `run`: Stop is for what a person has begun, and aborting it must not be lost on this. */
  costs(): Promise<Outcome<SampleCosts>> {
    return this.#session.outcome(async () => {
      const { model, engine } = this.#session;
      return await sampleCosts(engine, model.measured, model.trained);
    });
  }

  openProblem(text: string, fileName: string): Promise<Outcome<ModelInfo>> {
    return this.#session.outcome(async () => {
      const { problem, parameters, name } = Problem.open(text);
      const handlesOf = (train: Problem): Handles => ({ network: train.network, train });
      const source = async (): Promise<Handles> => handlesOf(Problem.open(text).problem);
      return this.#adopt({ ...handlesOf(problem), source, trained: parameters, name: name ?? fileName });
    });
  }

  saveProblem(point: Point): Promise<Outcome<string>> {
    return this.#session.outcome(async () => {
      const { model } = this.#session;
      return model.measured.save(model[point], model.name);
    });
  }

  train(choice: TrainChoice): Promise<Outcome<TrainSummary>> {
    return this.#session.run(async (engine, { onProgress, signal }) => {
      const { model } = this.#session;
      // Stop keeps what was reached.
      const { parameters, stopped, epochs } = await engine.train(model.train, model.trained, {
        onProgress,
        finish: signal,
        optimizer: optimizerOf(choice),
        batchSize: Math.min(choice.batchSize, model.train.samples),
        epochs: choice.epochs,
        seed: choice.seed,
        ...(model.validation && { validation: model.validation }),
      });
      model.trained = parameters;
      model.bent = parameters;
      this.#forget();
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
    return this.#session.run((engine) => engine.evaluate(this.#session.model.measured, this.#session.model.trained));
  }

  bend(transformation: Transformation | null): Promise<Outcome<BendSummary>> {
    return this.#session.run(async (engine) => {
      const { model } = this.#session;
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
    return this.#session.run((engine, options) => {
      const { model } = this.#session;
      return engine.measure(model.measured, model[point], { ...options, ...measureOptions(choice) });
    });
  }

  layers(point: Point): Promise<Outcome<PetzkaReport>> {
    return this.#session.run((engine, options) => curvature.layers(engine, options, this.#session.model, point));
  }

  spectrum(point: Point, choice: SpectrumChoice): Promise<Outcome<EigenResult>> {
    return this.#session.run((engine, options) =>
      curvature.spectrum(engine, options, this.#session.model, point, choice),
    );
  }

  density(point: Point, choice: SpectrumChoice): Promise<Outcome<SpectralDensity>> {
    return this.#session.run((engine, options) =>
      curvature.density(engine, options, this.#session.model, point, choice),
    );
  }

  line(point: Point, choice: LandscapeChoice): Promise<Outcome<Landscape>> {
    return this.#session.run((engine, options) => this.#landscapes.line(engine, options, point, choice));
  }

  surface(point: Point, choice: LandscapeChoice, about: string): Promise<Outcome<Landscape>> {
    return this.#session.run((engine, options) => this.#landscapes.surface(engine, options, point, choice, about));
  }

  invariance(transformations: Transformation[], choice: MeasureChoice): Promise<Outcome<InvarianceTable>> {
    return this.#session.run((engine, options) => {
      const { model } = this.#session;
      return engine.invariance(model.measured, model.trained, {
        ...options,
        ...measureOptions(choice),
        transformations,
      });
    });
  }

  valley(): Promise<Outcome<Valley>> {
    return this.#session.run((engine, options) => this.#dinh.valley(engine, options));
  }

  sharpen(valley: Valley, choice: SharpenChoice): Promise<Outcome<SharpenFinding>> {
    return this.#session.run((engine, options) => this.#dinh.sharpen(engine, options, valley, choice));
  }

  boxes(): Promise<Outcome<VolumeFlatness>> {
    return this.#session.run((engine, options) => this.#dinh.boxes(engine, options));
  }

  manyEigenvalues(choice: SharpenChoice): Promise<Outcome<ManyFinding>> {
    return this.#session.run((engine, options) => this.#dinh.manyEigenvalues(engine, options, choice));
  }

  constantInBall(epsilon: number): Promise<Outcome<BallFinding>> {
    return this.#session.run((engine, options) => this.#dinh.constantInBall(engine, options, epsilon));
  }

  table2(): Promise<Outcome<Table2Row[]>> {
    return this.#session.run(table2);
  }

  report(): Promise<Outcome<string>> {
    return this.#session.run(async (engine, { onProgress, signal }) => {
      const { measured, trained, name, network } = this.#session.model;
      const report = await engine.report(measured, trained, { onProgress, finish: signal });
      const of = { data: name, network: network.summary, samples: measured.samples, backend: engine.info };
      return JSON.stringify({ ...of, ...report }, null, 1);
    });
  }

  stop(): void {
    this.#session.stop();
  }

  loseDevice(): void {
    this.#session.loseDevice();
  }

  crash(): void {
    crash();
  }

  #adopt(...parts: Parameters<Session["adopt"]>): ModelInfo {
    const info = this.#session.adopt(...parts);
    this.#forget();
    return info;
  }

  /** What was drawn or found at other weights or samples. */
  #forget(): void {
    this.#landscapes.forget();
    this.#dinh.forget();
  }
}
