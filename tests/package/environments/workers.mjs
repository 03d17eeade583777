/** Engines in workers of pages: the page goes on, and what a page may forbid or allow is so for them. */

import assert from "node:assert/strict";
import { outcomeOf } from "./chrome.mjs";
import { mapped } from "./program.mjs";

/** A page that tells what `body` returns, or an error's code and message. */
const program = (body) => `import init, { Engine, Network, Problem } from "isoflat";
const work = async () => {
  await init();
  const network = Network.preset("f1");
  const problem = Problem.synthetic(network, { samples: 300, seed: 1 });
  const parameters = network.initialize({ seed: 1 });
  ${body}
};
work().then(
  (value) => (globalThis.outcome = JSON.stringify(value)),
  (error) => (globalThis.outcome = JSON.stringify({ code: error.code, message: String(error.stack ?? error) })),
);
`;

/** What such a page tells. */
async function told(project, name, body, how) {
  project.write({ [`${name}.js`]: program(body), [`${name}.html`]: mapped(`./${name}.js`) });
  const { outcome } = await outcomeOf(project.folder, `${name}.html`, how);
  return JSON.parse(outcome);
}

/** Turns of the page's event loop while `engine` computes, and that it computes the same. */
const alive = `
  const [here, there] = [await Engine.create({ backend: "cpu" }), await Engine.create({ backend: "cpu", worker: true })];
  await there.evaluate(problem, parameters);
  let [ticks, progress] = [0, 0];
  const timer = setInterval(() => ticks++, 5);
  const start = performance.now();
  const options = { top: 2, onProgress: () => progress++ };
  const found = (await there.eigenvalues(problem, parameters, options)).top.map(({ value }) => value);
  const took = performance.now() - start;
  clearInterval(timer);
  const controller = new AbortController();
  setTimeout(() => controller.abort("enough"), 50);
  const stop = await there.train(problem, parameters, { epochs: 1e9, signal: controller.signal }).catch((reason) => reason);
  const { loss } = await there.evaluate(problem, parameters);
  const known = (await here.eigenvalues(problem, parameters, { top: 2 })).top.map(({ value }) => value);
  return { found, known, ticks, took, progress, stop, loss, infos: [here.info, there.info] };`;

const loss = `
  const engine = await Engine.create({ backend: "cpu", worker: true, threads: 2 });
  return { ...(await engine.evaluate(problem, parameters)), info: engine.info };`;

/** The first worker is one in which starting a thread never returns, as it may be in Firefox. */
const deaf = `
  const { Blob } = globalThis;
  let started = 0;
  globalThis.Blob = class extends Blob {
    constructor(parts, options) {
      const stuck = "globalThis.Worker = class { constructor() { for (;;); } };";
      super(started++ === 0 ? [stuck, ...parts] : parts, options);
    }
  };
  ${loss.replace("return {", "return { started,")}`;

const policy = (workers) => ({
  "Content-Security-Policy": `default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'${workers}`,
});

export const workers = [
  [
    "Chrome, a page that goes on while an engine computes in a worker",
    async (project) => {
      const { found, known, ticks, took, progress, stop, loss, infos, message } = await told(project, "alive", alive);
      assert.equal(message, undefined, message);
      assert.deepEqual(found, known);
      // By the same module.
      assert.deepEqual(infos[1], infos[0]);
      assert.match(infos[1].adapter, /relaxed SIMD/);
      assert(took > 100 && ticks > took / 50, `${ticks} ticks in ${took} ms`);
      assert(progress > 0 && stop === "enough" && loss > 0, `${progress}, ${stop}, ${loss}`);
      return `${ticks} ticks of 5 ms in ${took.toFixed(0)} ms`;
    },
  ],
  [
    "Chrome, an engine in a worker with threads",
    async (project) => {
      const headers = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
      const isolated = await told(project, "threads", loss, { headers });
      assert.equal(isolated.info?.threads, 2, JSON.stringify(isolated));
      const plain = await told(project, "threads", loss);
      assert(plain.info.threads === 1 && /cross-origin isolated/.test(plain.info.threadsReason), JSON.stringify(plain));
      assert(Math.abs(isolated.loss - plain.loss) < 1e-12, `${isolated.loss}, ${plain.loss}`);
      return "two where the page is isolated";
    },
  ],
  [
    "Chrome, an engine whose first worker never answers",
    async (project) => {
      const headers = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
      const found = await told(project, "deaf", deaf, { headers });
      assert.equal(found.started, 2, JSON.stringify(found));
      assert.equal(found.info.threads, 2);
      return "another takes its place";
    },
  ],
  [
    "Chrome, a Content-Security-Policy",
    async (project) => {
      const forbidden = await told(project, "policy", loss, { headers: policy("") });
      assert.equal(forbidden.code, "worker_unavailable", JSON.stringify(forbidden));
      assert.match(forbidden.message, /Content-Security-Policy.+must allow worker-src blob:/);
      const allowed = await told(project, "policy", loss, { headers: policy("; worker-src blob:") });
      assert(allowed.loss > 0, JSON.stringify(allowed));
      return "forbidden, and named; allowed with worker-src blob:";
    },
  ],
  [
    "Chrome, a GPU in a worker",
    async (project) => {
      const body = `
  const options = { backend: "webgpu", tune: "never" };
  const engines = [await Engine.create(options), await Engine.create({ ...options, worker: true })];
  const losses = [];
  for (const engine of engines) losses.push((await engine.evaluate(problem, parameters)).loss);
  engines[1].loseDevice();
  const lost = await engines[1].evaluate(problem, parameters.map((w) => 2 * w)).catch((error) => error.code);
  return { losses, infos: engines.map((engine) => engine.info), lost };`;
      const { losses, infos, lost, message } = await told(project, "gpu", body, { webgpu: true });
      assert.equal(message, undefined, message);
      assert(losses[0] > 0 && losses[0] === losses[1], `${losses}`);
      assert(infos[1].backend === "gpu" && infos[1].adapter === infos[0].adapter, JSON.stringify(infos));
      assert.equal(lost, "device_lost");
      return infos[1].adapter;
    },
  ],
];
