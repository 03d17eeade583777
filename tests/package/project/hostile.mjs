/** Arguments that are none, handles that are none, stops, and a module that has crashed. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import init, * as isoflat from "isoflat";

const { describeMeasures, Engine, initSync, IsoflatError, Network, Problem, parseIdx } = isoflat;

/** Asserts that `work` throws, or rejects where it is meant to, with an IsoflatError of this code. */
async function refused(code, work, says = /./, { rejects = false } = {}) {
  let outcome;
  try {
    outcome = work();
  } catch (error) {
    assert(!rejects, `thrown and not rejected: ${error}`);
    outcome = Promise.reject(error);
  }
  await assert.rejects(
    async () => outcome,
    (error) => {
      assert(error instanceof IsoflatError, `not an IsoflatError: ${error}`);
      if (code instanceof RegExp) assert.match(error.code, code);
      else assert.equal(error.code, code, error.message);
      assert.match(error.message, says);
      assert.doesNotMatch(error.message, /usize|u32|u64|i64|f64|JsValue|untagged|tagged enum|null pointer|variant/);
      return true;
    },
  );
}
const rejected = (code, work, says) => refused(code, work, says, { rejects: true });

// --- before init
for (const work of [() => Network.dense([2, 1]), () => describeMeasures(), () => parseIdx(new Uint8Array(4))]) {
  await refused("not_initialized", work);
}
await rejected("not_initialized", () => Engine.create());
await rejected("not_initialized", () => init({ module_or_path: new Uint8Array(8) }));
await refused("not_initialized", () => initSync("nonsense"));

const wasm = await readFile(fileURLToPath(import.meta.resolve("isoflat/isoflat_bg.wasm")));
const [first, again] = await Promise.all([init({ module_or_path: wasm }), init()]);
assert.equal(first, again);

const network = Network.dense([4, 8, 8, 3]);
const theta = network.initialize({ seed: 1 });
const problem = Problem.synthetic(network, { samples: 32, seed: 2 });
const engine = await Engine.create({ backend: "cpu" });
const known = await engine.gradient(problem, theta);
const stillRight = async () => assert.deepEqual(await engine.gradient(problem, theta), known);

// --- handles that are none
for (const Class of [Network, Engine, isoflat.ParameterSpace]) await refused("invalid_handle", () => new Class());
await refused("invalid_handle", () => new Problem());
for (const Class of [Network, Problem, Engine, isoflat.ParameterSpace]) {
  for (const [name, { get, value }] of Object.entries(Object.getOwnPropertyDescriptors(Class.prototype))) {
    if (name === "constructor") continue;
    const member = get ?? value;
    for (const receiver of [undefined, {}, Object.create(Class.prototype), new Proxy(network, {}), 5]) {
      await refused(/^invalid_/, () => Reflect.apply(member, receiver, [problem, theta]));
    }
  }
}
await rejected("invalid_handle", () => engine.gradient({}, theta));
await rejected("invalid_handle", () => engine.gradient(network, theta));
await rejected("invalid_handle", () => engine.train(problem, theta, { validation: {} }));
await refused("invalid_handle", () => new Problem({}, { loss: "cross_entropy", inputs: [], targets: [] }));

// --- options of another method
const foreign = {
  validation: problem,
  checkpoint: {},
  directions: [],
  trajectory: [],
  transformations: [],
  stopped: 1,
  finishing: 1,
};
for (const [key, value] of Object.entries(foreign)) {
  await rejected("invalid_option", () => engine.measure(problem, theta, { [key]: value }), new RegExp(key));
  await rejected("invalid_option", () => network.balance(theta, { [key]: value }), new RegExp(key));
}
await rejected("invalid_option", () => engine.trainSideBySide(problem, [], { checkpoint: {} }), /checkpoint/);
for (const direction of [
  { type: "random", seed: 1, values: theta },
  { type: "towards", parameters: theta, values: theta },
  { type: "vector", values: theta, index: 0 },
  { type: "principal", component: 0, values: theta },
]) {
  await rejected("invalid_option", () => engine.landscape(problem, theta, { directions: [direction] }), /no key/);
}

