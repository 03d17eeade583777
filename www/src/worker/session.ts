/** What the worker holds between two calls: the device and the network with its data and points. And how work is run on them. */

import init, {
  Engine,
  type EngineOptions,
  IsoflatError,
  type Network,
  type OpenedModel,
  type Problem,
  type Progress,
  type RunOptions,
} from "isoflat";
import { firstSamples, infoOf } from "./options";
import { outcome } from "./outcome";
import {
  type BackendChoice,
  type EngineStart,
  LabFailure,
  type ModelInfo,
  type Outcome,
  type TrainSummary,
  type WorkerEvent,
} from "./protocol";
import type { Way } from "./way";

/** An opened file’s measures and landscapes are of this many samples: enough to be stable, few enough to be quick. */
const MEASURED = 500;
/** A progress message costs the page a frame; more than this many a second nobody can read. */
const PROGRESS_INTERVAL_MS = 50;

/** Loss and accuracy of a model at the samples that it would be measured on. */
export async function figuresOf(
  engine: Engine,
  train: Problem,
  parameters: Float64Array,
): Promise<{ loss: number; accuracy: number }> {
  const measured = firstSamples(train, MEASURED);
  try {
    return await engine.evaluate(measured, parameters);
  } finally {
    if (measured !== train) measured.free();
  }
}

const isLost = (error: unknown): boolean => error instanceof IsoflatError && error.code === "device_lost";

/** What the module holds of a model. */
export interface Handles {
  network: Network;
  train: Problem;
  validation?: Problem;
}

export interface Model extends Handles {
  measured: Problem;
  /** How many the measured ones are: a handle that is lost cannot be asked. */
  measuredSamples: number;
  /** Makes the handles again, when the module has crashed and lost them. */
  source: () => Promise<Handles>;
  trained: Float64Array;
  bent: Float64Array;
  /** How it came to its weights, where it was trained here. */
  way?: Way;
  /** What that came to. */
  summary?: TrainSummary;
  /** None before *Sharpen* has been used. */
  sharpened?: Float64Array;
  name: string;
  /** None where it was trained here. */
  opened?: OpenedModel;
}

export class Session {
  listener: (event: WorkerEvent) => void = () => {};
  /** Called when the module has crashed, and every handle with it. */
  readonly lost: (() => void)[] = [];
  #engine: Engine | undefined;
  #choice: BackendChoice = "auto";
  #threads: EngineOptions["threads"] = "auto";
  #model: Model | undefined;
  #controller = new AbortController();
  #lastProgress = 0;

  /** The device there is; none before the first start. */
  get engine(): Engine {
    if (!this.#engine) throw new LabFailure("not_possible", "there is no engine yet");
    return this.#engine;
  }

  get model(): Model {
    if (!this.#model) throw new LabFailure("not_possible", "there is no network yet");
    return this.#model;
  }

  async start(choice: BackendChoice, threads: EngineOptions["threads"]): Promise<EngineStart> {
    this.#choice = choice;
    this.#threads = threads;
    this.#engine?.free();
    this.#engine = undefined;
    return this.#create();
  }

  adopt(parts: Omit<Model, "measured" | "measuredSamples" | "bent">, samples = MEASURED): ModelInfo {
    const measured = firstSamples(parts.train, samples);
    const measuredSamples = measured.samples;
    // The old model's handles are freed only now, when nothing of the new one can fail any more.
    const old = this.#model;
    const model = { ...parts, measured, measuredSamples, bent: parts.trained };
    this.#model = model;
    if (old) for (const handle of new Set([old.network, old.train, old.measured, old.validation])) handle?.free();
    return infoOf(model);
  }

  stop(): void {
    this.#controller.abort(new LabFailure("aborted", "stopped"));
  }

  loseDevice(): void {
    this.#engine?.loseDevice();
  }

  /** What a body comes to. If the module crashes on the way, it is made anew, and the model with it. */
  outcome<T>(body: () => Promise<T>): Promise<Outcome<T>> {
    return outcome(async () => {
      try {
        return await body();
      } catch (error) {
        if (!(error instanceof IsoflatError) || error.code !== "crashed") throw error;
        throw await this.#revive(error);
      }
    });
  }

  /** Runs with the engine; a lost device is replaced once and the step begun anew. */
  run<T>(body: (engine: Engine, options: RunOptions) => Promise<T>): Promise<Outcome<T>> {
    return this.outcome(async () => {
      this.#controller = new AbortController();
      const options: RunOptions = {
        signal: this.#controller.signal,
        onProgress: (progress) => this.report(progress),
      };
      if (!this.#engine) await this.#create();
      const { engine } = this;
      try {
        return await body(engine, options);
      } catch (error) {
        if (!isLost(error)) throw error;
        engine.free();
        this.#engine = undefined;
        const start = await this.#create();
        this.listener({ type: "engine", start });
        return await body(this.engine, options).catch((again: unknown) => {
          if (!isLost(again)) throw again;
          // The browser's own words for it tell a person nothing.
          const what = start.info.backend === "gpu" ? "the GPU" : "the engine";
          throw new LabFailure("device_lost", `${what} was lost again in the same step`);
        });
      }
    });
  }

  report(progress: Progress): void {
    const now = performance.now();
    // An epoch's validation must not get lost between two reports.
    if (now - this.#lastProgress < PROGRESS_INTERVAL_MS && progress.validationAccuracy === undefined) return;
    this.#lastProgress = now;
    this.listener({ type: "progress", progress });
  }

  /** Parameters live on this side of the module and are kept; the rest is made again. */
  async #revive(crash: IsoflatError): Promise<LabFailure> {
    this.#engine = undefined;
    for (const forget of this.lost) forget();
    await init();
    this.listener({ type: "engine", start: await this.#create() });
    const model = this.#model;
    if (model) {
      const samples = model.measuredSamples;
      this.#model = undefined;
      const handles = await model.source();
      this.#model = { ...model, ...handles, measured: firstSamples(handles.train, samples) };
    }
    const kept = model ? "; the network and its weights are kept" : "";
    return new LabFailure(
      "crashed",
      `${crash.message.split(". Call init")[0]}. The engine has been started anew${kept}`,
    );
  }

  async #create(): Promise<EngineStart> {
    try {
      this.#engine = await Engine.create({ backend: this.#choice, threads: this.#threads });
      return { info: this.#engine.info };
    } catch (error) {
      if (this.#choice === "cpu" || !(error instanceof IsoflatError)) throw error;
      this.#engine = await Engine.create({ backend: "cpu", threads: this.#threads });
      return { info: this.#engine.info, note: error.message };
    }
  }
}
