/** Every function of the package with its arguments, as `isoflat.d.ts` declares them: what the kinds of case draw from. */

import * as of from "./grammar.mjs";
import { $ } from "./values.mjs";

const fixed = (value) => () => ({ value, valid: true });
const ref = (name) => fixed($("ref", { name }));
const point = [ref("problem"), ref("parameters")];
const estimation = { tolerance: of.positive(1e-3, 1e-6), maxProducts: of.count(50, 300), seed: of.seed };
const measures = of.list(
  of.name(
    "loss",
    "gradient_norm",
    "hessian.trace",
    "hessian.frobenius_norm",
    "hessian.max_eigenvalue",
    "petzka.kappa_max",
    "least_trace.nodewise",
    "normalized_sharpness",
    "fisher_rao_norm",
    "epsilon_sharpness",
    "average_sharpness",
    "path_norm_squared",
    "riemannian.nodewise_flat.trace",
    "epsilon_sharpness_subspace",
  ),
);
const measuring = { measures, epsilon: of.positive(1e-3, 0.1), probes: of.count(2, 20), ...estimation };
const training = {
  optimizer: of.optimizer,
  weightDecay: of.positive(1e-4),
  schedule: of.schedule,
  batchSize: of.count(1, 8),
  epochs: of.count(1, 3),
  target: of.name("loss"),
  seed: of.seed,
  space: of.space,
};
delete training.target;
training.snapshots = (random) =>
  random.pick([
    { value: { every: random.between(1, 4) }, valid: true },
    { value: { count: random.between(2, 9) }, valid: true },
    { value: { count: 1e6 }, valid: undefined },
    { value: random.pick([{ every: 0 }, { count: 1 }, { every: 2, count: 2 }, {}, 5, { each: 1 }, []]), valid: false },
  ]);
/** Snapshots of a run, or what is none. */
const trajectory = (random) => {
  const [theta, other] = ["parameters", "other"].map((name) => $("ref", { name }));
  if (random.chance(0.6))
    return {
      value: random.pick([
        [theta, other],
        [other, theta, other],
      ]),
      valid: true,
    };
  const detached = $("detached", { values: [1, 2] });
  return {
    value: random.pick([[], [theta], 5, "x", [[1]], [theta, 5], [theta, detached], {}, [null, theta]]),
    valid: false,
  };
};
const direction = (random) => {
  const wrong = random.chance(0.3);
  if (wrong) {
    const value = random.pick([
      { type: "random" },
      { type: "random", seed: -1 },
      { type: "eigenvector", index: 0.5 },
      { type: "eigenvector", index: $("NaN") },
      { type: "towards" },
      { type: "vector", values: [1] },
      { type: "sideways" },
      { type: "principal" },
      { type: "principal", component: -1 },
      { type: "principal", component: 0, seed: 1 },
      5,
      "random",
      null,
      $("cyclic", { shape: "object" }),
      { type: "random", seed: 1, extra: 2 },
      { type: "towards", parameters: $("detached", { values: [1, 2] }) },
    ]);
    return { value, valid: false };
  }
  const value = random.pick([
    { type: "random", seed: 1 },
    { type: "eigenvector", index: 0 },
    { type: "eigenvector", index: -1, operator: "gauss_newton" },
    { type: "towards", parameters: $("ref", { name: "other" }) },
    { type: "vector", values: $("ref", { name: "other" }) },
  ]);
  return { value, valid: true };
};
const range = (random) =>
  random.chance(0.7)
    ? { value: [-1, 1], valid: true }
    : {
        value: random.pick([
          [1, -1],
          [0, 0],
          [-1e300, 1e300],
          [1e-320, 2e-320],
        ]),
        valid: undefined,
      };
