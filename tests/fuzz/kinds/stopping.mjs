/**
 * Long work, stopped: after a moment, before it begins, at a report, by `finish`. A stop is heard within 100 ms or one pass over
 * the data, the event loop has its turns all the while, and the engine has the right numbers afterwards.
 */

import { Call, IN_BROWSER } from "../call.mjs";
import { World } from "../interpret.mjs";
import { dense, statedByCounts } from "../problems.mjs";
import { $ } from "../values.mjs";

/**
 * Milliseconds for which the event loop may be held: 50 are promised on a computer that does nothing else, and this one runs other
 * cases too. A browser does not say how much of the time it had a processor.
 */
const HELD = IN_BROWSER ? 500 : 250;

const ref = (name) => $("ref", { name });
const wide = dense([100, 60, 60, 10]);
const small = dense([6, 8, 3]);

/** Work that lasts for as long as one lets it: `[method, options, network]`. */
const endless = [
  ["trace", { method: "hutchinson", probes: 1e8 }, wide],
  ["trace", { method: "hutch_plus_plus", probes: 2 ** 28 }, small],
  ["trace", { method: "hutch_plus_plus", probes: 900 }, wide],
  ["eigenvalues", { top: 40, maxProducts: 1e6, tolerance: 1e-15 }, wide],
  ["eigenvalues", { method: "power", maxProducts: 1e8, tolerance: 1e-16 }, wide],
  ["density", { points: 1e6 }, small],
  ["density", { points: 2 ** 27 }, small],
  ["density", { points: 1e6, probes: 10 }, wide],
  ["density", { probes: 1e6, steps: 50 }, wide],
  ["density", { steps: 5000 }, wide],
  ["sharpness", { restarts: 1e6 }, small],
  ["sharpness", { restarts: 1e6, maxIterations: 1e6 }, wide],
  ["sharpness", { region: { type: "subspace", dimension: 1000 } }, wide],
  ["sharpness", { region: { type: "subspace_box", dimension: 1000 } }, wide],
  ["averageSharpness", { pairs: 2 ** 28 }, small],
  ["averageSharpness", { pairs: 1e7, noise: "scaled" }, wide],
  ["noiseInjection", { layer: 2, delta: 0.1, draws: 1e8 }, small],
  ["noiseInjection", { layer: 2, delta: 0.1, draws: 1e5 }, wide],
  ["petzka", { draws: 2 ** 28 }, small],
  ["petzka", { draws: 1e6 }, wide],
  ["volumeFlatness", { samples: 1e8 }, dense([6, 8, 3])],
  ["volumeFlatness", { samples: 1e8 }, small],
  ["volumeFlatness", { boxes: 1e8 }, small],
  ["train", { epochs: 1e8, batchSize: 1 }, small],
  ["train", { epochs: 1e6 }, wide],
  [
    "landscape",
    {
      directions: [
        { type: "random", seed: 1 },
        { type: "random", seed: 2 },
      ],
      points: 3000,
    },
    small,
  ],
  ["landscape", { directions: [{ type: "random", seed: 1 }], points: 1e6 }, wide],
  ["measure", { probes: 1e7, tolerance: 1e-15 }, wide],
  ["invariance", { transformations: Array(500).fill({ type: "random_nodewise", seed: 1, low: 0.5, high: 2 }) }, wide],
  ["diagonal", { probes: 1e8 }, dense([20, 30, 30, 5])],
  ["report", {}, wide],
  ["train", { epochs: 1, space: { type: "g_space", choice: "hungarian" } }, dense([2, 700, 700, 2])],
  ["eigenvalues", { space: { type: "weight_fixing", choice: "hungarian" } }, dense([2, 700, 700, 2])],
  ["manyLargeEigenvalues", { target: 10 }, dense([20, 30, 5])],
  ["constantInBall", { epsilon: 1 }, wide],
  ["sharpen", { target: 1e4, maxProducts: 1e6, tolerance: 1e-14 }, wide],
  ["estimate", undefined, wide],
];

/** Very many tiny samples: what is done once for each must not be slow. */
const many = (random) => ({
  way: "first",
  setup: {
    problem: { network: dense([2, 3, 2]), loss: "cross_entropy", samples: 600_000, seed: random.int(100) },
    precision: random.pick(["f64", "f32"]),
    engine: "fresh",
  },
});

