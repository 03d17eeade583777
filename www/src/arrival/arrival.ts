/**
 * What the page shows before its engine is there: a small network that the build has trained from a seed, with everything that
 * the stage says of it, and what becomes of it as its first layer is bent.
 */

import type { Landscape, MeasureValue, PetzkaReport } from "isoflat";
import { defaultsOf } from "../networks";
import type {
  BackendChoice,
  Descriptions,
  Examples,
  LandscapeChoice,
  ModelChoice,
  ModelInfo,
  TrainChoice,
  TrainSummary,
} from "../worker/protocol";

const network = { kind: "preset", name: "small" } as const;
const { training, measured, epochs } = defaultsOf(network);

/** The options that the build trains by, and that the page opens with: *Train* finds the same network. */
export const MODEL: ModelChoice = {
  network,
  init: { scheme: "kaiming_uniform", scale: 1, seed: 1 },
  data: { kind: "mnist", samples: training },
  measured,
};
export const TRAINING: TrainChoice = { optimizer: "momentum", learningRate: 0.02, batchSize: 64, epochs, seed: 1 };
export const LANDSCAPE: LandscapeChoice = {
  directions: "random",
  normalization: "filter",
  seed: 1,
  points: 21,
  atBent: "same",
};
/** For every device: whoever has another sees the same numbers, to its precision. */
export const BACKEND: BackendChoice = "cpu";

/** The twin at one place of the slider. */
export interface Frame {
  decades: number;
  surface: Landscape;
  /** The Hessian's. */
  norm: MeasureValue;
}

/** The same between two frames, where no norm is known. */
export type Shown = Omit<Frame, "norm"> & Partial<Pick<Frame, "norm">>;

export interface Arrival extends Descriptions {
  /** Another build has trained other weights, and has another name. */
  build: string;
  /** How it was made. */
  modelChoice: ModelChoice;
  trainChoice: TrainChoice;
  model: ModelInfo;
  training: TrainSummary;
  line: Landscape;
  surface: Landscape;
  examples: Examples;
  measures: MeasureValue[];
  layers: PetzkaReport;
  accuracy: number | null;
  /** As the slider goes from × 1 to its end. */
  frames: Frame[];
}

/** Digits of losses and the like: more than any drawing shows. */
const DIGITS = 7;

/** Arrays of numbers have a name in JSON, so that they come back as what they were. */
const ARRAYS = { f64: Float64Array, f32: Float32Array, u8: Uint8ClampedArray } as const;

/** JSON has no infinities. */
const short = (value: number): number | string =>
  Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : String(value);

export function encoded(arrival: object): string {
  return JSON.stringify(arrival, (_, value: unknown) => {
    for (const [name, type] of Object.entries(ARRAYS)) {
      if (value instanceof type) return { [name]: Array.from(value, short) };
    }
    return value;
  });
}

export const decoded = (text: string): Arrival => revived(JSON.parse(text)) as Arrival;

/** Not by JSON.parse's own way of reviving, which asks of each of the numbers, tens of thousands, and takes five times as long. */
function revived(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(revived);
  const entries = Object.entries(value);
  const [entry, ...others] = entries;
  const type = entry && ARRAYS[entry[0] as keyof typeof ARRAYS];
  if (type && others.length === 0 && Array.isArray(entry[1])) return type.from(entry[1].map(Number));
  return Object.fromEntries(entries.map(([key, inner]) => [key, revived(inner)]));
}