const landscape = {
  directions: of.list(direction),
  normalization: of.name("none", "layer", "filter"),
  range,
  rangeT: range,
  points: of.count(2, 5),
  pointsT: of.count(2, 5),
  // A line has one row.
  firstRow: (random) => ({ value: random.pick([0, 1, 1, 5, -1, 0.5]), valid: undefined }),
  trajectory,
};
const runs = (random) => {
  const one = of.options(training)(random);
  return {
    value: [
      { parameters: $("ref", { name: "parameters" }), options: one.value },
      { parameters: $("ref", { name: "other" }), options: { epochs: 1 } },
    ],
    valid: one.valid,
  };
};

/** Rarely as many numbers as the layer has inputs, squared. */
const matrix = (random) => ({
  value: random.pick([[1, 0, 0, 1], [1, 0, 0, 0, 1, 0, 0, 0, 1], [1], [], 5, "x", [$("NaN"), 0, 0, 1]]),
  valid: undefined,
});
/** Of all parameters: not every region is. */
const fullRegion = (random) =>
  random.chance(0.7)
    ? { value: random.pick([{ type: "ball" }, { type: "box" }, { type: "cube" }]), valid: true }
    : { value: random.pick([{ type: "subspace", dimension: 2 }, { type: "sphere" }, {}, "box", 5]), valid: false };
const reparametrization = (random) =>
  random.chance(0.6)
    ? {
        value: random.pick([
          { type: "weight_normalization" },
          { type: "weight_normalization", alpha: 3 },
          { type: "radial", delta: 1, inner: 0.25, rho: 0.5 },
        ]),
        // A network may have too many coordinates, or rows of zeros.
        valid: undefined,
      }
    : {
        value: random.pick([
          { type: "weight_normalization", alpha: 0 },
          { type: "radial" },
          { type: "radial", delta: 1, inner: 2, rho: 0.5 },
          { type: "radial", delta: $("NaN"), inner: 0.1, rho: 0.5 },
          { type: "polar" },
          "radial",
          [],
        ]),
        valid: false,
      };

/** `slow` methods take a signal and onProgress. */
const engine = (name, args, { slow = true, fields, required } = {}) => ({
  name: `engine.${name}`,
  promise: true,
  slow,
  args: fields === undefined ? args : [...args, of.options(fields, required)],
});

