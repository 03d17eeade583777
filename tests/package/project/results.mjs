/**
 * Writes what the package's methods give as TypeScript literals, each held against the type that its method declares: `tsc`
 * then refuses a key that the type lacks, and one that the result lacks and the type says is there, at any depth.
 */

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import init, {
  describeMeasures,
  describeOperators,
  Engine,
  IsoflatError,
  Network,
  ParameterSpace,
  Problem,
  parseIdx,
  powerMap,
} from "isoflat";

await init({ module: await readFile(fileURLToPath(import.meta.resolve("isoflat/isoflat_bg.wasm"))) });

const lines = [
  'import { type describeMeasures, type describeOperators, type parseIdx, type powerMap } from "isoflat";',
  'import { type Engine, type IsoflatError, type Network, type ParameterSpace, type Problem, type Progress } from "isoflat";',
  "declare const handles: { Engine: Engine; IsoflatError: IsoflatError; Network: Network; ParameterSpace: ParameterSpace; Problem: Problem };",
];

/** A value in TypeScript, on one line. Of numbers that are alike two are enough, of objects one of each kind. */
function literal(value) {
  const handle = [Engine, IsoflatError, Network, ParameterSpace, Problem].find((Class) => value instanceof Class);
  if (handle) return `handles.${handle.name}`;
  if (ArrayBuffer.isView(value)) return `new ${value.constructor.name}()`;
  if (Array.isArray(value)) {
    if (value.every((entry) => typeof entry === "number")) return `[${value.slice(0, value.length > 3 ? 2 : 3)}]`;
    const kinds = new Map(value.map((entry) => [literal(entry).replace(/-?[\d.]+(e[+-]?\d+)?/g, "0"), entry]));
    return `[${[...kinds.values()].map(literal).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    const missing = entries.find(([, entry]) => entry === undefined);
    assert(missing === undefined, `${missing?.[0]} is there and undefined: what is not there has no key`);
    return `{ ${entries.map(([key, entry]) => `${JSON.stringify(key)}: ${literal(entry)}`).join(", ")} }`;
  }
  return typeof value === "number" && !Number.isFinite(value) ? "Number.NaN" : JSON.stringify(value);
}

const isPlain = (value) => Object.getPrototypeOf(value ?? 0) === Object.prototype;

/** The value once for each kind of object in it, with a key there that nobody declares. */
function* spoilt(value) {
  if (Array.isArray(value)) {
    const [entry] = value;
    for (const other of spoilt(entry)) yield [other, ...value.slice(1)];
  } else if (isPlain(value)) {
    yield { ...value, undeclared: 1 };
    for (const [key, entry] of Object.entries(value))
      for (const other of spoilt(entry)) yield { ...value, [key]: other };
  }
}

let held = 0;

/** Holds a value against a type, and the type against values that it must refuse. */
function hold(value, type) {
  held++;
  lines.push(`(${literal(value)}) satisfies ${type};`);
  // A type that takes these too would take anything there: it has an index signature, or says `unknown`.
  for (const other of spoilt(value)) lines.push("// @ts-expect-error", `(${literal(other)}) satisfies ${type};`);
}

const network = Network.dense([4, 5, 3]);
const problem = Problem.synthetic(network, { samples: 12, seed: 1 });
const theta = network.initialize({ seed: 2, bias: "uniform" });
const smooth = Network.fromJSON({
  input: [1, 6, 6],
  layers: [
    { type: "conv2d", channels: 2, kernel: 3 },
    { type: "leaky_relu", slope: 0.1 },
    { type: "max_pool2d", size: 2 },
    { type: "flatten" },
    { type: "dense", units: 60 },
    { type: "tanh" },
    { type: "dense", units: 20 },
    { type: "identity" },
    { type: "dense", units: 3 },
  ],
});
const images = Problem.synthetic(smooth, { samples: 6, seed: 1 });
const start = smooth.initialize({ seed: 1 });
const engine = await Engine.create({ backend: "cpu", threads: 2 });

const progress = [];
const onProgress = (news) => progress.push(news);
/** A method's result on the small network, or on the other one. */
const give = async (method, options, [on, at] = [problem, theta]) =>
  hold(await engine[method](on, at, { ...options, onProgress }), `Awaited<ReturnType<Engine["${method}"]>>`);

// What is known without data.
hold(describeMeasures(), "ReturnType<typeof describeMeasures>");
hold(describeOperators(), "ReturnType<typeof describeOperators>");
hold(parseIdx(new Uint8Array([0, 0, 8, 1, 0, 0, 0, 2, 7, 9])), "ReturnType<typeof parseIdx>");
hold(network.blocks(), 'ReturnType<Network["blocks"]>');
hold(network.freeTensors(), 'ReturnType<Network["freeTensors"]>');
hold(network.equivalence(theta, theta), 'ReturnType<Network["equivalence"]>');
hold(network.equivalence(theta, network.initialize({ seed: 99 })), 'ReturnType<Network["equivalence"]>');
hold(network.toJSON(), 'ReturnType<Network["toJSON"]>');
hold(smooth.toJSON(), 'ReturnType<Network["toJSON"]>');
hold(await network.balance(theta, { onProgress }), 'Awaited<ReturnType<Network["balance"]>>');
const folded = Network.foldBatchNorm(
  {
    input: [2],
    layers: [
      { type: "dense", units: 1 },
      { type: "batch_norm", mean: [1], variance: [1] },
    ],
  },
  new Float64Array(3),
);
hold(folded, "ReturnType<typeof Network.foldBatchNorm>");
const maps = [
  { type: "layerwise", lambda: [2, 0.5] },
  { type: "alpha_scale", alpha: 2 },
  { type: "random_nodewise", seed: 1, low: 0.5, high: 2 },
  { type: "random_permutation", seed: 1 },
];
hold(network.invert({ type: "composition", of: maps }), 'ReturnType<Network["invert"]>');
const others = ["weights", "g_space", "weight_fixing", "weight_norm"].map((type) => ({ type }));
for (const spec of [...others, { type: "batch_norm", statistics: [] }]) {
  hold(network.space(theta, spec).name, 'ParameterSpace["name"]');
}
hold(network.space(theta, { type: "g_space", tree: { set: 1 } }).keepsFunction, 'ParameterSpace["keepsFunction"]');
const uneven = network.transform(theta, { type: "layerwise", lambda: [1e9, 1e-9] });
const { warning } = network.space(uneven, { type: "g_space", values: "keep" });
assert(warning, "no factor is dangerous any more: take one that is");
hold(warning, 'ParameterSpace["warning"]');
const opened = Problem.open(problem.save(theta, "mine"));
hold(opened, "ReturnType<typeof Problem.open>");

// What an engine computes.
hold(engine.info, 'Engine["info"]');
for (const method of ["estimate", "evaluate", "outputs", "gradient"]) await give(method);
await give("measure");
await give("measure", { probes: 10, maxProducts: 30 }, [images, start]);
await give("invariance", { transformations: maps });
await give("eigenvalues", { top: 2, bottom: 1, vectors: true });
await give("eigenvalues", { method: "power" });
await give("density");
for (const method of ["auto", "hutchinson", "hutch_plus_plus"]) await give("trace", { method });
await give("diagonal");
for (const probes of [5, smooth.parameterCount]) await give("diagonal", { probes }, [images, start]);
await give("leastTrace");
await give("leastTrace", { group: "layerwise", biases: false });
await give("petzka");
await give("petzka", { draws: 3 });
for (const region of [{ type: "ball" }, { type: "box" }, { type: "subspace", dimension: 3 }]) {
  await give("sharpness", { region });
}
for (const noise of ["plain", "scaled"]) await give("averageSharpness", { noise });
await give("featureRobustness", { layer: 2, delta: 0.01 });
await give("noiseInjection", { layer: 2, delta: 0.01 });
await give("sharpen", { target: 1000 });
await give("volumeFlatness");
await give("manyLargeEigenvalues", { target: 10 });
await give("constantInBall");
await give("constantInBall", { region: { type: "box" } });
await give("volumeFlatness", { coordinates: "weight_normalization" });
await give("normalizedSharpness", { alphas: [0.5, 2] });
await give("reparametrizedHessian", { map: { type: "radial", delta: 1, inner: 0.25, rho: 0.5 } });
for (const map of ["standardize", "gaussianize"]) await give("inputRepresentation", { map });
hold(powerMap({ a: 0.5, b: 0.01, points: [[0, 0, 0, 4]] }), "ReturnType<typeof powerMap>");
const [random, eigenvector] = [
  { type: "random", seed: 1 },
  { type: "eigenvector", index: 0 },
];
await give("landscape", { directions: [random], points: 3 });
await give("landscape", { directions: [random, eigenvector], points: 3 });
await give("landscape", { directions: [random, eigenvector], points: 3, firstRow: 1 });
const way = [theta, network.initialize({ seed: 3 }), network.initialize({ seed: 4 })];
const principal = [0, 1].map((component) => ({ type: "principal", component }));
await give("landscape", { directions: principal, points: 3, trajectory: way });
hold(await network.principalComponents(way, { onProgress }), 'Awaited<ReturnType<Network["principalComponents"]>>');
await give("report");
await give("report", { probes: 10, maxProducts: 30 }, [images, start]);

// Training.
const adam = { optimizer: { type: "adam", learningRate: 0.01 }, epochs: 2, batchSize: 4 };
await give("train", { ...adam, snapshots: { count: 3 } });
await give("train", { ...adam, validation: problem, space: { type: "g_space" } });
const runs = [adam, { ...adam, optimizer: { type: "sgd", learningRate: 1e300 } }];
const sides = await engine.trainSideBySide(
  problem,
  runs.map((options) => ({ parameters: theta, options })),
  { validation: problem, onProgress },
);
assert(
  sides.some(({ error }) => error instanceof IsoflatError),
  "no run diverges any more: take one that does",
);
hold(sides, 'Awaited<ReturnType<Engine["trainSideBySide"]>>');
hold(progress, "Progress[]");

await writeFile("results.ts", `${lines.join("\n")}\n`);
console.log(`${held} results as TypeScript, ${lines.filter((line) => line.startsWith("//")).length} that are none`);
