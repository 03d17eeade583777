/** What the tests begin with: a page's state, and what is in it. */

import type { BackendInfo, Landscape, MeasureDescription, MeasureKey, MeasureValue } from "isoflat";
import { FIRST_STATE } from "../../www/src/states";
import type { State } from "../../www/src/store";
import type { ModelInfo } from "../../www/src/worker/protocol";

export const INFO: BackendInfo = {
  backend: "cpu",
  adapter: "CPU",
  api: "wasm",
  precision: "f64",
  isSoftware: false,
  threads: 1,
};

export const model = (change: Partial<ModelInfo> = {}): ModelInfo => ({
  data: "MNIST",
  summary: "784-64-10",
  parameterCount: 50890,
  inputs: 784,
  outputs: 10,
  beginsDense: true,
  depth: 2,
  homogeneous: true,
  piecewiseLinear: true,
  dense: true,
  loss: "cross_entropy",
  samples: 1000,
  validationSamples: 100,
  measuredSamples: 500,
  layers: ["784 → 64", "64 → 10"],
  tensors: null,
  ...change,
});

/** A measure of every network, that takes a pass; `change` says otherwise. */
export const described = (key: MeasureKey, change: Partial<MeasureDescription> = {}): MeasureDescription => ({
  key,
  title: key,
  paper: "—",
  description: "",
  family: "point",
  cost: "pass",
  definedFor: "any",
  invariant: { layerwise: true, nodewise: true, permutation: true },
  ...change,
});

/** One of each kind of network, and of most costs. */
export const DESCRIPTIONS: MeasureDescription[] = [
  described("loss"),
  described("hessian.trace", { family: "curvature", cost: "sweep" }),
  described("hessian.frobenius_norm", { family: "curvature", cost: "probes" }),
  described("riemannian.layerwise_flat.spectral_norm", { family: "riemannian", cost: "eigenvalues" }),
  described("petzka.rho_max", { family: "petzka", cost: "sweep", definedFor: "piecewise_linear" }),
  described("path_norm_squared", { family: "norms", definedFor: "dense" }),
  described("epsilon_sharpness", { family: "sharpness", cost: "search" }),
];

export const measured = (key: MeasureKey, value = 1): MeasureValue => ({ key, value, converged: true });

export const landscape = (rows: number[][], points = rows[0]?.length ?? 0): Landscape => ({
  s: Float64Array.from({ length: points }, (_, index) => index),
  t: Float64Array.from({ length: points }, (_, index) => index),
  loss: Float64Array.from(rows.flat()),
  accuracy: new Float64Array(),
  center: 0,
  notFinite: 0,
  backend: INFO,
});

export const state = (change: Partial<State> = {}): State => ({
  ...FIRST_STATE,
  task: "idle",
  engine: { info: INFO },
  descriptions: DESCRIPTIONS,
  model: model(),
  ready: true,
  bend: { lambda: [1, 1], nodewise: null, permutation: null },
  landscapeChoice: { directions: "random", normalization: "filter", seed: 1, points: 3, atBent: "same" },
  spectrumChoice: { operator: "hessian", part: "all", probes: 2, steps: 10 },
  ...change,
});
