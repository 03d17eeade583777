/** What the page knows. Views read it and are told which parts have changed. */

import type {
  InvarianceTable,
  Landscape,
  MeasureDescription,
  MeasureKey,
  MeasureValue,
  Progress,
  Transformation,
} from "isoflat";
import type {
  BendSummary,
  EngineStart,
  LandscapeChoice,
  ModelChoice,
  ModelInfo,
  Point,
  SampleCosts,
  Table2Row,
  TrainChoice,
  TrainSummary,
} from "./worker/protocol";

export type Task = "idle" | "starting" | "training" | "looking" | "bending" | "checking" | "table2";

export interface Bend {
  lambda: number[];
  /** Every hidden unit by a random factor in [1/range, range]. */
  nodewise: { seed: number; range: number } | null;
  permutation: { seed: number } | null;
}

export type Values = ReadonlyMap<MeasureKey, MeasureValue>;
export type PerPoint<T> = Readonly<Partial<Record<Point, T>>>;

export interface State {
  task: Task;
  progress: Progress | null;
  engine: EngineStart | null;
  descriptions: MeasureDescription[];
  /** For the model and the engine there are; null until they are known. */
  costs: SampleCosts | null;
  model: ModelInfo | null;
  modelChoice: ModelChoice | null;
  trainChoice: TrainChoice | null;
  training: TrainSummary | null;
  /** Is there a point to look at? False while the network shown is still to be trained. */
  ready: boolean;
  bend: Bend;
  bendSummary: BendSummary | null;
  landscapeChoice: LandscapeChoice;
  lines: PerPoint<Landscape>;
  surfaces: PerPoint<Landscape>;
  /** Surfaces of which only the first rows are computed, by now or until Stop. */
  growing: PerPoint<Landscape>;
  measures: Readonly<Record<Point, Values>>;
  invariance: InvarianceTable | null;
  table2: Table2Row[] | null;
}

export type Key = keyof State;

export class Store<S extends object = State> {
  #listeners: { keys: (keyof S)[]; listener: () => void }[] = [];

  constructor(public state: Readonly<S>) {}

  set(change: Partial<S>): void {
    this.state = { ...this.state, ...change };
    for (const { keys, listener } of this.#listeners) if (keys.some((key) => key in change)) listener();
  }

  /** Calls the listener now and after each change of one of the parts. */
  watch(keys: (keyof S)[], listener: () => void): void {
    this.#listeners.push({ keys, listener });
    listener();
  }
}

export const NO_VALUES: Readonly<Record<Point, Values>> = { trained: new Map(), bent: new Map() };

/** The measures that are defined for the network: Petzka's need a piecewise linear one. */
export function measuredKeys({ descriptions, model }: State): MeasureKey[] {
  const keys = descriptions.map(({ key }) => key);
  return model?.homogeneous === false ? keys.filter((key) => !key.startsWith("petzka.")) : keys;
}

/** Is everything there that the page shows of its points? Not after Stop. */
export function isComplete(state: State): boolean {
  const { bend, surfaces, lines, measures } = state;
  const points: Point[] = transformationOf(bend) ? ["trained", "bent"] : ["trained"];
  return points.every(
    (point) => surfaces[point] && lines[point] && measuredKeys(state).every((key) => measures[point].has(key)),
  );
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
