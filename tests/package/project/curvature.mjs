/** Spectra, sharpness, Dinh's constructions, spaces and the report, through the installed package in Node. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import init, { Engine, IsoflatError, Network, Problem, powerMap } from "isoflat";

await init({ module_or_path: await readFile(fileURLToPath(import.meta.resolve("isoflat/isoflat_bg.wasm"))) });

const near = (a, b, tolerance = 1e-9) =>
  assert(Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b), 1e-300), `${a} is not ${b}`);
const refused = async (code, work) => {
  await assert.rejects(
    async () => await work(),
    (error) => error instanceof IsoflatError && error.code === code,
  );
};

const network = Network.dense([6, 9, 5, 3]);
const problem = Problem.synthetic(network, { samples: 40, seed: 3 });
const engine = await Engine.create({ backend: "cpu" });
const start = network.initialize({ seed: 4, bias: "uniform" });
const { parameters } = await engine.train(problem, start, { epochs: 30 });

// The spectrum, its density and its trace agree with each other.
const whole = await engine.eigenvalues(problem, parameters, { top: network.parameterCount });
assert(whole.converged && whole.top.every(({ residual }) => residual < 1e-8));
const sum = whole.top.reduce((total, { value }) => total + value, 0);
const trace = await engine.trace(problem, parameters);
assert.equal(trace.method, "sweep");
near(trace.value, sum, 1e-8);
const guessed = await engine.trace(problem, parameters, { method: "hutch_plus_plus", probes: 60, seed: 1 });
assert(Math.abs(guessed.value - sum) <= 5 * guessed.standardError + 1e-9 * Math.abs(sum));
const diagonal = await engine.diagonal(problem, parameters);
assert(diagonal.method === "sweep" && diagonal.values.length === parameters.length && !diagonal.standardErrors);
near(
  diagonal.values.reduce((total, value) => total + value, 0),
  sum,
  1e-8,
);
const density = await engine.density(problem, parameters, { points: 200 });
const step = density.grid[1] - density.grid[0];
near(
  density.density.reduce((total, value) => total + value * step, 0),
  1,
  1e-3,
);
near(density.moments[0].value * density.dimension, sum, 1e-8);
const block = await engine.eigenvalues(problem, parameters, { operator: "hessian.layer_2", vectors: true });
const [{ value: largest, vector }] = block.top;
assert.equal(vector.length, 45);
// Several at once: more than go through together.
const copies = new Float64Array(20 * 45);
for (let i = 0; i < 20; i++) copies.set(vector, 45 * i);
const images = await engine.product(problem, parameters, copies, { operator: "hessian.layer_2" });
images.forEach((image, i) => {
  assert(Math.abs(image - largest * copies[i]) <= 1e-7 * largest, `${image}, ${largest * copies[i]}`);
});
await assert.rejects(engine.product(problem, parameters, parameters.subarray(1), { operator: "hessian.layer_2" }), {
  message: /must have 45 \(the parameter count of hessian\.layer_2\) each/,
});

// Of a smooth network the Hessian's diagonal is estimated, and exact where there are as many products as entries.
const smooth = Network.fromJSON({
  input: [4],
  layers: [{ type: "dense", units: 6 }, { type: "tanh" }, { type: "dense", units: 3 }],
});
const curved = [Problem.synthetic(smooth, { samples: 30, seed: 1 }), smooth.initialize({ seed: 2 })];
const probed = await engine.diagonal(...curved, { probes: 40, seed: 1 });
const entries = await engine.diagonal(...curved, { probes: smooth.parameterCount });
assert(probed.method === "probes" && probed.probes === 40 && entries.method === "products");
assert(probed.values.every((value, i) => Math.abs(value - entries.values[i]) <= 6 * probed.standardErrors[i] + 1e-12));
assert.equal((await engine.diagonal(...curved, { operator: "gauss_newton.layer_1" })).values.length, 24);
await refused("invalid_option", () => engine.diagonal(...curved, { operator: "hessian.layer_3" }));

// The least trace of the orbit: the map that is given leads there, no rescaling moves it, and none goes below it.
const least = await engine.leastTrace(problem, parameters);
assert(least.converged && least.value < least.before);
near(least.before, trace.value, 1e-10);
const flattest = await engine.trace(problem, network.transform(parameters, least.transformation));
near(flattest.value, least.after, 1e-9);
assert(least.after >= least.value * (1 - 1e-12) && least.after <= least.value * (1 + 1e-5));
const rescaled = network.transform(parameters, { type: "random_nodewise", seed: 6, low: 0.1, high: 10 });
near((await engine.leastTrace(problem, rescaled)).value, least.value, 1e-10);
assert((await engine.trace(problem, rescaled)).value > least.value);
const layers = await engine.leastTrace(problem, parameters, { group: "layerwise" });
assert(layers.attained && layers.value >= least.value && layers.transformation.type === "layerwise");
const ofWeights = await engine.leastTrace(problem, parameters, { group: "layerwise", biases: false });
const layerTrace = async (layer) =>
  (await engine.trace(problem, parameters, { operator: `hessian.layer_${layer}` })).value;
const traces = [await layerTrace(1), await layerTrace(2), await layerTrace(3)];
near(ofWeights.value, 3 * traces.reduce((product, value) => product * value) ** (1 / 3), 1e-10);
await refused("not_homogeneous", () => engine.leastTrace(...curved));
await refused("invalid_option", () => engine.leastTrace(problem, parameters, { group: "units" }));
await refused("invalid_option", () => engine.leastTrace(problem, parameters, { biases: 1 }));

// Petzka's measures: κ is the layer's eigenvalue times ‖W‖².
const { kappa, kappaTrace, rho, relativeFlatness } = await engine.petzka(problem, parameters);
const weights = network.blocks().filter(({ kind }) => kind === "weight");
const norm = parameters.subarray(weights[1].start, weights[1].end).reduce((total, w) => total + w * w, 0);
near(kappa[1].value, norm * block.top[0].value, 1e-7);
assert(kappaTrace.length === 3 && relativeFlatness.length === 3 && rho[1].length === 9);
const drawn = await engine.petzka(problem, parameters, { draws: 200, seed: 1 });
assert(drawn.errors.kappaTrace.every((error, l) => Math.abs(drawn.kappaTrace[l] - kappaTrace[l]) <= 5 * error));

// Sharpness.
const ball = await engine.sharpness(problem, parameters, { epsilon: 0.05 });
assert(ball.resolved && ball.delta.length === parameters.length && ball.value > 0);
const node = { region: { type: "riemannian_nodewise" }, epsilon: 0.05 };
const map = { type: "random_nodewise", seed: 2, low: 0.2, high: 5 };
const before = await engine.sharpness(problem, parameters, node);
const after = await engine.sharpness(problem, network.transform(parameters, map), node);
near(after.value, before.value, 1e-3);
const average = await engine.averageSharpness(problem, parameters, { noise: "scaled", pairs: 20 });
assert(average.standardError > 0);
const noise = await engine.noiseInjection(problem, parameters, { layer: 2, delta: 0.01, draws: 3 });
assert(noise.draws.length === 3 && noise.bound > 0);

// With A given: φ + δ φ is a layer whose weights are 1 + δ times as long.
const units = Array.from({ length: 81 }, (_, i) => (i % 10 === 0 ? 1 : 0));
for (const matrix of [units, Float64Array.from(units), Float32Array.from(units)]) {
  const longer = await engine.featureRobustness(problem, parameters, { layer: 2, delta: 0.25, matrix });
  const moved = parameters.map((w, i) => (i >= weights[1].start && i < weights[1].end ? 1.25 * w : w));
  const [there, here] = [moved, parameters].map((theta) => engine.evaluate(problem, theta));
  near(longer.value, (await there).loss - (await here).loss, 1e-9);
  assert.equal(longer.layer, 2);
  near(longer.matrixNorm, 1, 1e-12);
}
const turned = { layer: 2, delta: 0.01, seed: 0 };
assert.deepEqual(await engine.featureRobustness(problem, parameters, turned), noise.draws[0]);
await refused("invalid_option", () => engine.featureRobustness(problem, parameters, { ...turned, matrix: [1] }));
await refused("invalid_option", () => engine.featureRobustness(problem, parameters, { ...turned, matrix: 1 }));

// Petzka, D.2: neighbours at a distance ε that are moved apart. The rise is the same for every ε, and the bound grows beyond all use.
const line = Network.dense([2, 1], { bias: false });
for (const epsilon of [0.1, 0.01, 0.001]) {
  const inputs = new Float64Array([1, 0, 1, epsilon]);
  const neighbours = new Problem(line, { loss: "squared_error", inputs, targets: [0.5, 0.5 - 0.25 * epsilon] });
  const apart = { layer: 1, delta: 0.125, matrix: [1, -1 / epsilon, 0, 1 / epsilon] };
  const found = await engine.featureRobustness(neighbours, new Float64Array([0.5, -0.25]), apart);
  near(found.value, 0.125 ** 2 * 0.5 * (0.5 ** 2 + 0.25 ** 2), 1e-9);
  assert(found.matrixNorm >= Math.SQRT2 / epsilon && found.bound >= (2 * found.value) / epsilon ** 2);
}

// Algorithm 1 and its way there (Rangamani, Figure 1).
const power = await engine.eigenvalues(problem, parameters, { method: "power", operator: "riemannian.layerwise_flat" });
assert(power.norms instanceof Float64Array && power.norms.length === power.products - 1);
assert(power.norms.every((norm, i, all) => i === 0 || norm >= all[i - 1] * (1 - 1e-12)));
near(power.norms.at(-1), Math.abs(power.top[0].value), 1e-4);
assert.equal(whole.norms, undefined);

// Away from a minimum the paper's connection sees vertical vectors, and horizontal ones alone have other ends (Definition 3).
const flat = { operator: "riemannian.layerwise_flat", top: 1, bottom: 1 };
const everywhere = await engine.eigenvalues(problem, start, flat);
const horizontal = await engine.eigenvalues(problem, start, { ...flat, horizontal: true });
const inside = [
  everywhere.top[0].value - horizontal.top[0].value,
  horizontal.bottom[0].value - everywhere.bottom[0].value,
];
assert(inside.every((by) => by >= -1e-9 * everywhere.top[0].value));
assert(inside[0] + inside[1] > 1e-4 * everywhere.top[0].value, `${inside}`);
const own = { ...flat, operator: "riemannian.layerwise_levi_civita" };
const [ownEnds, ownHorizontal] = [false, true].map((horizontal) =>
  engine.eigenvalues(problem, start, { ...own, horizontal }),
);
near((await ownHorizontal).top[0].value, (await ownEnds).top[0].value, 1e-8);
for (const options of [{ operator: "hessian" }, { operator: "riemannian.layerwise_flat.weights" }])
  await refused("invalid_option", () => engine.eigenvalues(problem, start, { ...options, horizontal: true }));

// Layers with parameters have one number everywhere: that of operators' names.
assert.deepEqual(
  weights.map(({ layer }) => layer),
  [1, 2, 3],
);
assert.deepEqual(network.freeTensors(), [
  { writers: [1], readers: [2] },
  { writers: [2], readers: [3] },
]);
assert.deepEqual([noise.layer, ...noise.draws.map(({ layer }) => layer)], [2, 2, 2, 2]);
near(noise.bound, 0.5 * 0.01 ** 2 * kappa[1].value, 1e-6);
for (const { layer, start, end } of weights) {
  const { values } = await engine.diagonal(problem, parameters, { operator: `hessian.layer_${layer}` });
  assert.equal(values.length, end - start);
}
const asked = await engine.sharpen(problem, parameters, { target: 1e6, layer: 3 });
assert(asked.layer === 3 && asked.compensatingLayer < 3 && asked.transformation.lambda[2] === asked.alpha);
near(asked.transformation.lambda[asked.compensatingLayer - 1] * asked.alpha, 1, 1e-12);
for (const layer of [0, 4]) {
  await refused("invalid_option", () => engine.sharpen(problem, parameters, { target: 1, layer }));
  await refused("invalid_option", () => engine.noiseInjection(problem, parameters, { layer, delta: 0.1 }));
}
await refused("invalid_option", () => engine.sharpness(problem, parameters, { region: { type: "sphere" } }));

// Dinh's constructions: another Hessian, the same outputs to the last bit.
const { before: first } = await engine.sharpen(problem, parameters, { target: 1e3 });
const sharpened = await engine.sharpen(problem, parameters, { target: 100 * first.norm, powersOfTwo: true });
assert(sharpened.reached && sharpened.outputs.bitwise && sharpened.measured.norm >= 100 * first.norm);
near(sharpened.measured.norm, sharpened.predicted.norm, 1e-6);
const boxes = await engine.volumeFlatness(problem, parameters, { boxes: 4, samples: 8 });
assert(boxes.disjoint && boxes.boxes.length === 4 && boxes.boxes[3].totalLogVolume > boxes.boxes[0].totalLogVolume);
const many = await engine.manyLargeEigenvalues(problem, parameters, { target: 50 });
assert(many.holds && many.measured >= many.promised);
assert.equal(
  many.smallestSize,
  weights.find(({ layer }) => layer === many.smallestLayer).inputs *
    weights.find(({ layer }) => layer === many.smallestLayer).outputs,
);
const constant = await engine.constantInBall(problem, parameters, { epsilon: 0.1 });
assert(constant.holds);
const keskar = await engine.constantInBall(problem, parameters, { epsilon: 0.1, region: { type: "box" } });
assert(keskar.holds && keskar.region.type === "box");
await refused("invalid_option", () =>
  engine.constantInBall(problem, parameters, { region: { type: "riemannian_layerwise" } }),
);
const rows = await engine.volumeFlatness(problem, parameters, {
  boxes: 3,
  samples: 4,
  coordinates: "weight_normalization",
});
assert(rows.disjoint && rows.inside && !rows.inverted && rows.logDeterminant > 0);
const [sharper, flatter] = await engine.normalizedSharpness(problem, parameters, { alphas: [0.1, 10], epsilon: 0.01 });
assert(sharper.directions.value > flatter.directions.value && flatter.whole.value >= flatter.directions.value);
assert(sharper.outputs.relative < 1e-9);
await refused("invalid_option", () => engine.normalizedSharpness(problem, parameters, { alphas: [0] }));

// Other coordinates: within the inner radius curvature is a quarter, and in (v, s) v's block has α⁻² times as much.
const radial = { type: "radial", delta: 1, inner: 0.25, rho: 0.5 };
const { full, coordinates: eta } = await engine.reparametrizedHessian(problem, parameters, { map: radial });
const { top: plainTop } = await engine.eigenvalues(problem, parameters);
near(full.at(-1), plainTop[0].value / 4, 1e-6);
assert.deepEqual([...eta], [...parameters]);
const normalized = await engine.reparametrizedHessian(problem, parameters, { map: { type: "weight_normalization" } });
assert(normalized.dimension > network.parameterCount && normalized.coordinates.length === normalized.dimension);
await refused("invalid_option", () =>
  engine.reparametrizedHessian(problem, parameters, { map: { ...radial, inner: 2 } }),
);
await refused("invalid_option", () => engine.reparametrizedHessian(problem, parameters, { map: { type: "polar" } }));

// Inputs of another representation: the same outputs, other gradients.
for (const map of ["standardize", "whiten", "gaussianize"]) {
  const found = await engine.inputRepresentation(problem, parameters, { map });
  assert(found.outputs.relative < 1e-6 && found.chainRuleError < 1e-6, `${map}: ${found.chainRuleError}`);
  assert.equal(found.network === undefined, map === "gaussianize");
  assert.equal(found.predictionGradients.after.length, problem.samples);
}
await refused("invalid_option", () => engine.inputRepresentation(problem, parameters, { map: "sphere" }));
const [{ eta: moved5, curvature }] = powerMap({ center: 1, a: 0.5, b: 0.01, points: [[1, 0, 0, 4]] });
assert(moved5 === 0 && Math.abs(curvature - 400) < 1e-9);
await refused("invalid_option", async () => powerMap({ a: -0.6, b: 0, points: [] }));

// Spaces: there and back, training in them, and on from a checkpoint to the same bits.
const space = network.space(parameters, { type: "g_space", biases: "paths" });
assert.equal(space.dimension, network.parameterCount - 14);
const coordinates = space.toCoordinates(parameters);
for (const [i, w] of space.toParameters(coordinates).entries()) near(w, parameters[i], 1e-12);
const moved = network.transform(parameters, map);
for (const [i, v] of network.space(moved, { type: "g_space", biases: "paths" }).toCoordinates(moved).entries())
  near(v, coordinates[i], 1e-10);
// Is it the same network, and by which map? The group has to be large enough; both vectors stay as they are.
const alike = network.equivalence(parameters, moved);
assert(alike.equivalent && alike.error < 1e-12);
for (const [i, w] of network.transform(parameters, alike.transformation).entries()) near(w, moved[i], 1e-12);
const layerwise = network.equivalence(parameters, moved, { group: "layerwise" });
assert(layerwise.equivalent === false && layerwise.error > 1e-3 && /differs by/.test(layerwise.reason));
const shuffled = network.transform(moved, { type: "random_permutation", seed: 9 });
assert.equal(network.equivalence(parameters, shuffled).equivalent, false);
assert(network.equivalence(parameters, shuffled, { group: "permutation" }).equivalent);
assert.equal(network.equivalence(parameters, Float32Array.from(moved), { tolerance: 1e-12 }).equivalent, false);
assert(network.equivalence(parameters, Float32Array.from(moved)).equivalent);
await refused("invalid_option", () => network.equivalence(parameters, moved, { group: "unitwise" }));
await refused("invalid_option", () => network.equivalence(parameters, moved, { tolerance: 0.5 }));
await refused("invalid_parameters", () => network.equivalence(parameters, moved.subarray(1)));
// Ones on the whole skeleton make path values the free weights themselves; the tree's weights go on from there.
const ones = { type: "g_space", values: { set: 1 }, tree: { set: 1 } };
const begun = network.space(parameters, ones);
assert(!begun.keepsFunction);
assert(network.space(begun.parameters, ones).keepsFunction);
const kept = network.space(parameters, { type: "g_space", tree: "keep" });
assert(kept.keepsFunction);
assert.deepEqual(kept.parameters, Float64Array.from(parameters));
for (const [i, w] of begun.toParameters(begun.toCoordinates(begun.parameters)).entries())
  near(w, begun.parameters[i], 1e-12);
const stepped = await engine.train(problem, parameters, {
  space: ones,
  optimizer: { type: "sgd", learningRate: 1e-3 },
  epochs: 1,
});
const onSkeleton = (values) => values.filter((w) => w === 1).length;
assert(onSkeleton(stepped.parameters) >= 14 && onSkeleton(stepped.parameters) < onSkeleton(begun.parameters));
const options = {
  space: { type: "weight_fixing", values: { set: 1 } },
  optimizer: { type: "adam_w", learningRate: 0.01 },
  weightDecay: 0.1,
  schedule: { warmUpSteps: 3, decay: { type: "cosine", epochs: 8 } },
  batchSize: 16,
};
const fixed = network.space(start, options.space);
assert(!fixed.keepsFunction);
const whole8 = await engine.train(problem, fixed.parameters, { ...options, epochs: 8 });
const half = await engine.train(problem, fixed.parameters, { ...options, epochs: 4 });
const rest = await engine.train(problem, fixed.parameters, { ...options, epochs: 8, checkpoint: half.checkpoint });
assert.deepEqual(rest.parameters, whole8.parameters);
assert.equal(whole8.parameters.filter((w) => w === 1).length, 14);
await refused("invalid_option", () =>
  engine.train(problem, fixed.parameters, { ...options, seed: 5, epochs: 8, checkpoint: half.checkpoint }),
);

// The way of a training: it is the same run, and is drawn along its own principal components.
const watched = await engine.train(problem, fixed.parameters, { ...options, epochs: 8, snapshots: { count: 9 } });
assert.deepEqual(watched.parameters, whole8.parameters);
assert(watched.snapshots.length >= 5 && watched.snapshots.length <= 9 && whole8.snapshots === undefined);
assert.deepEqual(watched.snapshots.at(-1).parameters, whole8.parameters);
const trajectory = watched.snapshots.map(({ parameters }) => parameters);
const principal = await network.principalComponents(trajectory);
const around = { directions: [0, 1].map((component) => ({ type: "principal", component })), points: 5, trajectory };
const { s, t, path } = await engine.landscape(problem, whole8.parameters, around);
assert(path.s.at(-1) === 0 && path.t.at(-1) === 0);
for (const [axis, along] of [
  [s, path.s],
  [t, path.t],
])
  assert(along.every((x) => axis[0] < x && x < axis.at(-1)));
near(path.share, principal.explained[0] + principal.explained[1], 1e-12);
const given = await engine.landscape(problem, whole8.parameters, {
  ...around,
  directions: principal.directions.map((values) => ({ type: "vector", values })),
});
assert.deepEqual(given.loss, (await engine.landscape(problem, whole8.parameters, around)).loss);
await refused("invalid_option", () => engine.landscape(problem, start, { directions: around.directions }));

// What has been told of a landscape that was stopped need not be computed again.
const toldLoss = [];
const toldAccuracy = [];
const onProgress = ({ losses = [], accuracies = [] }) => {
  toldLoss.push(...losses);
  toldAccuracy.push(...accuracies);
};
const wholeGrid = await engine.landscape(problem, whole8.parameters, { ...around, onProgress });
const later = await engine.landscape(problem, whole8.parameters, { ...around, firstRow: 2 });
assert.deepEqual(toldLoss, [...wholeGrid.loss]);
assert.deepEqual(toldAccuracy, [...wholeGrid.accuracy]);
assert.deepEqual(later.t, wholeGrid.t.slice(2));
assert.deepEqual(later.loss, wholeGrid.loss.slice(10));
assert.deepEqual(later.path, wholeGrid.path);
await refused("invalid_option", () => engine.landscape(problem, whole8.parameters, { ...around, firstRow: 5 }));
await refused("too_large", () => engine.train(problem, start, { epochs: 1e6, snapshots: { every: 1 } }));
await refused("invalid_option", () => network.principalComponents([start, start]));
await refused("invalid_parameters", () => network.principalComponents([start, [1, 2]]));
const sgd = (learningRate) => ({ parameters: start, options: { optimizer: { type: "sgd", learningRate }, epochs: 3 } });
const side = await engine.trainSideBySide(problem, [sgd(0.1), sgd(1e300)]);
assert(side[0].history.length === 3 && side[1].error instanceof IsoflatError && side[1].error.code === "not_finite");
const inSpace = await engine.eigenvalues(problem, parameters, { space: { type: "g_space" }, vectors: true });
assert.equal(inSpace.top[0].vector.length, network.parameterCount - 14);
const balanced = await network.balance(moved);
assert(balanced.converged && balanced.attained && balanced.squaredNorm <= balanced.squaredNormBefore);
await refused("invalid_option", () => network.balance(moved, { per: "planet" }));

// The report finishes early with what there is.
const controller = new AbortController();
const report = await engine.report(problem, parameters, {
  finish: controller.signal,
  onProgress: ({ phase }) => phase.startsWith("hessian") && controller.abort(),
});
assert(report.stopped && report.values.petzka && !report.values.riemannian);
assert(report.sections.some(({ section, finished }) => section === "riemannian" && !finished));
const all = await engine.report(problem, parameters, { sections: ["point", "spaces"] });
assert(!all.stopped && all.values.loss > 0 && all.values.spaces.gSpace.dimensionWithoutBiases > 0);
// One case, at any depth: JavaScript's.
const keysIn = (value) =>
  Object.prototype.toString.call(value) === "[object Object]"
    ? Object.entries(value).flatMap(([key, entry]) => [key, ...keysIn(entry)])
    : Array.isArray(value)
      ? value.flatMap(keysIn)
      : [];
const keys = keysIn(await engine.report(problem, parameters));
assert(keys.includes("spectralNorm") && keys.includes("densityError"));
assert.deepEqual(
  keys.filter((key) => /[^a-zA-Z0-9]/.test(key)),
  [],
);

for (const handle of [space, fixed, engine, problem, network]) handle.free();
console.log("curvature and spaces work in Node");
