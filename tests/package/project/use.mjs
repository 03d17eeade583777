/** What a Node program does with the package: no browser, no GPU, no bundler. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import init, { describeMeasures, Engine, IsoflatError, Network, Problem, parseIdx } from "isoflat";

// The module's bytes can be given, and of its exports the memory is shown.
const wasm = await readFile(fileURLToPath(import.meta.resolve("isoflat/isoflat_bg.wasm")));
assert.deepEqual(Object.keys(await init({ module_or_path: wasm })), ["memory"]);

/** Asserts that `work` throws or rejects with an IsoflatError of this code. */
async function refused(code, work) {
  await assert.rejects(
    async () => work(),
    (error) => {
      assert(error instanceof IsoflatError && error instanceof Error, `not an IsoflatError: ${error}`);
      assert.equal(error.name, "IsoflatError");
      assert.equal(error.code, code, error.message);
      assert(error.message.length > 10, "the message says nothing");
      return true;
    },
  );
}

const network = Network.dense([4, 8, 3]);
assert.equal(network.parameterCount, 4 * 8 + 8 + 8 * 3 + 3);
assert.equal(network.summary, "4-8-3");
const problem = Problem.synthetic(network, { samples: 20, seed: 1 });
const parameters = network.initialize({ seed: 2 });
assert.deepEqual(network.initialize({ seed: 2 }), parameters);

const engine = await Engine.create({ backend: "cpu" });
assert.equal(engine.info.backend, "cpu");
assert.equal(engine.info.precision, "f64");

assert(engine.info.threads === 1 && engine.info.threadsReason === undefined);

// Threads take a browser's isolated page; elsewhere the engine has one, and says why.
const threaded = await Engine.create({ backend: "cpu", threads: 2 });
assert(threaded.info.threads === 1 && /browsers alone/.test(threaded.info.threadsReason));
await threaded.evaluate(problem, parameters);
threaded.free();
await refused("invalid_option", () => Engine.create({ backend: "cpu", threads: 0 }));

const { loss } = await engine.evaluate(problem, parameters);
assert(Number.isFinite(loss) && loss > 0);

// The gradient, against central differences in one direction away from kinks.
const gradient = await engine.gradient(problem, parameters);
assert(gradient instanceof Float64Array);
assert.equal(gradient.length, network.parameterCount);
const step = 1e-6;
const along = (sign) => parameters.map((value, i) => value + sign * step * gradient[i]);
const [ahead, behind] = [await engine.evaluate(problem, along(1)), await engine.evaluate(problem, along(-1))];
const squaredNorm = gradient.reduce((sum, g) => sum + g * g, 0);
const slope = (ahead.loss - behind.loss) / (2 * step);
assert(Math.abs(slope - squaredNorm) < 1e-6 * squaredNorm, `slope ${slope} is not ‖g‖² = ${squaredNorm}`);

// A rescaling leaves the loss as it is and is undone by its inverse.
const rescaling = { type: "layerwise", lambda: [4, 0.25] };
const bent = network.transform(parameters, rescaling);
const rescaled = await engine.evaluate(problem, bent);
assert(Math.abs(rescaled.loss - loss) < 1e-12);
const back = network.transform(bent, network.invert(rescaling));
assert(back.every((value, i) => Math.abs(value - parameters[i]) < 1e-15));

// Results do not depend on handles that are gone, and a call consumes none.
const { top, converged } = await engine.eigenvalues(problem, parameters, { operator: "gauss_newton" });
assert(converged && top[0].value > 0 && top[0].residual >= 0);
const phases = [];
await engine.measure(problem, parameters, {
  measures: ["hessian.max_eigenvalue"],
  onProgress: ({ phase }) => phases.push(phase),
});
assert(phases.length > 0, "no progress was reported");
const measures = describeMeasures();
const saidOfMeasures = ["key", "title", "paper", "description", "family", "cost", "definedFor", "invariant"];
for (const measure of measures) assert.deepEqual(Object.keys(measure), saidOfMeasures);
assert(measures.length > 5 && new Set(measures.map(({ title }) => title)).size === measures.length);
assert.deepEqual([...parseIdx(new Uint8Array([0, 0, 8, 1, 0, 0, 0, 2, 7, 9])).values], [7, 9]);

