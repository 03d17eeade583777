/** What runs in the worker of the threads' page (and, by way of `run.mjs`, on a page's main thread). */

/** Large enough to be shared out, and not for one piece of the shared buffers: 1.1 million parameters. */
function problemOf({ Network, Problem }, { widths = [784, 1024, 256, 10], samples = 150 } = {}) {
  const network = Network.dense(widths);
  return { problem: Problem.synthetic(network, { samples, seed: 1 }), parameters: network.initialize({ seed: 2 }) };
}

/** A gradient, two products at once, measures and so on from a number of threads. */
async function everything(isoflat, options) {
  const engine = await isoflat.Engine.create({ backend: "cpu", ...options });
  const { problem, parameters } = problemOf(isoflat);
  const direction = problem.network.initialize({ seed: 3 });
  const gradient = await engine.gradient(problem, parameters);
  const directions = new Float64Array(2 * parameters.length);
  directions.set(direction);
  directions.set(gradient, parameters.length);
  const { loss, accuracy } = await engine.evaluate(problem, direction);
  const small = problemOf(isoflat, { widths: [784, 64, 10], samples: 200 });
  const trained = await engine.train(small.problem, small.parameters, {
    epochs: 2,
    batchSize: 128,
    seed: 1,
    optimizer: { type: "sgd", learningRate: 0.05 },
  });
  const { values } = await engine.measure(small.problem, trained.parameters, { probes: 10 });
  const { loss: landscape } = await engine.landscape(small.problem, trained.parameters, {
    directions: [
      { type: "random", seed: 1 },
      { type: "vector", values: small.parameters },
    ],
    points: 5,
  });
  const { info } = engine;
  const searches = new Set(isoflat.describeMeasures().flatMap(({ key, cost }) => (cost === "search" ? [key] : [])));
  const results = {
    outputs: await engine.outputs(problem, parameters),
    gradient,
    products: await engine.product(problem, parameters, directions),
    gaussNewton: await engine.product(problem, parameters, direction, { operator: "gauss_newton" }),
    means: [loss, accuracy],
    trained: trained.parameters,
    measures: values.map(({ value }) => value),
    // What an ascent could gain still where it ended: rounding decides whether it took one step more.
    gaps: values.map(({ key, residual = 0 }) => (searches.has(key) ? residual : 0)),
    landscape,
  };
  engine.free();
  return { info, results };
}

/**
 * The largest |a − b| of each result, relative to the largest |b|; measures each relative to itself, ascents' but for the gaps at which they
 * ended, unless it is the `same` that was computed.
 */
function differences(found, expected, { same = false } = {}) {
  const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const keys = Object.keys(expected).filter((key) => same || key !== "gaps");
  const gap = (i) => (same ? 0 : found.gaps[i] + expected.gaps[i]);
  return Object.fromEntries(
    keys.map((key) => {
      const [a, b] = [found[key], expected[key]];
      if (a.length !== b.length || a.some((value) => !Number.isFinite(value))) return [key, Number.NaN];
      if (key === "measures")
        return [key, largest(a.map((value, i) => Math.max(Math.abs(value - b[i]) - gap(i), 0) / b[i]))];
      return [key, largest(a.map((value, i) => value - b[i])) / largest(b)];
    }),
  );
}

/** Two threads beside one, and two beside two. */
export async function compare(isoflat, precision) {
  const one = await everything(isoflat, { precision });
  const two = await everything(isoflat, { precision, threads: 2 });
  const again = await everything(isoflat, { precision, threads: 2 });
  const three = await everything(isoflat, { precision, threads: 3 });
  return {
    infos: [one.info, two.info, three.info],
    two: differences(two.results, one.results),
    three: differences(three.results, one.results),
    again: differences(again.results, two.results, { same: true }),
  };
}

/** An engine that wants threads, wherever it is: what it says, and whether it computes. */
export async function ask(isoflat, threads) {
  const engine = await isoflat.Engine.create({ backend: "cpu", threads });
  const { problem, parameters } = problemOf(isoflat, { widths: [784, 64, 10], samples: 200 });
  const { loss } = await engine.evaluate(problem, parameters);
  const { info } = engine;
  engine.free();
  return { info, loss, cores: navigator.hardwareConcurrency };
}

/** What is refused, with which code. */
export async function refused({ Engine }, values) {
  const codes = [];
  for (const threads of values) {
    codes.push(
      await Engine.create({ backend: "cpu", threads }).then(
        () => "accepted",
        ({ code }) => code,
      ),
    );
  }
  return codes;
}

/** Stops a long estimate after a moment; how long that takes, and whether the engine still works. */
export async function stop(isoflat) {
  const engine = await isoflat.Engine.create({ backend: "cpu", threads: 2 });
  const { problem, parameters } = problemOf(isoflat);
  const controller = new AbortController();
  let reports = 0;
  let at = 0;
  const code = await engine
    .trace(problem, parameters, {
      method: "hutchinson",
      probes: 100_000,
      signal: controller.signal,
      onProgress: () => {
        if (++reports !== 3) return;
        at = performance.now();
        controller.abort();
      },
    })
    .then(
      () => "finished",
      (error) => error.name,
    );
  const ms = performance.now() - at;
  const { loss } = await engine.evaluate(problem, parameters);
  engine.free();
  return { code, ms, reports, loss };
}

