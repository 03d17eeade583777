/** What the page knows. Views read it and are told which parts have changed. */

import type {
  EigenResult,
  InvarianceTable,
  Landscape,
  MeasureDescription,
  MeasureKey,
  MeasureValue,
  OperatorDescription,
  PetzkaReport,
  Progress,
  SpectralDensity,
  Transformation,
} from "isoflat";
import type { Look } from "./charts/camera";
import { CONSTRUCTIONS } from "./constructions";
import type { TableName } from "./seeds";
import type { Entry } from "./shelf";
import type { SpacesChoice } from "./spaces/settings";
import type {
  BackendChoice,
  BendSummary,
  Constructed,
  Construction,
  EngineStart,
  Examples,
  LandscapeChoice,
  ModelChoice,
  ModelInfo,
  OpenedFiles,
  Point,
  Preview,
  SampleCosts,
  SharpenFinding,
  SpectrumChoice,
  TableFound,
  TrainChoice,
  TrainSummary,
  Valley,
} from "./worker/protocol";
import type { Unfinished } from "./worker/unfinished";

export type Task =
  | "idle"
  | "starting"
  | "training"
  | "looking"
  | "bending"
  | "sharpening"
  | "reporting"
  | "spectrum"
  | "checking"
  | TableName;

export interface Bend {
  lambda: number[];
  /** Every hidden unit by a random factor in [1/range, range]. */
  nodewise: { seed: number; range: number } | null;
  permutation: { seed: number } | null;
}

/** The first rows of a surface, and all that it depends on and the page may change while it is computed. */
export type Growing = Landscape & { about: string };

/** The stage's one control. */
export interface Sharpness {
  /** `bend`: the first layer by as much; `sharpen`: the whole Hessian by at least as much (Dinh et al. 2017, Theorem 4). */
  way: "bend" | "sharpen";
  /** Of the wanted factor, in powers of ten; 0 leaves the weights as they are. */
  decades: number;
}

export type Values = ReadonlyMap<MeasureKey, MeasureValue>;
export type PerPoint<T> = Readonly<Partial<Record<Point, T>>>;

/** What is bent is compared with what was trained. */
export const oneOrTwo = <T>({ trained, bent }: PerPoint<T>): [T] | [T, T] | null =>
  trained === undefined ? null : bent === undefined ? [trained] : [trained, bent];

/** Of the invariance check: it goes on with the same after a pause. */
export interface CheckChoice {
  /** Units by up to so much. */
  range: number;
  /** With the ascents, which take most of the time. */
  searches: boolean;
  transformations: Transformation[];
  keys: MeasureKey[];
}

/** Of a construction what it is asked with, of a table how many seeds. */
export type Asked = Readonly<
  { check?: true; spectrum?: true } & { [K in TableName]?: number } & { [K in Construction]?: Constructed[K]["asked"] }
>;

/** How far the whole of a job is. */
export interface Waiting {
  /** What is counted: 12 of 37 measures, or which epoch or section runs. Null where there is nothing to count. */
  count: { done: number; total: number; of: "measures" | "cells" | "epochs" | "sections" | "seeds" } | null;
  /** In [0, 1]; null while nothing can be said. */
  fraction: number | null;
  /** Seconds; null while they are not known. */
  left: number | null;
  /** The step that runs, in words. */
  step: string;
  /** Steps that come after it. */
  after: number;
}

/** What a construction found, or in words why it is not for this network. */
export type Finding<T> = { value: T } | { refusal: string };

export const found = <T>(finding: Finding<T> | null): T | null =>
  finding && "value" in finding ? finding.value : null;

export const refusalOf = (finding: Finding<unknown> | null): string | null =>
  finding && "refusal" in finding ? finding.refusal : null;

/** What each of Dinh's constructions found; null while nobody has asked for it. */
export type Findings = { readonly [K in Construction]: Finding<Constructed[K]["found"]> | null };

/** Dinh et al. 2017, at the trained point. */
export interface Dinh extends Findings {
  /** The wanted spectral norm as a multiple of the Hessian’s, in powers of ten. */
  decades: number;
  powersOfTwo: boolean;
  valley: Finding<Valley> | null;
  /** For the choice above; null while it is not computed. */
  sharpened: Finding<SharpenFinding> | null;
}

export interface KnownCosts extends SampleCosts {
  /** Tried out while other work ran: they are too high, and what is learnt relative to them means nothing later. */
  isBeside: boolean;
  /** Seconds of a product for each sample and weight, of the last dense network on this device; null before there was one. */
  weight: number | null;
}

