/** What may never answer, and what is called while something else is awaited. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import init, { Engine, initSync, Network, Problem } from "isoflat";

const module = readFileSync(fileURLToPath(import.meta.resolve("isoflat/isoflat_bg.wasm")));

// The instance that is made at once is the one that stays.
const loading = init({ module_or_path: module });
initSync({ module });
const network = Network.dense([100, 200, 10]);
await loading;
const problem = Problem.synthetic(network, { samples: 2000, seed: 2 });
const parameters = network.initialize({ seed: 1 });
const engine = await Engine.create({ backend: "cpu" });
await engine.evaluate(problem, parameters);

// Who stops products with many directions has the engine back before all of them are there.
const COUNT = 200;
const directions = new Float64Array(COUNT * parameters.length);
for (let i = 0; i < COUNT; i++) directions.set(parameters, i * parameters.length);
const seconds = async (work) => {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1e3;
};
const steps = [];
const onProgress = ({ done, total }) => steps.push([done, total]);
const whole = await seconds(() => engine.product(problem, parameters, directions, { onProgress }));
assert(steps.length > 5 && steps.every(([done, total]) => done < COUNT && total === COUNT), JSON.stringify(steps));
const stop = new AbortController();
setTimeout(() => stop.abort(new Error("enough")), 20);
await assert.rejects(engine.product(problem, parameters, directions, { signal: stop.signal }), /enough/);
const until = await seconds(() => engine.evaluate(problem, parameters));
assert(until < whole / 2, `the engine is free after ${until} s, where all products take ${whole}`);

// A database that never answers keeps no engine waiting, and nobody who no longer wants one.
globalThis.indexedDB = { open: () => ({}) };
const told = new AbortController();
setTimeout(() => told.abort(new Error("no more")), 50);
const rejected = await seconds(() => assert.rejects(Engine.create({ signal: told.signal }), /no more/));
assert(rejected < 0.5, `rejected after ${rejected} s`);
const gone = new AbortController();
gone.abort(new Error("before"));
await assert.rejects(Engine.create({ signal: gone.signal }), /before/);
const created = await seconds(async () => (await Engine.create({ tune: "never" })).free());
assert(created < 3, `created after ${created} s`);
delete globalThis.indexedDB;

// Who wants double precision is not asked for a GPU.
let asked = 0;
const requestAdapter = async () => {
  asked++;
  return null;
};
globalThis.Window = function Window() {};
Object.defineProperty(globalThis.Window, Symbol.hasInstance, { value: (value) => value === globalThis });
Object.defineProperty(globalThis, "navigator", { configurable: true, value: { gpu: { requestAdapter } } });
const double = await Engine.create({ precision: "f64" });
assert.deepEqual([double.info.backend, double.info.precision, asked], ["cpu", "f64", 0]);
assert.equal((await Engine.create()).info.backend, "cpu");
assert(asked > 0, "a GPU is asked for where nothing is said");