// --- arguments that cannot be read, or are something else
const detached = new Float64Array(theta);
structuredClone(detached.buffer, { transfer: [detached.buffer] });
const throwing = {
  get epochs() {
    throw new RangeError("no");
  },
};
const revoked = Proxy.revocable({}, {});
revoked.revoke();
for (const vector of [
  undefined,
  5,
  "x",
  {},
  new Map(),
  detached,
  Object.create(Float64Array.prototype),
  new Proxy(theta, {}),
]) {
  await rejected("invalid_parameters", () => engine.gradient(problem, vector));
  await refused("invalid_parameters", () => network.transform(vector, { type: "random_permutation", seed: 1 }));
}
await rejected("invalid_parameters", () => engine.gradient(problem, detached), /ArrayBuffer was transferred/);
await rejected("invalid_parameters", () => engine.gradient(problem, [1, "x"]), /parameters\[1\] is the string "x"/);
await rejected("invalid_parameters", () => engine.gradient(problem, new Array(2 ** 32 - 1)));
for (const options of ["x", 5, true, [], new Map(), theta, throwing, revoked.proxy, () => {}, Symbol("x"), 5n]) {
  await rejected("invalid_option", () => engine.train(problem, theta, options));
  await rejected("invalid_option", () => engine.gradient(problem, theta, options));
}
// Options behind an object: defaults, getters and a method of its class, of its own realm's root nothing.
const asked = class {
  get top() {
    return 3;
  }
  onProgress() {
    heard++;
  }
  describe() {
    return "no option";
  }
};
let heard = 0;
assert.equal((await engine.eigenvalues(problem, theta, new asked())).top.length, 3);
assert(heard > 0);
for (const options of [Object.create({ top: 3 }), Object.assign(Object.create({ top: 9 }), { top: 3 })]) {
  assert.equal((await engine.eigenvalues(problem, theta, options)).top.length, 3);
}
Object.defineProperty(Object.prototype, "colour", { value: "red", enumerable: true, configurable: true });
await engine.eigenvalues(problem, theta, {});
Reflect.deleteProperty(Object.prototype, "colour");
const endless = () => new Proxy({}, { getPrototypeOf: endless });
await rejected("invalid_option", () => engine.eigenvalues(problem, theta, endless()), /prototypes/);
// What an array says of itself is not asked: its numbers are taken.
const dressed = Object.defineProperties(new Float64Array(theta), {
  length: {
    get() {
      throw new RangeError("no");
    },
  },
  constructor: { value: 5 },
});
assert.deepEqual(await engine.gradient(problem, dressed), known);
assert.equal(
  Network.foldBatchNorm({ input: [2], layers: [{ type: "identity" }, { type: "dense", units: 1 }] }, [1, 2, 3])
    .parameters.length,
  3,
);
await refused("parse", () => Network.foldBatchNorm("[", dressed));
const unreadable = new Proxy(
  {},
  {
    get() {
      throw new RangeError("no");
    },
  },
);
await refused("invalid_option", () => Network.preset(unreadable), /cannot be read/);
await refused("invalid_option", () => Problem.synthetic(network, revoked.proxy), /cannot be read/);
for (const list of [[], [1], [[]]]) {
  await refused("invalid_option", () => Problem.synthetic(network, list), /must be an object/);
  await refused("invalid_option", () => network.initialize(list), /must be an object/);
  await refused("invalid_transformation", () => network.transform(theta, list), /must be an object/);
}
for (const [options, says] of [
  [{ schedule: [] }, /schedule must be an object, not an array/],
  [{ schedule: { decay: ["constant"] } }, /must be an object with a type, not an array/],
  [{ schedule: { warmup: 3 } }, /there is no key "warmup"/],
  [{ optimizer: ["sgd", 0.1] }, /optimizer must be an object with a type, not an array/],
  [{ space: ["weights"] }, /space must be an object with a type, not an array/],
]) {
  await rejected("invalid_option", () => engine.train(problem, theta, options), says);
}
const listed = { transformations: [["alpha_scale", 2]] };
await rejected("invalid_option", () => engine.invariance(problem, theta, listed), /must be an object with a type/);
// Holes as far as an array can be long, which would take minutes to count.
await rejected("invalid_option", () => engine.trainSideBySide(problem, new Array(2 ** 32 - 1)), /runs\[0\] is missing/);
for (const inherits of [new Float32Array(2), Int8Array.prototype]) {
  const array = () => engine.trainSideBySide(problem, Object.create(inherits));
  await rejected("invalid_option", array, /^runs must be an object, not one with a typed array behind it$/);
}
await refused("parse", () => isoflat.Problem.open(unreadable));
const cyclic = {};
cyclic.optimizer = { type: "sgd", learningRate: 1, cyclic };
await rejected("invalid_option", () => engine.train(problem, theta, cyclic), /contains itself/);
let deep = { type: "random_permutation", seed: 1 };
for (let i = 0; i < 5000; i++) deep = { type: "composition", of: [deep] };
await refused("invalid_transformation", () => network.transform(theta, deep), /nested more than/);
await rejected("invalid_option", () => engine.invariance(problem, theta, { transformations: [deep] }));
const unread = {
  ...{ addEventListener() {}, removeEventListener() {} },
  get aborted() {
    throw new Error("not read");
  },
};
for (const signal of [
  { aborted: false },
  {},
  5,
  Object.create(AbortSignal.prototype),
  new EventTarget(),
  Object.assign(new EventTarget(), { aborted: "no" }),
  unread,
]) {
  await rejected("invalid_option", () => engine.gradient(problem, theta, { signal }), /AbortSignal/);
}
await rejected("invalid_option", () => engine.gradient(problem, theta, { onProgress: 5 }), /must be a function/);
await rejected("invalid_option", () => engine.gradient(problem, theta, { finish: AbortSignal.abort() }));

