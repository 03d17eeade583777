/** The event loop runs in the middle of what takes long, a single pass over the data among it; there a stop is heard, too. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import init, { Engine, Network, Problem } from "isoflat";

await init({ module_or_path: await readFile(fileURLToPath(import.meta.resolve("isoflat/isoflat_bg.wasm"))) });

const SAMPLES = 1500;
const network = Network.preset("lenet");
const inputs = Float32Array.from({ length: SAMPLES * 784 }, (_, i) => Math.abs(Math.sin(i)));
const targets = Uint8Array.from({ length: SAMPLES }, (_, i) => i % 10);
const problem = new Problem(network, { loss: "cross_entropy", inputs, targets });
const small = problem.first(1);
const parameters = network.initialize();
const other = parameters.map((w, i) => w + 0.01 * Math.cos(i));

/** How long work takes, and the longest time without a turn of the event loop, in milliseconds. */
async function watched(work) {
  const start = performance.now();
  let [last, longest, isDone] = [start, 0, false];
  const turn = () => {
    const now = performance.now();
    [longest, last] = [Math.max(longest, now - last), now];
    if (!isDone) setTimeout(turn);
  };
  turn();
  await work();
  isDone = true;
  turn();
  return [performance.now() - start, longest];
}

for (const precision of ["f32", "f64"]) {
  const engine = await Engine.create({ backend: "cpu", precision });
  // Memory is taken and code is compiled once.
  await engine.gradient(small, parameters);
  const expected = await engine.gradient(problem, other);
  await engine.product(problem, parameters, other);
  const passes = {
    gradient: (more) => engine.gradient(problem, other, more),
    product: (more) => engine.product(problem, other, parameters, more),
    "ten evaluations": (more) =>
      engine.landscape(problem, parameters, { directions: [{ type: "random", seed: 1 }], points: 10, ...more }),
    sweep: (more) => engine.petzka(problem, parameters, { draws: 2, maxProducts: 1, ...more }),
  };
  for (const [name, pass] of Object.entries(passes)) {
    const [total, longest] = await watched(pass);
    console.log(`${name} in ${precision}: ${total.toFixed(0)} ms, at most ${longest.toFixed(0)} ms without a turn`);
    // A slow machine takes longer for either.
    assert(longest < Math.max(50, total / 4), `${name} in ${precision}: ${longest} of ${total} ms without a turn`);

    // At a point that is not prepared yet.
    await engine.gradient(problem, parameters);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), total / 5);
    await assert.rejects(pass({ signal: stop.signal }), { name: "AbortError" });
    const stopped = performance.now();
    await engine.gradient(small, parameters);
    const free = performance.now() - stopped;
    assert(free < Math.max(50, total / 2), `${name} in ${precision}: the engine is free after ${free} of ${total} ms`);
    assert.deepEqual(await engine.gradient(problem, other), expected, `${name}, stopped, and a gradient after it`);
  }
  engine.free();
}

// Matrices that are decomposed at once take seconds.
const wide = Network.dense([600, 10]);
const images = Float32Array.from({ length: 200 * 600 }, (_, i) => Math.sin(i * i));
const classes = Uint8Array.from({ length: 200 }, (_, i) => i % 10);
const flat = new Problem(wide, { loss: "cross_entropy", inputs: images, targets: classes });
const many = Network.dense([30, 20, 10]);
const few = Problem.synthetic(many, { samples: 10, seed: 1 });
const engine = await Engine.create({ backend: "cpu" });
const decompositions = {
  whitening: () => engine.inputRepresentation(flat, wide.initialize(), { map: "whiten" }),
  "a Hessian in other coordinates": () =>
    engine.reparametrizedHessian(few, many.initialize(), { map: { type: "radial", delta: 1, inner: 0.25, rho: 0.5 } }),
};
for (const [name, work] of Object.entries(decompositions)) {
  const [total, longest] = await watched(work);
  console.log(`${name}: ${total.toFixed(0)} ms, at most ${longest.toFixed(0)} ms without a turn`);
  assert(longest < Math.max(60, total / 4), `${name}: ${longest} of ${total} ms without a turn`);
}