function generate(random) {
  if (random.chance(0.03)) return many(random);
  const [method, options, network] = random.pick(endless);
  const isTanh =
    random.chance(0.2) &&
    ["trace", "diagonal", "eigenvalues", "density", "landscape", "train"].includes(method) &&
    options?.space === undefined;
  const layers = isTanh
    ? network.layers.map((layer) => (layer.type === "relu" ? { type: "tanh" } : layer))
    : network.layers;
  const stop = random.pick([
    { abort: "after", ms: random.between(1, 300) },
    { abort: "after", ms: random.between(1, 300) },
    { abort: "before" },
    { abort: "at", n: random.between(1, 5) },
    { abort: "after", ms: 50, reason: random.pick(["platform", "undefined"]) },
  ]);
  // Which weights a space fixes is chosen before there is anything to hand over.
  const finish = random.chance(0.3) && ["train", "report"].includes(method) && options?.space === undefined;
  return {
    setup: {
      problem: {
        network: { ...network, layers },
        loss: "cross_entropy",
        samples: random.pick([1, 20, 200]),
        seed: random.int(100),
      },
      precision: random.pick(["f64", "f32"]),
      engine: "fresh",
      measurePass: true,
    },
    method,
    options,
    finish,
    stop: finish ? { abort: "after", ms: random.between(1, 300) } : stop,
  };
}

/** The longest time between two turns of the event loop, by the lesser of clock and processor. */
class Heart {
  longest = 0;
  #running = true;
  #clock = performance.now();
  #cpu = this.#used();

  async beat() {
    while (this.#running) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (this.#running) this.#record();
    }
  }

  /** What was held until now counts, and nothing from then on. */
  stop() {
    if (this.#running) this.#record();
    this.#running = false;
  }

  #record() {
    const used = IN_BROWSER ? Number.POSITIVE_INFINITY : this.#used() - this.#cpu;
    this.longest = Math.max(this.longest, Math.min(performance.now() - this.#clock, used));
    [this.#clock, this.#cpu] = [performance.now(), this.#used()];
  }

  /** Milliseconds of a processor, where one is told. */
  #used() {
    const cpu = globalThis.process?.cpuUsage?.() ?? {};
    return Object.values(cpu).reduce((a, b) => a + b, 0) / 1000;
  }
}

/** A first gradient and a later one: the first lays the data out, but that is no more than some passes over them. */
async function executeFirst({ setup }, host) {
  const world = new World(host, setup);
  await world.open();
  const { engine, problem, parameters, other } = world.handles;
  const time = async (point) => {
    const start = performance.now();
    await engine.gradient(problem, point);
    return performance.now() - start;
  };
  const [first, second] = [await time(parameters), await time(other)];
  const detail = `${first.toFixed(0)} ms, the next one ${second.toFixed(0)} ms`;
  if (first > 2000 && first > 5 * second) world.fault({ failure: "slow-first", detail }, "engine.gradient");
  await world.close();
  return { faults: world.faults, calls: 2 };
}

async function execute(test, host) {
  if (test.way === "first") return executeFirst(test, host);
  const { setup, method, options, stop, finish } = test;
  const world = new World(host, setup);
  await world.open();
  const { abort, ...when } = stop;
  const signal = $("signal", { abort, ...when });
  const bag = {
    ...options,
    ...(finish ? { finish: signal } : { signal }),
    ...(abort === "at" && { onProgress: $("progress") }),
  };
  const args = [ref("problem"), ref("parameters"), ...(options === undefined ? [] : [bag])];
  const call = new Call(world, { call: `engine.${method}`, promise: true, args });
  const heart = new Heart();
  const beating = heart.beat();
  call.onAnswer = () => heart.stop();
  const { engine } = world.handles;
  const decoded = call.arguments();
  // What is not over by then is stopped, so that the case ends.
  const guard = abort === "at" ? setTimeout(() => call.abort(), 4000) : undefined;
  const value = await call.settle(() => engine[method](...decoded));
  clearTimeout(guard);
  heart.stop();
  await beating;
  const where = `engine.${method}`;
  for (const fault of call.faults) world.fault(fault, where);
  if (finish && call.lateMs !== undefined && value === undefined && call.error !== undefined)
    world.fault({ failure: "finish", detail: `rejects with ${call.error?.code ?? call.error?.name}` }, where);
  if (finish && call.lateMs !== undefined && value !== undefined && value.stopped !== true)
    world.fault({ failure: "finish", detail: "resolves without saying that it was stopped" }, where);
  if (heart.longest > HELD)
    world.fault(
      {
        failure: "event-loop",
        detail: `held for ${heart.longest.toFixed(0)} ms, allowed are ${HELD}`,
      },
      where,
    );
  await world.close();
  return { faults: world.faults, calls: 1, gap: heart.longest, late: call.lateMs };
}

export default {
  name: "stopping",
  time: 20_000,
  stated: ({ options }) => statedByCounts(options),
  targets: ["wasm", "chrome"],
  generate,
  execute,
};