// --- nothing is quoted at any length
const long = "x".repeat(1e5);
for (const work of [
  () => Network.preset(long),
  () => Network.fromJSON({ input: Array(1e4).fill(3), layers: [{ type: "dense", units: 1 }] }),
  () => network.transform(theta, { type: long }),
  () => Network.dense([2, 1], { [long]: 1 }),
]) {
  assert.throws(work, ({ message }) => message.length < 2000);
}
await assert.rejects(engine.train(problem, theta, { optimizer: long }), ({ message }) => message.length < 2000);

// --- nothing is ignored in silence
for (const scheme of [
  { sigma: 1 },
  { bound: 1 },
  { scheme: "xavier_normal", bound: 1 },
  { scheme: "normal", sigma: 1, bound: 1 },
]) {
  await refused("invalid_option", () => network.initialize(scheme), /is for the scheme/);
}
for (const count of [Number.NaN, -1, 0, 1.5, "3", 2 ** 60, undefined]) {
  await refused("invalid_option", () => problem.first(count), /whole number/);
}
assert.equal(problem.first(2 ** 32 + 5).samples, 32);
assert.equal(Network.dense([4, 2], { bias: false }).parameterCount, 8);
for (const bias of ["no", { biases: false }, { bias: 0 }, 1]) {
  await refused("invalid_option", () => Network.dense([4, 2], bias));
}
const data = { loss: "cross_entropy", inputs: new Float64Array(4), targets: [0] };
await refused("invalid_problem", () => new Problem(network, { ...data, weights: [] }), /no key weights/);
await refused("invalid_problem", () => new Problem(network, { ...data, loss: 5 }), /cross_entropy/);
await refused("invalid_problem", () => new Problem(network, { ...data, targets: [0.5] }), /not a class number/);
for (const Classes of [Int8Array, Int32Array, Uint16Array, Uint32Array])
  assert.equal(new Problem(network, { ...data, targets: Classes.of(0) }).samples, 1);
await rejected("invalid_option", () => Engine.create({ backend: "webgpu", precision: "f64" }), /f32 alone/);
await rejected("invalid_option", () => Engine.create({ tune: "sometimes" }), /auto.+never.+anew/);
await rejected("invalid_option", () => Engine.create({ tunings: [] }), /no option tunings/);
await rejected("invalid_option", () => Engine.create({ backend: "tpu" }), /auto, gpu \(or webgpu\) and cpu/);
await rejected("invalid_option", () => engine.train(problem, theta, { epochs: -1 }), /epochs must be a whole number/);
await rejected(
  "invalid_option",
  () => engine.train(problem, theta, { epoch: 1 }),
  /no key "epoch"; there are optimizer/,
);
await rejected("invalid_option", () => engine.train(problem, theta, { space: { type: "g" } }), /weights, g_space/);
await rejected("invalid_option", () => engine.sharpness(problem, theta, { region: 5 }), /an object with a type/);
await refused("parse", () => Network.fromJSON({ input: [4], layers: [{ type: "elu" }] }), /dense, conv2d/);
await refused("parse", () => Network.fromJSON({ input: [4], layers: [{ type: "dense", units: -1 }] }), /units must be/);
await refused("invalid_option", () => Network.preset(5), /must be a string/);
await refused("parse", () => Problem.open({}), /must be a string/);