export interface State {
  task: Task;
  /** Of the step that runs. */
  progress: Progress | null;
  /** How far the whole of what runs is, or what has been paused; null where nothing is. */
  waiting: Waiting | null;
  /** Was the last task ended by a person, with something left to do? */
  paused: boolean;
  /** More than the stage is to be computed; of what the page comes with, once a part is open that shows more. */
  isWanted: boolean;
  /** What a person has asked for beyond that, and is not all there yet. */
  asked: Asked;
  engine: EngineStart | null;
  /** What a person wants to compute on. */
  backend: BackendChoice;
  descriptions: MeasureDescription[];
  operators: OperatorDescription[];
  /** For the model and the engine there are; null until they are known. */
  costs: KnownCosts | null;
  model: ModelInfo | null;
  modelChoice: ModelChoice | null;
  trainChoice: TrainChoice | null;
  /** Files that were opened; null while the network is one of the options'. */
  opened: OpenedFiles | null;
  training: TrainSummary | null;
  /** Snapshots of the way of its training; 0 where there is none. */
  way: number;
  /** A training that was broken off and can go on; null while there is none, or it goes on. */
  unfinished: Unfinished | null;
  /** By which what is shown is kept; null for what is not kept: a network that is not trained, or where the browser keeps nothing. */
  stamp: string | null;
  /** The networks that are kept, newest first. */
  shelf: Entry[];
  /** Is there something to go back to, or on to again? In words. */
  undo: string | null;
  redo: string | null;
  /** Is there a point to look at? False while the network shown is still to be trained. */
  ready: boolean;
  sharpness: Sharpness;
  bend: Bend;
  bendSummary: BendSummary | null;
  /** A coarse look at the bend, or at the one before it while a slider moves. */
  preview: Preview | null;
  examples: Examples | null;
  /** On the test set where there is one; null where targets are no classes. */
  accuracy: PerPoint<number | null>;
  landscapeChoice: LandscapeChoice;
  look: Look;
  lines: PerPoint<Landscape>;
  surfaces: PerPoint<Landscape>;
  /** Surfaces of which only the first rows are computed, by now or until Stop. */
  growing: PerPoint<Growing>;
  measures: Readonly<Record<Point, Values>>;
  layers: PerPoint<PetzkaReport>;
  spectrumChoice: SpectrumChoice;
  /** For the choice; null while or where they are not computed. */
  spectra: PerPoint<EigenResult>;
  densities: PerPoint<SpectralDensity>;
  dinh: Dinh;
  /** Of the check below; without the cells that are still to come. */
  invariance: InvarianceTable | null;
  /** What the check is of; null before the first one. */
  checkChoice: CheckChoice | null;
  table2: TableFound | null;
  table3: TableFound | null;
  /** What the part on parameter spaces is set to; null before it was opened. */
  spaces: SpacesChoice | null;
}

export type Key = keyof State;

export class Store<S extends object = State> {
  #listeners: { keys: (keyof S)[]; listener: () => void }[] = [];

  constructor(public state: Readonly<S>) {}

  set(change: Partial<S>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.#told(change)) listener();
  }

  /** The state is another one at once; who watches it is told one after the other, in short `tasks`. */
  async setInParts(change: Partial<S>, tasks: { run: (part: () => void) => Promise<void> }): Promise<void> {
    this.state = { ...this.state, ...change };
    for (const listener of this.#told(change)) await tasks.run(listener);
  }

  #told(change: Partial<S>): (() => void)[] {
    return this.#listeners.filter(({ keys }) => keys.some((key) => key in change)).map(({ listener }) => listener);
  }

  /** Calls the listener now and after each change of one of the parts. */
  watch(keys: (keyof S)[], listener: () => void): void {
    this.#listeners.push({ keys, listener });
    listener();
  }
}

export const NOT_SHARP: Sharpness = { way: "bend", decades: 0 };

export const NO_VALUES: Readonly<Record<Point, Values>> = { trained: new Map(), bent: new Map() };

export const NO_DINH: Dinh = {
  ...(Object.fromEntries(CONSTRUCTIONS.map((what) => [what, null])) as Findings),
  decades: 0,
  powersOfTwo: false,
  valley: null,
  sharpened: null,
};

/** The measures that are defined for the network. */
export function measuresOf({ descriptions, model }: State): MeasureDescription[] {
  const has = {
    any: true,
    piecewise_linear: model?.piecewiseLinear !== false,
    dense: model?.dense !== false,
  };
  return descriptions.filter(({ definedFor }) => has[definedFor]);
}

/** The map that the controls describe, or null where they leave the weights as they are. */
export function transformationOf({ lambda, nodewise, permutation }: Bend): Transformation | null {
  const of: Transformation[] = [];
  if (lambda.some((factor) => factor !== 1)) of.push({ type: "layerwise", lambda });
  if (nodewise) {
    of.push({ type: "random_nodewise", seed: nodewise.seed, low: 1 / nodewise.range, high: nodewise.range });
  }
  if (permutation) of.push({ type: "random_permutation", seed: permutation.seed });
  return of.length === 0 ? null : { type: "composition", of };
}