/**
 * Stops passes that take seconds, from a timer: how long the calls take to end and the next ones to answer, what an engine finds afterwards
 * against one that was never stopped, and whether another problem may be freed meanwhile.
 */
export async function stopWithin(isoflat) {
  const engine = await isoflat.Engine.create({ backend: "cpu", threads: 3, precision: "f64" });
  const large = problemOf(isoflat, { widths: [256, 512, 512, 10], samples: 12_000 });
  const small = problemOf(isoflat, { widths: [64, 128, 10], samples: 600 });
  const before = await engine.gradient(small.problem, small.parameters);
  const calls = {
    outputs: (options) => engine.outputs(large.problem, large.parameters, options),
    gradient: (options) => engine.gradient(large.problem, large.parameters, options),
    product: (options) => engine.product(large.problem, large.parameters, large.parameters, options),
    petzka: (options) => engine.petzka(large.problem, large.parameters, options),
    landscape: (options) =>
      engine.landscape(large.problem, large.parameters, {
        ...options,
        points: 5,
        directions: [{ type: "random", seed: 1 }],
      }),
  };
  const stops = [];
  for (const [name, call] of Object.entries(calls)) {
    for (const after of [60, 350]) {
      const freed = problemOf(isoflat, { widths: [64, 128, 10], samples: 600 });
      await engine.evaluate(freed.problem, freed.parameters);
      const controller = new AbortController();
      let at = 0;
      setTimeout(() => {
        freed.problem.free();
        at = performance.now();
        controller.abort();
      }, after);
      const code = await call({ signal: controller.signal }).then(
        () => "finished",
        (error) => error.name,
      );
      const ended = performance.now() - at;
      await engine.evaluate(small.problem, small.parameters);
      stops.push({ name, after, code, ended, next: performance.now() - at });
    }
  }
  const same = (a, b) => a.length === b.length && a.every((value, i) => value === b[i]);
  const again = same(await engine.gradient(small.problem, small.parameters), before);
  engine.free();
  return { stops, again };
}

/** A thread is ended without a word in the middle of a pass: what the call says, after how long, and whether the caller was free meanwhile. */
export async function lose(isoflat) {
  const started = [];
  const { Worker } = globalThis;
  globalThis.Worker = class extends Worker {
    constructor(...args) {
      super(...args);
      started.push(this);
    }
  };
  const engine = await isoflat.Engine.create({ backend: "cpu", threads: 2, precision: "f64" });
  globalThis.Worker = Worker;
  const { problem, parameters } = problemOf(isoflat, { widths: [256, 512, 512, 10], samples: 1200 });
  setTimeout(() => started[0].terminate(), 100);
  let at = performance.now();
  let longest = 0;
  const ticking = setInterval(() => {
    longest = Math.max(longest, performance.now() - at);
    at = performance.now();
  }, 20);
  const start = at;
  // Chrome lets a thread go on for two seconds.
  const said = await engine.trace(problem, parameters, { method: "hutchinson", probes: 1000 }).then(
    () => "finished",
    ({ code, message }) => `${code}: ${message}`,
  );
  clearInterval(ticking);
  engine.free();
  return { said, ms: performance.now() - start, longest };
}

/** Engines that stay, so that their workers can be counted; `free` ends them. */
const engines = [];
export async function keep(isoflat, threads) {
  const engine = await isoflat.Engine.create({ backend: "cpu", threads });
  engines.push({ engine, ...problemOf(isoflat) });
  return engine.info.threads;
}
export async function free() {
  // The last call has not ended when its engine is freed.
  const { engine, problem, parameters } = engines[0];
  const running = engine.gradient(problem, parameters);
  for (const { engine } of engines.splice(0)) engine.free();
  return (await running).length;
}

/** Workers whose program is changed on its way: what a fault there does to the engine. */
async function withProgram(change, body) {
  const { Blob } = globalThis;
  globalThis.Blob = class extends Blob {
    constructor(parts, options) {
      super(parts.map(change), options);
    }
  };
  try {
    return await body();
  } finally {
    globalThis.Blob = Blob;
  }
}

/** A thread fails at its fifth message: the call rejects, so do the next ones, and another engine works. */
export async function fail(isoflat) {
  const answer = "wasm.isoflat_helper_answer()";
  const fault = `(globalThis.n = (globalThis.n ?? 0) + 1) > 4 ? (() => { throw new RangeError("out of luck"); })() : ${answer}`;
  const change = (text) => {
    if (!text.includes(answer)) throw new Error("the helpers' program has changed: so must this test");
    return text.replace(answer, `(${fault})`);
  };
  return withProgram(change, async () => {
    const engine = await isoflat.Engine.create({ backend: "cpu", threads: 3 });
    const { problem, parameters } = problemOf(isoflat);
    const said = [];
    for (let call = 0; call < 3; call++) {
      await engine.measure(problem, parameters, { measures: ["hessian.max_eigenvalue"] }).then(
        () => said.push("finished"),
        (error) => said.push(`${error instanceof isoflat.IsoflatError} ${error.code}: ${error.message}`),
      );
    }
    engine.free();
    return said;
  });
}

/** A program that does not even start. */
export function failToStart(isoflat) {
  const change = () => "throw new Error('no such luck')";
  return withProgram(change, () => ask(isoflat, 2));
}