// --- stops: every method rejects with the signal's reason, and the engine goes on
const reason = new Error("enough");
const slow = {
  train: { epochs: 1e9 },
  landscape: { directions: [{ type: "random", seed: 1 }], points: 1e6 },
  sharpness: { restarts: 1e6 },
  averageSharpness: { pairs: 1e8 },
  noiseInjection: { layer: 2, delta: 0.1, draws: 1e6 },
  trace: { method: "hutchinson", probes: 1e8 },
};
for (const [method, options] of Object.entries(slow)) {
  await assert.rejects(engine[method](problem, theta, { ...options, signal: AbortSignal.abort(reason) }), reason);
  const controller = new AbortController();
  const begun = performance.now();
  let aborted = begun;
  setTimeout(() => {
    aborted = performance.now();
    controller.abort(reason);
  }, 50);
  await assert.rejects(engine[method](problem, theta, { ...options, signal: controller.signal }), reason);
  await stillRight();
  const late = [aborted - begun - 50, performance.now() - aborted];
  assert(
    Math.max(...late) < 200,
    `${method}: the event loop stood still for ${late[0]} ms, and the stop took ${late[1]}`,
  );
}
for (const given of [undefined, "enough", 0, null]) {
  const signal = AbortSignal.abort(given);
  const found = await engine.gradient(problem, theta, { signal }).catch((error) => error);
  assert.equal(found, signal.reason, `${given}`);
  if (given === undefined) assert.equal(found.name, "AbortError");
}
// Of a library's own making, as a test's document has them: what can be read and listened to.
const made = Object.assign(new EventTarget(), { aborted: false, reason: undefined });
setTimeout(() => {
  Object.assign(made, { aborted: true, reason });
  made.dispatchEvent(new Event("abort"));
}, 20);
await assert.rejects(engine.train(problem, theta, { epochs: 1e9, signal: made }), reason);
await assert.rejects(engine.train(problem, theta, { epochs: 1e9, signal: made }), reason);
assert((await engine.train(problem, theta, { epochs: 1e9, finish: made })).stopped);
// What onProgress throws rejects the call; what it calls is queued behind it.
const thrown = new TypeError("mine");
const throws = () => {
  throw thrown;
};
await assert.rejects(engine.train(problem, theta, { epochs: 1e9, onProgress: throws }), thrown);
let inner;
const onProgress = () => {
  inner ??= engine.gradient(problem, theta);
};
await engine.train(problem, theta, { epochs: 5, onProgress });
assert.deepEqual(await inner, known);

// --- a crash: everything that is under way rejects, and init makes the module anew
const running = [engine.train(problem, theta, { epochs: 1e9 }), engine.gradient(problem, theta)];
const settled = Promise.allSettled(running);
await new Promise((resolve) => setTimeout(resolve, 30));
isoflat.crash();
for (const { status, reason: error } of await settled) {
  assert(status === "rejected" && error.code === "crashed" && /init\(\)/.test(error.message), `${error}`);
}
await rejected("crashed", () => engine.gradient(problem, theta));
await refused("crashed", () => network.depth);
await refused("crashed", () => Network.dense([2, 1]));
network.free();
const second = await init();
assert.notEqual(second, first);
await refused("crashed", () => problem.samples);
const reborn = Network.dense([4, 8, 8, 3]);
const anew = Problem.synthetic(reborn, { samples: 32, seed: 2 });
const other = await Engine.create({ backend: "cpu" });
assert.deepEqual(await other.gradient(anew, theta), known);
await rejected("crashed", () => engine.gradient(anew, theta));
engine.free();

// --- and a process whose module has crashed in the middle of work ends by itself
const crashing = `
import init, { crash, Engine, Network, Problem } from "isoflat";
await init();
const network = Network.dense([30, 40, 20]);
const engine = await Engine.create({ backend: "cpu" });
const training = engine.train(Problem.synthetic(network, { samples: 100 }), network.initialize(), { epochs: 1e6 });
const ended = training.catch(({ code }) => console.log(code));
// While it lets the event loop have its turn.
await new Promise((resolve) => setTimeout(resolve, 50));
crash();
await ended;`;
const child = spawnSync(process.execPath, ["--input-type=module", "--eval", crashing], {
  encoding: "utf8",
  timeout: 60_000,
});
assert.equal(child.stdout, "crashed\n", child.stderr);
assert.equal(child.status, 0, `it was ended from without: ${child.signal}`);

// --- handles that are freed, twice and in flight; data are shared
const flight = other.gradient(anew, theta);
anew.free();
anew.free();
other.free();
assert.deepEqual(await flight, known);
const large = Problem.synthetic(reborn, { samples: 1e6, seed: 1 });
const before = second.memory.buffer.byteLength;
const shares = Array.from({ length: 1000 }, (_, i) => large.first(1e6 - i));
assert(second.memory.buffer.byteLength - before < 8e6, "first copies its data");
for (const share of shares) share.free();
console.log("the package withstands hostile callers");
process.exit(0);
