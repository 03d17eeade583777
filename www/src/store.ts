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
  measures: Readonly<Record<Point, Values>>;
  invariance: InvarianceTable | null;
  table2: Table2Row[] | null;
}

export type Key = keyof State;

export class Store {
  #listeners: { keys: Key[]; listener: () => void }[] = [];

  constructor(public state: Readonly<State>) {}

  set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    for (const { keys, listener } of this.#listeners) if (keys.some((key) => key in change)) listener();
  }

  /** Calls the listener now and after each change of one of the parts. */
  watch(keys: Key[], listener: () => void): void {
    this.#listeners.push({ keys, listener });
    listener();
  }
}

export const NO_VALUES: Readonly<Record<Point, Values>> = { trained: new Map(), bent: new Map() };

/** Is everything there that the page shows of its points? Not after Stop. */
export function isComplete({ descriptions, bend, surfaces, lines, measures }: State): boolean {
  const points: Point[] = transformationOf(bend) ? ["trained", "bent"] : ["trained"];
  return points.every(
    (point) => surfaces[point] && lines[point] && descriptions.every(({ key }) => measures[point].has(key)),
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
