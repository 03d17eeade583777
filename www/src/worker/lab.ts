/** The lab's operations, all in the worker. The page asks; nothing here knows of the page. */

import {
  type Checkpoint,
  crash,
  describeMeasures,
  describeOperators,
  type EigenResult,
  type EngineOptions,
  type InvarianceTable,
  IsoflatError,
  type Landscape,
  type MeasureReport,
  type PetzkaReport,
  type PowerPoint,
  powerMap,
  type ReportSection,
  type SpectralDensity,
  type Transformation,
} from "isoflat";
import type { TableName } from "../seeds";
import { construct } from "./constructions";
import { sampleCosts } from "./costs";
import { Current } from "./current";
import * as curvature from "./curvature";
import { Dinh } from "./dinh";
import { Examples } from "./examples";
import { Landscapes } from "./landscapes";
import { recall, remember, restored } from "./last";
import { Neighbours } from "./neighbours";
import { firstSamples, infoOf, initialize, measureOptions, networkOf } from "./options";
import { outcome } from "./outcome";
import {
  type AnyFound,
  type AskedWith,
  type BackendChoice,
  type BendSummary,
  type Construction,
  type Descriptions,
  type DeviceOfTable,
  type EngineStart,
  type Examples as ExamplesFound,
  type FlattestBend,
  type LabApi,
  LabFailure,
  type LandscapeChoice,
  type LayerCheck,
  type LossPoint,
  type MeasureChoice,
  type ModelChoice,
  type ModelInfo,
  type NeighboursFound,
  type OpenChoice,
  type OpenedFiles,
  type Outcome,
  type Point,
  type PowerChoice,
  type PowerFound,
  type Preview,
  type PreviewChoice,
  type Restored,
  type Resumed,
  type SampleCosts,
  type SaveChoice,
  type SavedFile,
  type SavedPoint,
  type SharpenChoice,
  type SharpenFinding,
  type SpectrumChoice,
  type TableSeed,
  type TrainChoice,
  type Trained,
  type TrainSummary,
  type Valley,
  type WorkerEvent,
} from "./protocol";
import { Rows } from "./rows";
import { saved } from "./save";
import { Session } from "./session";
import { deviceOf, Tables } from "./tables";
import { divergence, TrainingRun } from "./training";
import { epochsOf, recallUnfinished, type ToGoOn, UnfinishedRun } from "./unfinished";
import type { Way } from "./way";

export class Lab implements LabApi {
  readonly #session = new Session();
  readonly #landscapes = new Landscapes(this.#session);
  readonly #dinh = new Dinh(this.#session);
  readonly #tables = new Tables();
  readonly #neighbours = new Neighbours(this.#session);
  readonly #examples = new Examples(this.#session);
  readonly #current = new Current(this.#session, () => this.#forget());
  /** The training that `resume` has found. */
  #toGoOn: ToGoOn | undefined;

  connect(mnistFolder: string, listener: (event: WorkerEvent) => void): void {
    this.#current.mnistFolder = mnistFolder;
    this.#session.listener = listener;
  }

  describe(): Promise<Outcome<Descriptions>> {
    return this.#session.outcome(async () => ({ descriptions: describeMeasures(), operators: describeOperators() }));
  }

  hear(): void {}

  startEngine(choice: BackendChoice, threads: EngineOptions["threads"] = "auto"): Promise<Outcome<EngineStart>> {
    return this.#session.outcome(() => this.#session.start(choice, threads));
  }