// Networks over images: presets, shapes, symmetries, and batch normalisations, which are folded or refused.
const c1 = Network.preset("c1");
assert.deepEqual([c1.inputShape, c1.inputLength, c1.parameterCount, c1.depth], [[1, 28, 28], 784, 54814, 5]);
assert.equal(c1.summary, "1×28×28-conv5×5×10-pool2×2-conv5×5×20-pool2×2-120-84-10");
assert.deepEqual(Network.fromJSON(c1.toJSON()).toJSON(), c1.toJSON());
const table3 = { type: "layerwise", lambda: [5, 4, 3, 2, 1 / 120] };
assert.equal(c1.transform(c1.initialize({ seed: 1 }), table3).length, c1.parameterCount);
const norm = { type: "batch_norm", mean: [4], variance: [4], scale: [3], shift: [7], epsilon: 0 };
const normalised = { input: [1], layers: [{ type: "dense", units: 1, bias: false }, norm] };
const folded = Network.foldBatchNorm(normalised, new Float32Array([2]));
assert.deepEqual([...folded.parameters], [3, 1]); // 3 · (2 x − 4) / 2 + 7
assert.deepEqual(folded.network.toJSON(), Network.dense([1, 1]).toJSON());
await refused("invalid_network", () => Network.fromJSON(normalised));
await refused("invalid_parameters", () => Network.foldBatchNorm(normalised, new Float64Array(2)));
await refused("parse", () => Network.fromJSON({ input: [1, 4, 4], layers: [{ type: "max_pool2d", kernel: 2 }] }));

await refused("parse", () => Network.fromJSON("{"));
await refused("invalid_network", () => Network.dense([4]));
await refused("too_large", () => Network.dense([100000, 100000, 10]));
await refused("too_large", () => Network.dense([30000, 30000, 10]).initialize()); // 7 GB: more than wasm can have
await refused("invalid_parameters", () => engine.gradient(problem, new Float64Array(3)));
await refused("not_finite", () =>
  engine.gradient(
    problem,
    parameters.map(() => Number.NaN),
  ),
);
await refused("invalid_transformation", () => network.transform(parameters, { type: "layerwise", lambda: [2, 2] }));
for (const backend of ["webgpu", "gpu"]) {
  await refused("backend_unavailable", () => Engine.create({ backend })); // Node has no navigator.gpu
  await refused("invalid_option", () => Engine.create({ backend, precision: "f64" }));
}

await refused("invalid_option", () => engine.train(problem, parameters, { epochz: 3 }));
await refused("invalid_option", () => engine.measure(problem, parameters, { epsilon: Number.NaN }));
await refused("invalid_handle", () => engine.train(problem, parameters, { validation: network }));
await refused("invalid_option", () => engine.landscape(problem, parameters, { directions: "random" }));

// Training learns, finishes early with what it reached, and takes another problem to validate on.
const validation = Problem.synthetic(network, { samples: 5, seed: 9 });
const trained = await engine.train(problem, parameters, { epochs: 200, validation });
assert(trained.history.length === 200 && trained.history[199].loss < trained.history[0].loss);
assert(typeof trained.history[0].validationAccuracy === "number");
const finishing = new AbortController();
const stopped = await engine.train(problem, parameters, {
  epochs: 1e9,
  finish: finishing.signal,
  onProgress: ({ done }) => done > 50 && finishing.abort(),
});
assert(stopped.stopped && stopped.steps > 50 && stopped.parameters.length === parameters.length);

const transformations = [rescaling, { type: "random_nodewise", seed: 1, low: 0.2, high: 5 }];
const table = await engine.invariance(problem, parameters, { transformations });
assert(table.cells.length === 2 * (measures.length + 1) && table.cells.every(({ agrees }) => agrees));
const {
  loss: grid,
  s,
  t,
} = await engine.landscape(problem, parameters, {
  directions: [
    { type: "eigenvector", index: 0 },
    { type: "vector", values: parameters },
  ],
  points: 3,
});
assert(grid.length === 9 && s.length === 3 && t.length === 3 && Math.abs(grid[4] - loss) < 1e-12);

const opened = Problem.open(problem.save(parameters, "mine"));
assert(opened.name === "mine" && opened.problem.samples === 20);
assert.deepEqual(opened.parameters, parameters);

// A call that was made before its handles were freed still ends well; one made after is told so.
const running = engine.evaluate(validation, parameters);
validation.free();
await running;
await refused("invalid_handle", () => engine.evaluate(validation, parameters));
network.free();
await refused("invalid_handle", () => new Problem(network, { loss: "cross_entropy", inputs: [], targets: [] }));
await refused("invalid_handle", () => network.summary);
engine.free();
problem.free();
console.log("the package works in Node");
