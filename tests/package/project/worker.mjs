/** An engine in a worker of its own is the same object, and this thread goes on while it computes. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { performance } from "node:perf_hooks";
import { promisify } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import init, { crash, Engine, IsoflatError, Network, Problem } from "isoflat";

await init();
const network = Network.dense([4, 5, 3]);
const problem = Problem.synthetic(network, { samples: 12, seed: 1 });
const theta = network.initialize({ seed: 2, bias: "uniform" });
const here = await Engine.create({ backend: "cpu" });
const there = await Engine.create({ backend: "cpu", worker: true });
assert(there instanceof Engine);

// --- every member of the class gives there what it gives here
const random = { type: "random", seed: 1 };
const towards = { type: "towards", parameters: theta.map((w) => 2 * w) };
const runs = [{ learningRate: 0.1 }, { learningRate: 1e300 }].map((rate) => ({
  parameters: theta,
  options: { epochs: 3, optimizer: { type: "sgd", ...rate } },
}));
/** Arguments behind problem and parameters; where those are not the first two, all of them. */
const calls = {
  estimate: [],
  evaluate: [],
  outputs: [],
  gradient: [],
  product: [theta, { operator: "gauss_newton" }],
  train: [{ epochs: 4, validation: problem, snapshots: { count: 3 }, space: { type: "g_space" } }],
  trainSideBySide: { all: [problem, runs, { validation: problem }] },
  eigenvalues: [{ top: 2, vectors: true }],
  measure: [],
  invariance: [{ transformations: [{ type: "random_nodewise", seed: 1, low: 0.5, high: 2 }] }],
  landscape: [{ directions: [random, towards], points: 5 }],
  density: [],
  trace: [],
  diagonal: [],
  leastTrace: [{ group: "layerwise" }],
  petzka: [{ draws: 3 }],
  sharpness: [],
  averageSharpness: [],
  featureRobustness: [{ layer: 1, delta: 0.01, seed: 3 }],
  noiseInjection: [{ layer: 2, delta: 0.01 }],
  sharpen: [{ target: 1000 }],
  volumeFlatness: [],
  manyLargeEigenvalues: [{ target: 10 }],
  constantInBall: [],
  normalizedSharpness: [{ alphas: [0.5, 2] }],
  reparametrizedHessian: [{ map: { type: "weight_normalization", alpha: 2 } }],
  inputRepresentation: [{ map: "standardize" }],
  report: [],
  loseDevice: { all: [] },
};

/** Without what the clock says, and with errors as what they say. */
function timeless(value) {
  if (value instanceof IsoflatError) return `${value.code}: ${value.message}`;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map(timeless);
  const entries = Object.entries(value).filter(([key]) => !/seconds$/i.test(key));
  return Object.fromEntries(entries.map(([key, entry]) => [key, timeless(entry)]));
}

const members = Object.entries(Object.getOwnPropertyDescriptors(Engine.prototype));
for (const [name, { get, value }] of members) {
  if (name === "constructor") continue;
  if (get) {
    assert.deepEqual(there[name], here[name], name);
    assert.notEqual(there[name], there[name], `${name} is one object for all who ask`);
    continue;
  }
  assert(typeof value === "function" && name in calls, `worker.mjs has no call of the engine's member ${name}`);
  const outcomeOf = async (engine) => {
    const args = calls[name].all ?? [problem, theta, ...calls[name]];
    const reports = [];
    const watched = { onProgress: (progress) => reports.push(progress) };
    const last = args.at(-1);
    const isOptions = typeof last === "object" && !ArrayBuffer.isView(last) && !(last instanceof Problem);
    const given = isOptions ? [...args.slice(0, -1), { ...last, ...watched }] : [...args, watched];
    return { result: await engine[name](...given), reports };
  };
  const [expected, found] = [await outcomeOf(here), await outcomeOf(there)];
  assert.deepEqual(timeless(found), timeless(expected), name);
}
assert.equal(theta.length, network.parameterCount, "the caller's parameters were given away");
const mixed = await there.trainSideBySide(problem, runs);
assert(mixed[1].error instanceof IsoflatError && mixed[1].error.code === "not_finite", `${mixed[1].error}`);