const engineMethods = [
  engine("estimate", point, { slow: false }),
  engine("evaluate", point, { slow: false }),
  engine("outputs", point, { slow: false }),
  engine("gradient", point, { slow: false }),
  engine("product", [...point, ref("other")], { slow: false, fields: { operator: of.operator } }),
  engine("train", point, { fields: training }),
  engine("trainSideBySide", [ref("problem"), runs], { fields: {} }),
  engine("eigenvalues", point, {
    fields: {
      operator: of.operator,
      method: of.name("lanczos"),
      top: of.count(1, 3),
      bottom: of.count(0, 2),
      vectors: of.flag,
      horizontal: of.flag,
      space: of.space,
      ...estimation,
    },
  }),
  engine("measure", point, { fields: measuring }),
  engine("invariance", point, {
    fields: { ...measuring, transformations: of.list(of.transformation) },
    required: ["transformations"],
  }),
  engine("landscape", point, { fields: landscape, required: ["directions"] }),
  engine("density", point, {
    fields: {
      operator: of.operator,
      probes: of.count(2, 6),
      steps: of.count(2, 20),
      points: of.count(2, 64),
      width: of.positive(0.1),
      seed: of.seed,
    },
  }),
  engine("trace", point, {
    fields: {
      operator: of.operator,
      method: of.name("auto", "hutchinson", "hutch_plus_plus"),
      probes: of.count(3, 30),
      seed: of.seed,
    },
  }),
  engine("diagonal", point, { fields: { operator: of.operator, probes: of.count(2, 20), seed: of.seed } }),
  engine("leastTrace", point, { fields: { group: of.name("layerwise", "nodewise", "permutation"), biases: of.flag } }),
  engine("petzka", point, { fields: { draws: of.count(2, 6), ...estimation } }),
  engine("sharpness", point, {
    fields: {
      region: of.region,
      epsilon: of.positive(1e-3, 0.1),
      restarts: of.count(0, 3),
      maxIterations: of.count(1, 20),
      tolerance: of.positive(1e-3),
      seed: of.seed,
    },
  }),
  engine("averageSharpness", point, {
    fields: { noise: of.name("plain", "scaled"), sigma: of.positive(0.01), pairs: of.count(2, 20), seed: of.seed },
  }),
  engine("featureRobustness", point, {
    fields: { layer: of.layer, delta: of.positive(0.01, 0.1), matrix, seed: of.seed },
    required: ["layer", "delta"],
  }),
  engine("noiseInjection", point, {
    fields: { layer: of.layer, delta: of.positive(0.01, 0.1), draws: of.count(2, 5), seed: of.seed },
    required: ["layer", "delta"],
  }),
  engine("sharpen", point, {
    fields: {
      target: of.positive(1e3, 1e5),
      layer: of.layer,
      powersOfTwo: of.flag,
      tolerance: of.positive(1e-3),
      maxProducts: of.count(50, 300),
    },
    required: ["target"],
  }),
  engine("volumeFlatness", point, {
    fields: {
      epsilon: of.positive(0.1),
      radius: of.positive(1e-3),
      boxes: of.count(2, 5),
      samples: of.count(2, 20),
      coordinates: of.name("parameters", "weight_normalization"),
      seed: of.seed,
    },
  }),
  engine("manyLargeEigenvalues", point, {
    fields: { target: of.positive(10, 100), powersOfTwo: of.flag },
    required: ["target"],
  }),
  engine("constantInBall", point, { fields: { region: fullRegion, epsilon: of.positive(1, 0.1), seed: of.seed } }),
  engine("normalizedSharpness", point, {
    fields: {
      alphas: of.list(of.positive(1, 10)),
      epsilon: of.positive(1e-2),
      restarts: of.count(0, 2),
      maxIterations: of.count(1, 20),
      seed: of.seed,
    },
    required: ["alphas"],
  }),
  engine("reparametrizedHessian", point, { fields: { map: reparametrization }, required: ["map"] }),
  engine("inputRepresentation", point, {
    fields: { map: of.name("standardize", "whiten", "gaussianize") },
    required: ["map"],
  }),
  engine("report", point, {
    fields: {
      sections: of.list(of.name("point", "norms", "hessian", "density", "sharpness")),
      ...estimation,
      probes: of.count(2, 20),
    },
  }),
];

const initialization = (random) => {
  const value = random.pick([
    { scheme: "kaiming_uniform" },
    { scheme: "pytorch" },
    { scheme: "uniform", bound: 1 },
    { scheme: "normal", sigma: 1 },
    { seed: 3, bias: "uniform" },
    {},
  ]);
  if (random.chance(0.5)) return { value, valid: true };
  const bad = [
    { scheme: "uniform" },
    { scheme: "normal", sigma: $("NaN") },
    { scheme: "zeros" },
    { seed: -1 },
    { seed: 0.5 },
    { bias: true },
    { bias: "one" },
    { sigma: 1 },
    { scheme: "xavier_normal", bound: 1 },
    "kaiming_uniform",
    5,
    $("map", { entries: [] }),
    { seed: "1" },
    { seed: $("NaN") },
    { scheme: 3 },
    [1],
  ];
  return { value: random.pick(bad), valid: false };
};
const widths = (random) =>
  random.chance(0.4)
    ? { value: [3, random.between(1, 9), 2], valid: true }
    : random.pick([
        { value: [], valid: false },
        { value: [3], valid: undefined },
        { value: [3, 0, 2], valid: false },
        { value: [3, -1, 2], valid: false },
        { value: [3, 1.5, 2], valid: false },
        { value: [3, $("NaN"), 2], valid: false },
        { value: ["3", 4], valid: false },
        { value: [3, 2 ** 32 + 5, 2], valid: undefined },
        { value: [2 ** 31, 2 ** 31, 2], valid: undefined },
        { value: "3,4", valid: false },
        { value: 5, valid: false },
        { value: $("filled", { length: 5000, of: 1 }), valid: undefined },
        { value: $("sparse", { length: 3 }), valid: false },
        { value: $("sparse", { length: 2 ** 31 }), valid: false },
        { value: $("u32", { values: [3, 4, 2] }), valid: undefined },
        { value: { 0: 3, length: 1 }, valid: false },
        { value: [2 ** 53, 2 ** 53], valid: undefined },
        { value: [65536, 65536, 65536, 65536], valid: undefined },
        { value: null, valid: false },
      ]);