  setModel(choice: ModelChoice): Promise<Outcome<ModelInfo>> {
    return this.#session.outcome(async () => {
      const network = networkOf(choice.network);
      const trained = initialize(network, choice.init);
      network.free();
      return this.#current.at(choice, trained);
    });
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
  costs(isThorough: boolean): Promise<Outcome<SampleCosts>> {
    return this.#session.outcome(async () => {
      const { model, engine } = this.#session;
      return await sampleCosts(engine, model.measured, model.train, model.trained, isThorough);
    });
  }

  openFiles(files: File[], choice: OpenChoice): Promise<Outcome<OpenedFiles>> {
    return this.#session.run(async (engine) => {
      const { files: given } = this.#current;
      const back = given.here();
      const left = files.length > 0 ? await given.add(files, choice) : choice;
      const opened = await this.#current.openedBy(engine, left).catch((error: unknown) => {
        // What was open stays open.
        back();
        throw error;
      });
      if (!opened.model) return opened;
      const last = { kind: "files", ...this.#current.files.opened, choice: left } as const;
      return { ...opened, stamp: await remember(last, this.#current.about(null)) };
    });
  }

  checkLayers(network: string): Promise<Outcome<LayerCheck>> {
    return this.#session.outcome(() => this.#current.files.check(network));
  }

  restore(stamp: string, isStart: boolean): Promise<Outcome<Restored | null>> {
    return this.#session.run(async (engine) => {
      const last = await recall(stamp, isStart);
      if (!last) return null;
      const found = await this.#current.restored(engine, last);
      await restored();
      return found;
    });
  }

  keep(): Promise<Outcome<string | null>> {
    return this.#session.outcome(() => this.#current.remember(null));
  }

  arrive(choice: ModelChoice, weights: Float32Array): Promise<Outcome<ModelInfo>> {
    return this.#session.outcome(() => this.#current.at(choice, Float64Array.from(weights)));
  }

  /** The weights of the network that there is. */
  get trained(): Float64Array {
    return this.#session.model.trained;
  }

  save(point: SavedPoint, choice: SaveChoice): Promise<Outcome<SavedFile>> {
    return this.#session.outcome(() => saved(this.#session.model, point, choice));
  }

  train(choice: TrainChoice): Promise<Outcome<Trained>> {
    return this.#train(choice, () => {
      const { way: _, ...of } = this.#current.now() ?? {};
      return "kind" in of ? { of, choice, checkpoint: null, way: [], stamp: null } : null;
    });
  }

  resume(run: string): Promise<Outcome<Resumed | null>> {
    return this.#session.run(async (engine) => {
      const found = await recallUnfinished(run);
      if (!found) return null;
      const restored = await this.#current.restored(engine, found.of);
      this.#toGoOn = found;
      return { ...restored, training: found.choice };
    });
  }

  goOn(): Promise<Outcome<Trained>> {
    const found = this.#toGoOn;
    this.#toGoOn = undefined;
    return this.#train(found?.choice, () => found ?? null);
  }

  /** `begin`: where it begins or goes on, for it to be kept; null where the browser is to keep nothing. */
  #train(choice: TrainChoice | undefined, begin: () => ToGoOn | null): Promise<Outcome<Trained>> {
    let [run, kept]: [TrainingRun?, UnfinishedRun?] = [];
    const trained = this.#session.run(async (engine, options) => {
      if (!choice) throw new LabFailure("not_possible", "no training was broken off");
      const { model } = this.#session;
      // A device that was lost begins nothing anew.
      if (!run) {
        const from = begin();
        kept = from ? new UnfinishedRun(choice, model.network.summary, from.of, from.stamp) : undefined;
        const keep = async (checkpoint: Checkpoint, way: Way): Promise<void> => kept?.reach(checkpoint, way);
        run = new TrainingRun(this.#session, choice, keep, from?.checkpoint, from?.way);
        await kept?.begin(from?.way ?? [], from?.checkpoint ?? null);
      }
      // Stop keeps what was reached.
      const { parameters, stopped, epochs, checkpoint, way } = await run.on(engine, options).catch(async (error) => {
        if (!(error instanceof IsoflatError) || error.code !== "not_finite") throw error;
        // It would run away again, from any checkpoint and in the same way.
        await kept?.end();
        throw model.trained.every(Number.isFinite) ? divergence(error) : error;
      });
      const { loss, accuracy } = await engine.evaluate(model.measured, parameters);
      // Stopped, it is somewhere within an epoch.
      const reached = stopped ? epochsOf(checkpoint) : epochs;
      const { history } = checkpoint;
      const summary: TrainSummary = { backend: engine.info.backend, epochs: reached, stopped, loss, accuracy, history };
      if (model.validation) {
        const validation = await engine.evaluate(model.validation, parameters);
        summary.validationLoss = validation.loss;
        summary.validationAccuracy = validation.accuracy;
      }
      // In one with what it came to: a page that is left before it has noted that itself comes back to both, or to neither.
      this.#current.reached(parameters, way.length > 1 ? way : undefined, summary);
      const stamp = await this.#current.remember(choice);
      if (stopped) await kept?.reach(checkpoint, way, stamp);
      else await kept?.end();
      return { summary, stamp, way: model.way?.length ?? 0 };
    });
    return trained.finally(() => kept?.rest());
  }

  evaluate(): Promise<Outcome<{ loss: number; accuracy: number }>> {
    return this.#session.run((engine) => engine.evaluate(this.#session.model.measured, this.#session.model.trained));
  }

  bend(transformation: Transformation | null): Promise<Outcome<BendSummary>> {
    return this.#session.run(async (engine, options) => {
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
      return { maxDifference, maxOutput, answers: await this.#examples.answers(engine, options, model.bent) };
    });
  }

  examples(): Promise<Outcome<ExamplesFound>> {
    return this.#session.run((engine, options) => this.#examples.show(engine, options));
  }

  accuracy(point: Point): Promise<Outcome<number | null>> {
    return this.#session.run(async (engine, options) => {
      const { model } = this.#session;
      const problem = model.validation ?? model.train;
      if (problem.loss !== "cross_entropy") return null;
      return (await engine.evaluate(problem, model[point], options)).accuracy;
    });
  }

  preview(transformation: Transformation, choice: LandscapeChoice, coarse: PreviewChoice): Promise<Outcome<Preview>> {
    return this.#session.run(async (engine, options) => {
      const { network, trained } = this.#session.model;
      const weights = network.transform(trained, transformation);
      const answers = await this.#examples.answers(engine, options, weights);
      return { ...(await this.#landscapes.preview(engine, options, weights, choice, coarse)), answers };
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

  surface(point: Point, choice: LandscapeChoice, about: string, before: Landscape | null): Promise<Outcome<Landscape>> {
    // A device that was lost leaves the rows that it has computed.
    const rows = new Rows(before);
    return this.#session.run((engine, options) =>
      this.#landscapes.surface(engine, options, point, choice, about, rows),
    );
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

  flattest(): Promise<Outcome<FlattestBend>> {
    return this.#session.run((engine, options) => curvature.flattest(engine, options, this.#session.model));
  }

  valley(): Promise<Outcome<Valley>> {
    return this.#session.run((engine, options) => this.#dinh.valley(engine, options));
  }

  sharpen(valley: Valley, choice: SharpenChoice): Promise<Outcome<SharpenFinding>> {
    return this.#session.run((engine, options) => this.#dinh.sharpen(engine, options, valley, choice));
  }

  construct(what: Construction, asked: AskedWith, target: SharpenChoice | null): Promise<Outcome<AnyFound>> {
    return this.#session.run((engine, options) =>
      construct({ engine, options, model: this.#session.model, target }, what, asked),
    );
  }

  /** Not in the queue of what the engine does, and no reason to make a module anew. */
  powerMap(choice: PowerChoice, points: LossPoint[]): Promise<Outcome<PowerPoint[]>> {
    return outcome(async () => powerMap({ ...choice, points }));
  }

  table(name: TableName, seed: number): Promise<Outcome<{ device: DeviceOfTable; found: TableSeed }>> {
    return this.#session.run(async (engine, options) => ({
      found: await this.#tables.seed(engine, options, name, seed),
      device: deviceOf(engine),
    }));
  }

  power(): Promise<Outcome<PowerFound>> {
    return this.#session.run((engine, options) => this.#tables.power(engine, options));
  }

  /** Not by `run`, as `costs`: it is nobody's task. */
  neighbours(epsilons: number[], delta: number): Promise<Outcome<NeighboursFound[]>> {
    return this.#session.outcome(() => this.#neighbours.at(epsilons, delta));
  }

  report(sections: ReportSection[] | null): Promise<Outcome<string>> {
    return this.#session.run(async (engine, { onProgress, signal }) => {
      const { measured, trained, name, network } = this.#session.model;
      const report = await engine.report(measured, trained, {
        onProgress,
        finish: signal,
        ...(sections && { sections }),
      });
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

  /** What was drawn or found at other weights or samples. */
  #forget(): void {
    this.#landscapes.forget();
    this.#dinh.forget();
    this.#examples.forget();
  }
}