// --- what is given may be a part of something larger, or in another precision; data cross in theirs
const large = new Float64Array(1000);
large.set(theta, 100);
const part = large.subarray(100, 100 + theta.length);
const known = await here.gradient(problem, theta);
assert.deepEqual(await there.gradient(problem, part), known);
assert.equal(large.buffer.byteLength, 8000);
const inputs = Float32Array.from({ length: 8 }, (_, i) => Math.sin(i));
const square = { loss: "squared_error", inputs, targets: Float64Array.from({ length: 6 }, (_, i) => Math.cos(i) / 3) };
for (const [data, start] of [
  [square, Float32Array.from(theta)],
  [{ ...square, inputs: Float64Array.from({ length: 8 }, (_, i) => Math.sin(i) / 3) }, theta],
  [{ loss: "cross_entropy", inputs, targets: [2, 0] }, theta],
]) {
  const other = new Problem(network, data);
  assert.deepEqual(await there.outputs(other, start), await here.outputs(other, start));
  assert.deepEqual(await there.gradient(other, start), await here.gradient(other, start));
}
assert.deepEqual(await there.gradient(problem.first(5), theta), await here.gradient(problem.first(5), theta));

// --- errors: the same ones, with who called
async function errorOf(work) {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was refused");
}
for (const work of [
  (engine) => engine.train(problem, theta, { epoch: 1 }),
  (engine) => engine.gradient(problem, [1, 2]),
  (engine) => engine.gradient({}, theta),
  (engine) => engine.train(problem, theta, { validation: {} }),
  (engine) =>
    engine.gradient(
      problem,
      theta.map(() => 1e200),
    ),
  (engine) => engine.noiseInjection(problem, theta, { layer: 9, delta: 1 }),
]) {
  const [expected, found] = [await errorOf(() => work(here)), await errorOf(() => work(there))];
  assert(found instanceof IsoflatError, `${found}`);
  assert.equal(`${found.code} ${found}`, `${expected.code} ${expected}`);
  assert.match(found.stack, /worker\.mjs/);
  assert.equal(structuredClone(found).code, found.code);
}
const failed = await errorOf(() => Engine.create({ backend: "webgpu", worker: true }));
assert.equal(failed.code, "backend_unavailable");
for (const worker of [1, "yes", {}]) {
  const error = await errorOf(() => Engine.create({ worker }));
  assert(error.code === "invalid_option" && /worker must be true or false/.test(error.message), `${error}`);
}

// --- progress, stops and ends
const endless = { epochs: 1e9 };
const reason = new Error("enough");
const begun = performance.now();
const stopping = new AbortController();
setTimeout(() => stopping.abort(reason), 50);
assert.equal(await errorOf(() => there.train(problem, theta, { ...endless, signal: stopping.signal })), reason);
assert.deepEqual(await there.gradient(problem, theta), known);
assert(performance.now() - begun < 1000, `the stop was heard after ${performance.now() - begun} ms`);
const aborted = await errorOf(() => there.gradient(problem, theta, { signal: AbortSignal.abort() }));
assert.equal(aborted.name, "AbortError");
assert.equal(await errorOf(() => Engine.create({ worker: true, signal: AbortSignal.abort(reason) })), reason);
const finishing = new AbortController();
setTimeout(() => finishing.abort(), 50);
const early = await there.train(problem, theta, { ...endless, finish: finishing.signal });
assert(early.stopped && early.steps > 0, "finish ended nothing");
assert((await there.train(problem, theta, { ...endless, finish: AbortSignal.abort() })).stopped);
const thrown = new TypeError("mine");
const throws = () => {
  throw thrown;
};
assert.equal(await errorOf(() => there.train(problem, theta, { ...endless, onProgress: throws })), thrown);
assert.deepEqual(await there.gradient(problem, theta), known);

// --- this thread goes on
const f1 = Network.preset("f1");
const images = Problem.synthetic(f1, { samples: 500, seed: 1 });
const point = f1.initialize({ seed: 1 });
await there.evaluate(images, point);
const before = performance.eventLoopUtilization();
let ticks = 0;
const timer = setInterval(() => ticks++, 5);
const start = performance.now();
await there.eigenvalues(images, point, { top: 3 });
const took = performance.now() - start;
clearInterval(timer);
const { utilization } = performance.eventLoopUtilization(before);
console.log(
  `eigenvalues in a worker: ${took.toFixed(0)} ms, ${ticks} ticks, this thread ${(100 * utilization).toFixed(0)} % busy`,
);
assert(took > 100, `${took} ms are too few to tell`);
assert(utilization < 0.2 && ticks > took / 50, `${utilization}, ${ticks} ticks in ${took} ms`);

