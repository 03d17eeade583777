/**
 * Arguments that fight back, handles that are no handles, calls out of turn: getters that throw, Proxies, detached, shared and
 * resizable buffers, freed and foreign handles, members of prototypes called by themselves, fake signals, calls from within
 * `onProgress`, many calls in flight, `free()` in flight, handles that are forgotten.
 */

import { methods, properties, slowMethods } from "../api.mjs";
import { problem } from "../problems.mjs";
import { $ } from "../values.mjs";
import { draw } from "./options.mjs";

const ref = (name) => $("ref", { name });

/** In place of a parameter vector. */
const vectors = [
  $("detached", { values: [1, 2, 3] }),
  $("prototype", { of: "f64" }),
  $("prototype", { of: "f32" }),
  $("proxy", { of: $("f64", { values: [1, 2] }), trap: "none" }),
  $("proxy", { of: $("f64", { values: [1] }), trap: "get" }),
  $("proxy", { of: [1, 2], trap: "get" }),
  $("proxy", { of: [1], trap: "getPrototypeOf" }),
  $("proxy", { of: {}, trap: "revoked" }),
  $("subclass", { values: [1, 2] }),
  $("speciesThrows", { values: [1, 2] }),
  $("throwsIterating"),
  $("throwsAsPrimitive"),
  $("u8", { values: [1, 2] }),
  $("buffer", { bytes: 16 }),
  $("view", { bytes: 16 }),
  $("sparse", { length: 5 }),
  $("sparse", { length: 2 ** 32 - 1 }),
  $("map", { entries: [] }),
  [1, "2", 3],
  [$("NaN")],
  $("f64", { values: [$("NaN"), $("Infinity")] }),
  "1,2,3",
  5,
  null,
  $("undefined"),
  $("symbol"),
  $("bigint", { value: "1" }),
  { length: 2, 0: 1, 1: 2 },
  $("cyclic", { shape: "array" }),
  $("over", { values: [1, 2, 3, 4], how: "shared" }),
  $("over", { values: [1, 2, 3, 4], how: "shrunk" }),
  [],
  $("f64", { values: [] }),
  $("getter", { key: "length", rest: {} }),
  $("f64", { length: 1e6 }),
  $("thenable"),
  [$("throwsAsPrimitive")],
  $("proxy", { of: $("ref", { name: "parameters" }), trap: "get" }),
];

/** In place of a handle. */
const handles = [
  $("freed", { name: "problem" }),
  $("freed", { name: "network" }),
  $("freed", { name: "space" }),
  $("pretend", { of: "Problem" }),
  $("pretend", { of: "Engine" }),
  $("pretend", { of: "Network" }),
  $("made", { of: "Engine" }),
  $("made", { of: "Network" }),
  $("made", { of: "ParameterSpace" }),
  { __id: 0 },
  { __id: 1 },
  { __wbg_ptr: 1 },
  { ptr: 8, __wbg_ptr: 2 ** 31 },
  ref("network"),
  ref("engine"),
  ref("problem"),
  null,
  $("undefined"),
  5,
  "problem",
  {},
  [],
  $("symbol"),
  $("proxy", { of: ref("problem"), trap: "none" }),
  $("proxy", { of: ref("problem"), trap: "get" }),
  $("proxy", { of: {}, trap: "revoked" }),
  $("getter", { key: "__id", rest: {} }),
  $("getter", { key: "__wbg_ptr", rest: {} }),
  $("inherited", { of: ref("problem") }),
  { __id: 1e300 },
  { __id: -1 },
  $("shifty", { key: "__wbg_ptr", first: 0, second: 0, frees: "spare" }),
];

