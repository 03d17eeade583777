/** Jestädt's optimisers (2025, chapter 4): SGD and Adam, each on the weights, in the G-space and with fixed weights. */

import type { FixedChoice, FixedValues, SpaceSpec, TreeValues } from "isoflat";
import type { RescalingRow, RunOrder } from "../worker/spaces-protocol";

export type Place = "weights" | "g_space" | "weight_fixing";

export interface Method {
  name: string;
  place: Place;
  optimizer: "sgd" | "adam";
  /**
   * Where fixed weights are not set to a value, nor the tree to 1: the whole skeleton stays as it was drawn, or the network is rescaled
   * until the fixed weights are ±1. Both leave the function as it is.
   */
  skeleton?: "kept" | "rescaled";
  /** Which weights are fixed: the diagonal, as in most of the thesis, if nothing is said. */
  choice?: FixedChoice;
}

export const METHODS = {
  sgd: { name: "SGD", place: "weights", optimizer: "sgd" },
  g_sgd: { name: "G-SGD", place: "g_space", optimizer: "sgd" },
  fixed_sgd: { name: "Fixed SGD", place: "weight_fixing", optimizer: "sgd" },
  adam: { name: "Adam", place: "weights", optimizer: "adam" },
  g_adam: { name: "G-Adam", place: "g_space", optimizer: "adam" },
  fixed_adam: { name: "Fixed Adam", place: "weight_fixing", optimizer: "adam" },
  fixed_sgd_kept: { name: "Fixed SGD, kept", place: "weight_fixing", optimizer: "sgd", skeleton: "kept" },
  g_sgd_kept: { name: "G-SGD, kept", place: "g_space", optimizer: "sgd", skeleton: "kept" },
  fixed_sgd_rescaled: rescaled("Fixed SGD, rescaled", "diagonal"),
  fixed_sgd_rescaled_distance: rescaled("Fixed SGD, rescaled, least distance", "hungarian_distance"),
  fixed_sgd_rescaled_factors: rescaled("Fixed SGD, rescaled, least factors", "hungarian"),
} as const satisfies Record<string, Method>;

export type MethodId = keyof typeof METHODS;

function rescaled(name: string, choice: FixedChoice) {
  return { name, place: "weight_fixing", optimizer: "sgd", skeleton: "rescaled", choice } as const;
}

export const PLACES: Record<Place, string> = { weights: "weights", g_space: "G-space", weight_fixing: "fixed weights" };

/** Of the small network that is trained from two starting points. */
export const RESCALED: Partial<Record<SpaceSpec["type"], string>> = {
  weights: "SGD",
  weight_fixing: "Fixed SGD, weights kept",
  g_space: "G-SGD",
};

/** In f64, over tens of steps: far above rounding, far below what training moves. */
const SAME = 1e-8;

/** Are they the same function after training? */
export const isSame = ({ difference }: Pick<RescalingRow, "difference">): boolean => difference < SAME;

/** One run of an experiment; `value` is what the fixed weights are set to, where they are. */
export interface Run {
  method: MethodId;
  rate: number;
  value: number;
}

export const run = (method: MethodId, rate: number, value = 1): Run => ({ method, rate, value });

export const keyOf = ({ method, rate, value }: Run): string => `${method} ${rate} ${value}`;

/** On the whole skeleton, and with no factors there that a rescaling has left. */
export function beganWithOnes({ method, value }: Run): boolean {
  const { place, skeleton }: Method = METHODS[method];
  return place !== "weights" && !skeleton && value === 1;
}

export function orderOf({ method, rate, value }: Run, key: string): RunOrder {
  const { optimizer }: Method = METHODS[method];
  return { key, space: spaceOf(METHODS[method], value), optimizer: { type: optimizer, learningRate: rate } };
}

/** Where the in-tree weights of the first layer, the thesis' w_j, begin: the author's published code sets them to 1 with all the others. */
export const ONES: TreeValues = { set: 1 };

function spaceOf({ place, skeleton, choice }: Method, value: number): SpaceSpec {
  const fixed = { values: valuesOf(skeleton, value), ...(choice && { choice }) };
  switch (place) {
    case "weights":
      return { type: place };
    case "weight_fixing":
      return { type: place, ...fixed };
    case "g_space":
      return { type: place, ...fixed, tree: skeleton ? "keep" : ONES };
  }
}

function valuesOf(skeleton: Method["skeleton"], value: number): FixedValues {
  switch (skeleton) {
    case "kept":
      return "keep";
    case "rescaled":
      return "reparametrize";
    default:
      return { set: value };
  }
}