// --- handles: freed in flight, freed and used, freed twice
const brief = Problem.synthetic(network, { samples: 12, seed: 1 });
const flight = there.gradient(brief, theta);
brief.free();
assert.deepEqual(await flight, known);
assert.equal((await errorOf(() => there.gradient(brief, theta))).code, "invalid_handle");
const passing = await Engine.create({ backend: "cpu", worker: true });
const last = [passing.gradient(problem, theta), passing.gradient(problem, theta)];
passing[Symbol.dispose ?? "free"]();
passing.free();
for (const gradient of await Promise.all(last)) assert.deepEqual(gradient, known);
assert.equal((await errorOf(() => passing.gradient(problem, theta))).code, "invalid_handle");

// --- a crash there is the end of that engine alone
const doomed = await Engine.create({ backend: "cpu", worker: true });
const settled = Promise.allSettled([doomed.train(problem, theta, endless), doomed.gradient(problem, theta)]);
await new Promise((resolve) => setTimeout(resolve, 30));
crash(doomed);
for (const { status, reason: error } of await settled) {
  assert(status === "rejected" && error instanceof IsoflatError && error.code === "crashed", `${error}`);
  assert.match(error.message, /crash\(\) was called.+worker: true.+makes another engine/s);
}
assert.equal((await errorOf(() => doomed.gradient(problem, theta))).code, "crashed");
assert.equal((await errorOf(() => doomed.info)).code, "crashed");
doomed.free();
assert.deepEqual(await there.gradient(problem, theta), known);
assert.equal((await errorOf(() => crash({}))).code, "invalid_handle");
// So is a worker that somebody ends.
const started = [];
let ended = 0;
const { postMessage, terminate } = Worker.prototype;
Worker.prototype.postMessage = function (message, buffers) {
  if (message[0] === "start") started.push(this);
  return postMessage.call(this, message, buffers);
};
Worker.prototype.terminate = function () {
  ended++;
  return terminate.call(this);
};
const killed = await Engine.create({ backend: "cpu", worker: true });
const lost = errorOf(() => killed.train(problem, theta, endless));
await terminate.call(started.pop());
const loss = await lost;
assert(loss.code === "crashed" && /worker is gone.+makes another engine/.test(loss.message), `${loss}`);

// --- data for which there is no room there are sent again when they are used again
let spoils = true;
Worker.prototype.postMessage = function (message, buffers) {
  if (message[0] === "problem" && spoils) message[2].data.inputs = message[2].data.inputs.slice(1);
  return postMessage.call(this, message, buffers);
};
const unlucky = Problem.synthetic(network, { samples: 12, seed: 1 });
const few = unlucky.first(5);
const [one, two, three] = [unlucky, unlucky, few].map((data) => errorOf(() => there.gradient(data, theta)));
for (const error of [await one, await two, await three]) assert.equal(error.code, "invalid_problem", `${error}`);
spoils = false;
assert.deepEqual(await there.gradient(few, theta), await here.gradient(few, theta));
assert.deepEqual(await there.gradient(unlucky, theta), known);

// --- the first samples of data that are there share them, and go on when the others are freed
const sent = [];
Worker.prototype.postMessage = function (message, buffers) {
  if (message[0] === "problem" || message[0] === "first") sent.push(message[0]);
  return postMessage.call(this, message, buffers);
};
const whole = Problem.synthetic(network, { samples: 12, seed: 1 });
const [half, third] = [whole.first(6), whole.first(6).first(4)];
await there.gradient(whole, theta);
assert.deepEqual(await there.gradient(half, theta), await here.gradient(half, theta));
whole.free();
assert.deepEqual(await there.gradient(third, theta), await here.gradient(third, theta));
assert.deepEqual(await there.gradient(half, theta), await here.gradient(half, theta));
assert.deepEqual(sent, ["problem", "first", "problem"], "the whole is freed, and so is half of the way to the third");