const data = [
  $("undefined"),
  null,
  {},
  5,
  "data",
  $("getter", { key: "inputs", rest: { loss: "cross_entropy", targets: [0] } }),
  $("getter", { key: "loss", rest: {} }),
  $("getter", { key: "targets", rest: { loss: "cross_entropy", inputs: [1] } }),
  $("proxy", { of: {}, trap: "get" }),
  $("proxy", { of: {}, trap: "revoked" }),
  { loss: "cross_entropy", inputs: $("prototype", { of: "f64" }), targets: [0] },
  { loss: "cross_entropy", inputs: $("detached", { values: [1] }), targets: [0] },
  { loss: $("throwsAsPrimitive"), inputs: [1], targets: [0] },
  { loss: "cross_entropy", inputs: [], targets: [] },
  { loss: "cross_entropy", inputs: $("sparse", { length: 6 }), targets: [0] },
  { loss: "cross_entropy", inputs: [1, 2, 3], targets: [0], weights: [1] },
  $("map", { entries: [["loss", "cross_entropy"]] }),
  { loss: "squared_error", inputs: $("f32", { length: 3 }), targets: $("f64", { values: [$("NaN"), 1] }) },
  $("cyclic", { shape: "object" }),
  { loss: "hinge", inputs: [1], targets: [1] },
  { loss: "cross_entropy", inputs: $("f64", { length: 4e6 }), targets: $("u32", { length: 3 }) },
];

const jsons = [
  $("cyclic", { shape: "object" }),
  $("deep", { depth: 100_000, shape: "array" }),
  $("deepText", { depth: 200_000, open: "[", close: "]" }),
  $("getter", { key: "input", rest: { layers: [] } }),
  $("proxy", { of: {}, trap: "ownKeys" }),
  $("proxy", { of: {}, trap: "get" }),
  $("throwsAsPrimitive"),
  { input: [2], layers: $("sparse", { length: 5 }) },
  $("bigint", { value: "1" }),
  { input: [$("bigint", { value: "2" })], layers: [] },
  { input: [2], layers: [{ type: "dense", units: $("throwsAsPrimitive") }] },
  $("map", { entries: [["input", [2]]] }),
  { input: $("f64", { values: [2] }), layers: [{ type: "dense", units: 2 }] },
  { input: [2], layers: [{ type: "dense", units: $("NaN") }] },
  $("text", { length: 5e6, of: " " }),
  $("symbol"),
  $("function"),
  $("undefined"),
  null,
  "",
  "null",
  "[]",
  "{",
  5,
  [],
  $("date"),
];

const step = (call, args, promise = false, rest = {}) => ({ call, args, promise, ...rest });
const isEngine = ({ name }) => name.startsWith("engine.") && name !== "engine.trainSideBySide";
const engineMethods = methods.filter(isEngine);

