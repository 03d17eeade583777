/** The lab's operations, all in the worker. The page asks; nothing here knows of the page. */

import {
  describeMeasures,
  type EigenResult,
  type EngineOptions,
  type InvarianceTable,
  type Landscape,
  type MeasureDescription,
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
import { outcome } from "./outcome";
import type {
  BackendChoice,
  BallFinding,
  BendSummary,
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
import { Session } from "./session";
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

  describe(): Promise<Outcome<MeasureDescription[]>> {
    return outcome(async () => describeMeasures());
  }

  startEngine(choice: BackendChoice, threads: EngineOptions["threads"] = "auto"): Promise<Outcome<EngineStart>> {
    return outcome(() => this.#session.start(choice, threads));
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
      const { model } = this.#session;
      const old = model.measured;
      model.measured = firstSamples(model.train, samples);
      if (old !== model.train && old !== model.measured) old.free();
      this.#forget();
      return infoOf(model);
    });
  }

  /** Not by `run`: Stop is for what a person has begun, and aborting it must not be lost on this. */
  costs(): Promise<Outcome<SampleCosts>> {
    return outcome(async () => {
      const { model, engine } = this.#session;
      return await sampleCosts(engine, model.measured, model.trained);
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
      const { model } = this.#session;
      return model.measured.save(model[point], model.name);
    });
  }

  train(choice: TrainChoice): Promise<Outcome<TrainSummary>> {
    return this.#session.run(async (engine, options) => {
      const { model } = this.#session;
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
    return this.#session.run(async (engine, options) => {
      const { measured, trained, name, network } = this.#session.model;
      const report = await engine.report(measured, trained, options);
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