// --- what nobody frees is freed when it is collected: an engine's worker, a problem's data there
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
async function until(holds, otherwise) {
  for (let tries = 0; !holds(); tries++) {
    assert(tries < 100, otherwise);
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
await (async () => {
  const forgotten = await Engine.create({ backend: "cpu", worker: true });
  await forgotten.gradient(problem, theta);
})();
const endsBefore = ended;
await until(() => ended > endsBefore, "a forgotten engine's worker goes on");
let released = 0;
Worker.prototype.postMessage = function (message, buffers) {
  if (message[0] === "release") released++;
  return postMessage.call(this, message, buffers);
};
await (async () => {
  await there.gradient(Problem.synthetic(network, { samples: 12, seed: 1 }), theta);
})();
await until(() => released > 0, "a forgotten problem's data stay in the worker");
Object.assign(Worker.prototype, { postMessage, terminate });

// A crash here leaves the worker as it is; handles of before are lost, as ever.
const foreign = Network.dense([4, 5, 3]);
crash();
assert.equal((await errorOf(() => there.gradient(problem, theta))).code, "crashed");
await init();
assert.equal((await errorOf(() => foreign.depth)).code, "crashed");
const anew = Problem.synthetic(Network.dense([4, 5, 3]), { samples: 12, seed: 1 });
assert.deepEqual(await there.gradient(anew, theta), known);
there.free();

// --- programs end by themselves, whether they free an engine or not, and not before it has computed
const program = (rest) => `
import init, { Engine, Network, Problem } from "isoflat";
await init();
const network = Network.dense([4, 5, 3]);
const problem = Problem.synthetic(network, { samples: 12, seed: 1 });
const engine = await Engine.create({ backend: "cpu", worker: true });
${rest}`;
const gives = async (rest, ...flags) =>
  (
    await promisify(execFile)(process.execPath, [...flags, "--input-type=module", "-e", program(rest)], {
      timeout: 60_000,
    })
  ).stdout;
const computes = "engine.evaluate(problem, network.initialize()).then(({ loss }) => console.log(loss > 0));";
assert.equal(await gives(computes), "true\n");
assert.equal(await gives(`${computes}\nengine.free();`), "true\n");

// --- Deno says that a worker has ended before `terminate` returns: what was computed before is no loss
const atOnce = `
const { Worker } = process.getBuiltinModule("node:worker_threads");
const { terminate } = Worker.prototype;
Worker.prototype.terminate = function () {
  this.emit("exit", 1);
  return terminate.call(this);
};
`;
assert.equal(await gives(`${atOnce}${computes}\nengine.free();`), "true\n");

// --- where there is none
const refusal = "Engine.create({ worker: true }).catch(({ code, message }) => console.log(code, message));";
assert.match(await gives(`process.getBuiltinModule = undefined;\n${refusal}`), /^worker_unavailable .+no workers/);
assert.match(
  await gives(`process.getBuiltinModule = () => { throw new Error("edge"); };\n${refusal}`),
  /^worker_unavailable .+no workers/,
);
assert.match(
  await gives(
    `process.getBuiltinModule = undefined;
globalThis.Worker = class { constructor() { setTimeout(() => this.onerror({ message: "forbidden" })); } postMessage() {} terminate() {} };\n${refusal}`,
  ),
  /^worker_unavailable .+did not start \(forbidden\).+worker-src blob:/,
);
const alone = async (program, ...flags) =>
  (await promisify(execFile)(process.execPath, [...flags, "--input-type=module", "-e", program])).stdout;
const stripped = `import { readFileSync } from "node:fs";
import init, { Engine } from "isoflat";
const bytes = readFileSync(new URL(import.meta.resolve("isoflat/isoflat_bg.wasm")));
bytes[bytes.lastIndexOf("isoflat worker")] = 73;
await init({ module_or_path: bytes });
${refusal}`;
assert.match(await alone(stripped), /^worker_unavailable .+stripped/);
const [permission] = ["--permission", "--experimental-permission"].filter((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag),
);
const restricted = `import init, { Engine } from "isoflat";\nawait init();\n${refusal}`;
assert.match(await alone(restricted, permission, "--allow-fs-read=*"), /^worker_unavailable .+restricted/i);
console.log("an engine in a worker is the same object");