/** Each makes a list of steps. */
const ways = {
  vector: (random) => {
    const { name, promise } = random.pick(engineMethods);
    if (random.chance(0.7)) return [step(name, [ref("problem"), random.pick(vectors), {}], promise)];
    const other = random.pick([
      ["engine.product", [ref("problem"), ref("parameters"), random.pick(vectors)], true],
      ["network.transform", [random.pick(vectors), { type: "random_permutation", seed: 1 }]],
      ["network.space", [random.pick(vectors), { type: "weights" }]],
      ["network.balance", [random.pick(vectors)], true],
      ["network.principalComponents", [[ref("parameters"), random.pick(vectors)]], true],
      ["problem.save", [random.pick(vectors)]],
      ["parseIdx", [random.pick(vectors)]],
      ["Network.foldBatchNorm", [{ input: [2], layers: [{ type: "dense", units: 2 }] }, random.pick(vectors)]],
      ["engine.train", [ref("problem"), ref("parameters"), { epochs: 1, validation: random.pick(handles) }], true],
      [
        "engine.train",
        [
          ref("problem"),
          ref("parameters"),
          { epochs: 1, checkpoint: random.pick([...vectors, { space: "weights", coordinates: random.pick(vectors) }]) },
        ],
        true,
      ],
      [
        "engine.trainSideBySide",
        [ref("problem"), [{ parameters: random.pick(vectors), options: { epochs: 1 } }]],
        true,
      ],
      ["engine.trainSideBySide", [ref("problem"), random.pick(vectors)], true],
    ]);
    return [step(...other)];
  },
  handle: (random) => {
    const { name, promise } = random.pick(engineMethods);
    if (random.chance(0.5))
      return [
        step("problem.first", [1], false, { as: "spare" }),
        step(name, [random.pick(handles), ref("parameters"), {}], promise),
      ];
    if (random.chance(0.5))
      return [
        step(
          "new Problem",
          [
            random.pick(handles),
            random.chance(0.5) ? random.pick(data) : { loss: "cross_entropy", inputs: [1], targets: [0] },
          ],
          false,
          { forget: false },
        ),
      ];
    return [step("Problem.synthetic", [random.pick(handles), { samples: 2 }])];
  },
  unknownKey: (random, { samples, network }) => {
    const inputs = $("f64", { length: samples * network.input[0], fill: 0.5 });
    const key = random.pick(["weights", "input", "label", "lables", "name"]);
    const given = { loss: "cross_entropy", inputs, targets: $("u32", { length: samples }), [key]: [1] };
    return [step("new Problem", [ref("network"), given], false, { expect: "refused" })];
  },
  data: (random) => [step("new Problem", [ref("network"), random.pick(data)], false, { forget: true })],
  json: (random) => [
    step(
      random.pick(["Network.fromJSON", "Problem.open", "Network.foldBatchNorm"]),
      [random.pick(jsons), random.pick(vectors)],
      false,
      { forget: true },
    ),
  ],
  nothing: (random) => [
    step(
      random.pick([
        "Problem.open",
        "Network.preset",
        "Network.fromJSON",
        "parseIdx",
        "Network.dense",
        "new Problem",
        "Problem.synthetic",
        "new Engine",
        "new Network",
        "new ParameterSpace",
        "new IsoflatError",
        "Network.foldBatchNorm",
        "problem.save",
        "problem.first",
        "network.transform",
        "network.invert",
        "network.space",
      ]),
      random.some(
        [5, {}, null, $("symbol"), $("proxy", { of: {}, trap: "get" }), $("made", { of: "Engine" })],
        random.int(3),
      ),
    ),
  ],
  made: (random) => {
    const { name, promise, args } = random.pick(methods.filter((method) => /^[a-z]+\./.test(method.name)));
    const member = name.split(".")[1];
    const owner = { engine: "Engine", network: "Network", problem: "Problem" }[name.split(".")[0]];
    const self = random.pick([
      $("pretend", { of: owner }),
      $("made", { of: owner }),
      {},
      null,
      5,
      $("freed", { name: random.pick(["problem", "network"]) }),
      $("proxy", { of: ref("engine"), trap: "none" }),
      ref("network"),
      ref("problem"),
      ref("engine"),
      $("undefined"),
    ]);
    if (random.chance(0.3)) {
      const getter = random.pick(properties[name.split(".")[0]]);
      return [{ get: `${owner}.prototype.${getter}`, this: self }];
    }
    return [
      step(
        `${owner}.prototype.${member}`,
        args.map((arg) => arg(random).value),
        promise,
        { this: self, guard: 800 },
      ),
    ];
  },
  freed: (random) => {
    const method = random.pick(methods.filter(({ name }) => /^(problem|network|engine)\./.test(name)));
    const owner = method.name.split(".")[0];
    const call = { ...draw(random, method), expect: undefined };
    const order = random.pick([
      [{ free: owner }, call],
      [{ parallel: [call, { free: owner }] }, call],
      [{ parallel: [call, { free: owner }, call] }],
      [{ free: owner }, { free: owner }],
      [{ free: owner }, { get: `${owner}.${random.pick(properties[owner])}` }],
      [{ parallel: [call, { free: "problem" }, { free: "network" }] }],
      [{ free: "problem" }, { free: "network" }, call],
    ]);
    return order;
  },
  signal: (random) => {
    const { name, promise } = random.pick(slowMethods);
    const bag = {
      signal: random.pick(
        ["prototype", "plain", "throws", "assigned"]
          .map((shape) => $("fakeSignal", { shape }))
          .concat([5, "abort", {}, $("proxy", { of: $("signal", { abort: "never" }), trap: "none" }), true]),
      ),
    };
    if (random.chance(0.3))
      bag.onProgress = random.pick([5, "f", {}, [], true, $("proxy", { of: $("function"), trap: "apply" })]);
    const required = {
      "engine.sharpen": { target: 1e4 },
      "engine.invariance": { transformations: [{ type: "random_permutation", seed: 1 }] },
      "engine.landscape": { directions: [{ type: "random", seed: 1 }] },
      "engine.featureRobustness": { layer: 1, delta: 0.1 },
      "engine.noiseInjection": { layer: 1, delta: 0.1 },
      "engine.manyLargeEigenvalues": { target: 10 },
      "engine.normalizedSharpness": { alphas: [0.5, 2] },
      "engine.reparametrizedHessian": { map: { type: "weight_normalization" } },
      "engine.inputRepresentation": { map: "standardize" },
    }[name];
    const args =
      name === "network.balance"
        ? [ref("parameters")]
        : name === "network.principalComponents"
          ? [[ref("parameters"), ref("other")]]
          : name === "engine.trainSideBySide"
            ? [ref("problem"), [{ parameters: ref("parameters"), options: { epochs: 1 } }]]
            : [ref("problem"), ref("parameters")];
    return [step(name, [...args, { ...required, ...bag }], promise)];
  },
  progress: (random) => {
    const spec = random.pick([
      { throws: true, at: random.between(1, 4) },
      { frees: "engine" },
      { frees: "problem", at: 2 },
      { frees: "network" },
      { reenter: step("engine.gradient", [ref("problem"), ref("other")], true) },
      { reenter: step("network.initialize", [{ seed: 1 }]) },
      { reenter: step("engine.trace", [ref("problem"), ref("other"), { method: "hutchinson", probes: 5 }], true) },
      { reenter: step("Engine.create", [{ backend: "cpu" }], true) },
    ]);
    return [long(random, { onProgress: $("progress", spec) })];
  },
  flight: (random) => {
    const calls = Array.from({ length: random.between(3, 12) }, () =>
      long(
        random,
        random.chance(0.4)
          ? { signal: $("signal", random.pick([{ abort: "before" }, { abort: "after", ms: random.int(40) }])) }
          : {},
      ),
    );
    if (random.chance(0.4))
      calls.splice(random.int(calls.length), 0, { free: random.pick(["engine", "problem", "network"]) });
    if (random.chance(0.3)) calls.push({ ...draw(random, random.pick(methods)), expect: undefined });
    return [{ parallel: calls }];
  },
  repeats: (random, set) => {
    const [hostile] = random
      .pick([ways.vector, ways.data, ways.handle, ways.json, ways.nothing, ways.made])(random, set)
      .slice(-1);
    return [{ ...hostile, repeat: hasLargeArray(hostile.args) ? 30 : 3000 }];
  },
  leak: (random) => {
    const [call, args] = random.pick([
      ["problem.first", [999]],
      ["problem.first", [500]],
      ["Network.dense", [[100, 50, 10]]],
      ["Network.preset", ["vgg16_cifar10"]],
      ["network.space", [ref("parameters"), { type: "weights" }]],
    ]);
    return [{ call, args, repeat: 6000, forget: true }];
  },
};

