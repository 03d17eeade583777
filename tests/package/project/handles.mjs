/** Handles: what a freed one says, that data are shared, and that what nobody frees is freed when it is collected. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import init, { Engine, Network, openModel, Problem, proposeNetwork, saveModel } from "isoflat";

const { memory } = await init();

// --- freed, by whichever name, and more than once
const network = Network.dense([1000, 10]);
const theta = network.initialize({ seed: 1 });
const engine = await Engine.create({ backend: "cpu", precision: "f32" });
const dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");
const makers = {
  Network: () => Network.dense([1000, 10]),
  Problem: () => Problem.synthetic(network, { samples: 2 }),
  ParameterSpace: () => network.space(theta, { type: "g_space" }),
  Engine: () => Engine.create({ backend: "cpu" }),
};
/** What takes each, with the name that it has there. */
const uses = {
  Network: [
    ["depth: this Network", (gone) => gone.depth],
    ["network", (gone) => new Problem(gone, { loss: "cross_entropy", inputs: new Float32Array(1000), targets: [0] })],
    ["network", (gone) => Problem.synthetic(gone, { samples: 2 })],
    ["network", (gone) => Network.fromJSON(gone)],
    ["openModel: network", (gone) => openModel(new Uint8Array(4), { network: gone })],
    ["toJSON: this Network", (gone) => JSON.stringify(gone)],
    ["saveModel: a model that openModel gave, a Problem or a Network; this", (gone) => saveModel(gone, theta)],
  ],
  Problem: [
    ["samples: this Problem", (gone) => gone.samples],
    ["first: this Problem", (gone) => gone.first(1)],
    ["network: this Problem", (gone) => gone.network],
    ["problem", (gone) => engine.evaluate(gone, theta)],
    ["train: validation", (gone) => engine.train(makers.Problem(), theta, { validation: gone })],
    ["saveModel: this Problem", (gone) => saveModel(gone, theta)],
  ],
  ParameterSpace: [["toCoordinates: this ParameterSpace", (gone) => gone.toCoordinates(theta)]],
  Engine: [
    ["info: this Engine", (gone) => gone.info],
    ["gradient: this Engine", (gone) => gone.gradient(makers.Problem(), theta)],
  ],
};
for (const [name, make] of Object.entries(makers)) {
  for (const end of ["free", dispose]) {
    const gone = await make();
    for (let time = 0; time < 3; time++) assert.equal(gone[end](), undefined);
    for (const [what, use] of uses[name]) {
      await assert.rejects(async () => use(gone), {
        code: "invalid_handle",
        message: `${what} has been freed, by free() or at the end of the block of its using`,
      });
    }
  }
}
await assert.rejects(() => proposeNetwork(makers.Problem()), { code: "invalid_option" });
// What is under way goes on.
const [own, brief] = [await makers.Engine(), makers.Problem()];
const flight = [own.gradient(brief, theta), own.gradient(brief, theta)];
brief.free();
own.free();
assert.deepEqual(...(await Promise.all(flight)));
// The network of a problem outlives it.
const data = makers.Problem();
const inner = data.network;
data.free();
assert.equal(inner.depth, 1);

// --- an engine without Symbol.dispose: what compilers of using look for is there
const symbol = Object.assign((name) => Symbol(name), { for: Symbol.for, iterator: Symbol.iterator });
for (const name of ["toStringTag", "asyncIterator", "hasInstance", "toPrimitive"]) symbol[name] = Symbol[name];
const text = await readFile(new URL("isoflat.cjs", import.meta.resolve("isoflat/isoflat_bg.wasm")), "utf8");
const module = { exports: {} };
const { createRequire } = await import("node:module");
const filename = new URL("isoflat.cjs", import.meta.resolve("isoflat/isoflat_bg.wasm")).pathname;
const evaluate = new Function("require", "module", "exports", "__filename", "Symbol", text);
evaluate(createRequire(import.meta.url), module, module.exports, filename, symbol);
assert.equal(typeof module.exports.Network.prototype[Symbol.for("Symbol.dispose")], "function");
assert.equal(typeof Network.prototype[dispose], "function");

// --- data are shared: 40 MB, of which there is one copy however many problems are over them, and for however many engines in f64
const megabytes = () => memory.buffer.byteLength / 1e6;
const large = Problem.synthetic(network, { samples: 5000 });
const before = megabytes();
const parts = Array.from({ length: 50 }, (_, i) => large.first(5000 - i));
for (const part of parts) assert.equal(part.first(10).samples, 10);
assert(megabytes() - before < 4, `fifty problems over the same data took ${megabytes() - before} MB more`);
const { loss } = await engine.evaluate(parts[49], theta);
large.free();
assert.equal((await engine.evaluate(parts[49], theta)).loss, loss);
for (const part of parts) part.free();

// --- what nobody frees
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
for (let i = 0; i < 60; i++) {
  const forgotten = [await makers.Engine(), Problem.synthetic(network, { samples: 5000 })];
  if (i % 10 === 0) await forgotten[0].evaluate(forgotten[1], theta);
  collect();
  await pause();
}
// Sixty times 40 MB, and data of ten engines.
assert(megabytes() < 1000, `${megabytes()} MB are taken though all is forgotten`);
console.log(`handles are freed once, share their data and are collected; ${megabytes().toFixed(0)} MB`);
