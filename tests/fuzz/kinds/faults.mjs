/**
 * Faults on purpose, in the middle of each kind of work: stopped at one report after the other, the device lost, a thread killed,
 * `onProgress` that throws; over and over without growth.
 */

import { Call } from "../call.mjs";
import { checkCanary } from "../canary.mjs";
import { killsThread, throwsInThread } from "../faults/threads.mjs";
import { World } from "../interpret.mjs";
import { dense, network } from "../problems.mjs";
import { $ } from "../values.mjs";

const ref = (name) => $("ref", { name });

/** Each kind of work, short. */
const works = {
  trace: { method: "hutchinson", probes: 30 },
  eigenvalues: { top: 2, bottom: 1 },
  density: { probes: 3, steps: 10 },
  diagonal: { probes: 10 },
  leastTrace: {},
  measure: {
    measures: ["hessian.trace", "hessian.max_eigenvalue", "petzka.kappa_sum", "average_sharpness"],
    probes: 10,
  },
  invariance: {
    measures: ["loss", "hessian.trace"],
    transformations: [{ type: "random_nodewise", seed: 1, low: 0.5, high: 2 }],
  },
  landscape: {
    directions: [
      { type: "random", seed: 1 },
      { type: "random", seed: 2 },
    ],
    points: 5,
  },
  train: { epochs: 4, batchSize: 4 },
  petzka: { draws: 3 },
  sharpness: { restarts: 2, maxIterations: 10 },
  averageSharpness: { pairs: 20 },
  noiseInjection: { layer: 1, delta: 0.1, draws: 5 },
  sharpen: { target: 1e4, maxProducts: 200 },
  volumeFlatness: { samples: 20, boxes: 3 },
  manyLargeEigenvalues: { target: 10 },
  constantInBall: { epsilon: 1 },
  report: { sections: ["point", "norms", "hessian", "petzka"] },
};
/** What can be lost: a device and threads in a page only. */
const faults = {
  wasm: ["abort", "abort", "throw", "growth"],
  chrome: ["abort", "device", "device", "thread", "killed"],
};
const threaded = new Set(["thread", "killed"]);

function generate(random, target) {
  const fault = random.pick(faults[target]);
  const isThreaded = threaded.has(fault);
  // Of small networks, which are not shared out.
  const dinhs = ["volumeFlatness", "manyLargeEigenvalues"];
  const work = random.pick(Object.keys(works).filter((name) => !(isThreaded && dinhs.includes(name))));
  const isDinh = dinhs.includes(work);
  const two = isDinh ? dense([4, 6, 3], { bias: false }) : undefined;
  const net = two ?? (fault === "device" ? dense([60, 40, 20, 5]) : network(random, { convolutions: false }));
  const engineOptions =
    fault === "device" ? { backend: "webgpu" } : isThreaded ? { backend: "cpu", threads: 2 } : undefined;
  const problem = {
    // Small ones are not shared out.
    network: isThreaded ? dense([784, 64, 10]) : net,
    loss: "cross_entropy",
    samples: isThreaded ? 400 : fault === "device" ? 40 : random.between(2, 12),
    seed: random.int(100),
  };
  return {
    fault,
    work,
    at: random.between(1, 12),
    ms: random.int(isThreaded ? 400 : 150),
    rounds: fault === "growth" ? 1000 : random.between(1, 6),
    setup: {
      problem,
      precision: random.pick(["f64", "f32"]),
      engine: "fresh",
      engineOptions,
      expectsLostEngine: engineOptions !== undefined,
    },
  };
}

/** One piece of work with these additions to its options; resolves with the call. */
async function run(world, work, options) {
  const step = {
    call: `engine.${work}`,
    promise: true,
    args: [ref("problem"), ref("parameters"), { ...works[work], ...options }],
  };
  const call = new Call(world, step);
  const { engine } = world.handles;
  const args = call.arguments();
  call.value = await call.settle(() => engine[work](...args));
  for (const fault of call.faults) world.fault(fault, step.call);
  return call;
}

const ways = {
  /** At every report, one after the other: as many as there are. */
  async abort(world, { work, rounds, at }) {
    for (let n = at; n < at + rounds; n++) {
      const call = await run(world, work, { signal: $("signal", { abort: "at", n }), onProgress: $("progress") });
      if (call.reports < n) return;
    }
  },
  async throw(world, { work, at }) {
    await run(world, work, { onProgress: $("progress", { throws: true, at }) });
  },
  /** A thousand rounds of the same, stopped on the way, must not make the module larger. */
  async growth(world, { work, rounds, at }) {
    const { host } = world;
    let settled = 0;
    for (let round = 0; round < rounds; round++) {
      const stop =
        round % 3 === 0 ? { signal: $("signal", { abort: "at", n: 1 + (round % at) }), onProgress: $("progress") } : {};
      await run(world, work, stop);
      if (round === 100) settled = host.memory();
      if (world.faults.length > 5 || performance.now() - world.begun > 9000) break;
    }
    const grown = host.memory() - settled;
    if (settled > 0 && grown > 2 ** 21)
      world.fault(
        { failure: "growth", detail: `by ${(grown / 2 ** 20).toFixed(0)} MiB in ${rounds} rounds` },
        `engine.${work}`,
      );
  },
  /** The GPU goes away in the middle; afterwards every call says so, and a fresh engine is right. */
  async device(world, { work, ms }) {
    const { engine } = world.handles;
    setTimeout(() => engine.loseDevice(), ms);
    await run(world, work, {});
    await new Promise((resolve) => setTimeout(resolve, ms));
    engine.loseDevice();
    const after = await run(world, work, {});
    if (after.error?.code !== "device_lost")
      world.fault({ failure: "after-loss", detail: `${after.error?.code ?? "no error"}` }, `engine.${work}`);
  },
  thread: throwsInThread(run),
  killed: killsThread(run),
};

async function execute(test, host) {
  const world = new World(host, test.setup);
  world.begun = performance.now();
  try {
    await world.open();
  } catch (error) {
    // Without a GPU there is no device to lose.
    if (error?.code === "backend_unavailable") return { faults: [], calls: 0, skipped: true };
    throw error;
  }
  await ways[test.fault](world, test);
  await world.close();
  for (const fault of await checkCanary(host.isoflat, undefined)) world.fault(fault, "canary");
  return { faults: world.faults, calls: test.rounds };
}

export default { name: "faults", time: 100_000, targets: ["wasm", "chrome"], generate, execute };