/** Would the case itself take long to make these arguments some thousand times? */
function hasLargeArray(args) {
  const length = (value) =>
    value === null || typeof value !== "object"
      ? 0
      : Math.max(Number(value.length) || 0, ...Object.values(value).map(length));
  return length(args) > 10_000;
}

/** A call that takes a while and reports. */
export function long(random, options = {}) {
  const [name, rest] = random.pick([
    ["trace", { method: "hutchinson", probes: 60 }],
    ["eigenvalues", { top: 2 }],
    ["measure", { measures: ["hessian.trace", "hessian.max_eigenvalue"] }],
    ["train", { epochs: 8, batchSize: 2 }],
    [
      "landscape",
      {
        directions: [
          { type: "random", seed: 1 },
          { type: "random", seed: 2 },
        ],
        points: 6,
      },
    ],
    ["averageSharpness", { pairs: 30 }],
    ["density", { probes: 4, steps: 10 }],
    ["report", { sections: ["point", "hessian"] }],
  ]);
  return step(`engine.${name}`, [ref("problem"), ref("parameters"), { ...rest, ...options }], true);
}

export default {
  name: "hostile",
  time: 40_000,
  targets: ["wasm", "chrome"],
  generate(random) {
    const way = random.chance(0.02)
      ? random.pick(["repeats", "leak"])
      : random.pick(Object.keys(ways).filter((name) => name !== "repeats" && name !== "leak"));
    const isLeak = way === "leak";
    const set = isLeak
      ? {
          network: { input: [200], layers: [{ type: "dense", units: 2 }] },
          loss: "cross_entropy",
          samples: 1000,
          seed: 1,
        }
      : problem(random, { convolutions: false });
    return {
      way,
      setup: { problem: set, precision: random.pick(["f64", "f32"]), engine: "fresh" },
      steps: ways[way](random, set),
    };
  },
};