const method = (name, args, rest = {}) => ({ name, promise: false, slow: false, args, ...rest });
const object = (fields, required) => of.options(fields, required);

const otherMethods = [
  method(
    "Engine.create",
    [
      object({
        backend: of.name("cpu", "auto"),
        precision: of.name("f64", "f32"),
        memoryBudget: of.positive(0, 1e6, 1e9),
        threads: of.count(1, 2),
        worker: of.flag,
      }),
    ],
    {
      promise: true,
    },
  ),
  method("Network.dense", [
    widths,
    (random) =>
      random.pick([
        of.flagOrOptions(random),
        { value: { bias: random.chance(0.5) }, valid: true },
        { value: random.pick([{ bias: 1 }, { biases: false }, "no", 1]), valid: false },
      ]),
  ]),
  method("Network.preset", [of.name("small", "f1", "lenet5", "petzka_mnist")]),
  method("Network.fromJSON", [
    (random) => ({
      value: random.pick([
        $("undefined"),
        null,
        5,
        "",
        "{",
        [],
        $("map", { entries: [] }),
        $("cyclic", { shape: "object" }),
        $("symbol"),
        true,
      ]),
      valid: false,
    }),
  ]),
  method("parseIdx", [
    (random) => ({
      value: random.pick([
        $("undefined"),
        null,
        5,
        "",
        [0, 0, 8, 1],
        $("f64", { values: [0, 0, 8, 1] }),
        $("u8", { values: [] }),
        {},
      ]),
      valid: false,
    }),
  ]),
  method("Problem.synthetic", [ref("network"), object({ samples: of.count(1, 20), seed: of.seed }, ["samples"])]),
  method("problem.first", [of.count(1, 3)]),
  method("problem.save", [
    ref("parameters"),
    (random) =>
      random.chance(0.6) ? { value: "name", valid: true } : { value: random.pick([5, {}, $("symbol")]), valid: false },
  ]),
  method("network.initialize", [initialization]),
  method("network.transform", [ref("parameters"), of.transformation]),
  method("network.invert", [of.transformation]),
  method("network.equivalence", [
    ref("parameters"),
    ref("parameters"),
    object({ group: of.name("layerwise", "nodewise", "permutation"), tolerance: of.positive(1e-6, 1e-3) }),
  ]),
  method("network.space", [ref("parameters"), of.space]),
  method("network.principalComponents", [trajectory, object({ components: of.count(1, 1) })], {
    promise: true,
    slow: true,
  }),
  method("network.balance", [ref("parameters"), object({ per: of.name("layer", "node") })], {
    promise: true,
    slow: true,
  }),
];

export const methods = [...engineMethods, ...otherMethods];
export const slowMethods = methods.filter(({ slow }) => slow);
export const properties = {
  engine: ["info"],
  network: [
    "inputShape",
    "inputLength",
    "outputLength",
    "parameterCount",
    "depth",
    "summary",
    "homogeneous",
    "piecewiseLinear",
  ],
  problem: ["samples", "loss", "network"],
  space: ["name", "dimension", "parameters", "keepsFunction", "warning"],
};
