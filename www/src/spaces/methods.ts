/** Jestädt's optimisers (2025, chapter 4): SGD and Adam, each on the weights, in the G-space and with fixed weights. */

import type { FixedValues, Optimizer, SpaceSpec, TreeValues } from "isoflat";
import type { RescalingRow, RunOrder } from "../worker/spaces-protocol";

export type Place = "weights" | "g_space" | "weight_fixing";

export interface Method {
  name: string;
  place: Place;
  optimizer: "sgd" | "adam";
  /** The whole skeleton stays as it was drawn: fixed weights are not set to a value, and the tree does not begin at 1. */
  kept?: true;
}

export const METHODS = {
  sgd: { name: "SGD", place: "weights", optimizer: "sgd" },
  g_sgd: { name: "G-SGD", place: "g_space", optimizer: "sgd" },
  fixed_sgd: { name: "Fixed SGD", place: "weight_fixing", optimizer: "sgd" },
  adam: { name: "Adam", place: "weights", optimizer: "adam" },
  g_adam: { name: "G-Adam", place: "g_space", optimizer: "adam" },
  fixed_adam: { name: "Fixed Adam", place: "weight_fixing", optimizer: "adam" },
  fixed_sgd_kept: { name: "Fixed SGD, kept", place: "weight_fixing", optimizer: "sgd", kept: true },
  g_sgd_kept: { name: "G-SGD, kept", place: "g_space", optimizer: "sgd", kept: true },
} as const satisfies Record<string, Method>;

export type MethodId = keyof typeof METHODS;

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

export function orderOf({ method, rate, value }: Run, key: string): RunOrder {
  const { place, optimizer, kept }: Method = METHODS[method];
  const algorithm: Optimizer = { type: optimizer, learningRate: rate };
  return { key, space: spaceOf(place, kept ? "keep" : { set: value }, kept ? "keep" : ONES), optimizer: algorithm };
}

/** Where the in-tree weights of the first layer, the thesis' w_j, begin: the author's published code sets them to 1 with all the others. */
export const ONES: TreeValues = { set: 1 };

function spaceOf(place: Place, values: FixedValues, tree: TreeValues): SpaceSpec {
  switch (place) {
    case "weights":
      return { type: place };
    case "weight_fixing":
      return { type: place, values };
    case "g_space":
      return { type: place, values, tree };
  }
}
