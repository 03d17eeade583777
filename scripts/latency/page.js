/** In the page of `npm run latency -- --held`: work by its name, to be listened to. */

let work;

/** Makes the network's problem and gives the names of what can be listened to. */
globalThis.prepare = async (name) => {
  const { default: init, Engine, Network, Problem, describeMeasures } = globalThis.isoflat;
  await init();
  const network = name === "dense" ? Network.dense([784, 300, 100, 10]) : Network.preset(name);
  const problem = Problem.synthetic(network, { samples: 500, seed: 1 });
  const theta = network.initialize({ seed: 1 });
  const other = network.initialize({ seed: 2 });
  const engine = await Engine.create({ backend: "cpu" });
  // Memory is taken and code is compiled once.
  await engine.gradient(problem, theta);
  const layerwise = { type: "random_layerwise", seed: 1, low: 0.5, high: 2 };
  const methods = {
    evaluate: {},
    outputs: {},
    gradient: {},
    eigenvalues: { top: 5, bottom: 1, vectors: true },
    density: {},
    trace: {},
    diagonal: {},
    leastTrace: {},
    petzka: {},
    sharpness: {},
    averageSharpness: {},
    noiseInjection: { layer: 2, delta: 0.01 },
    sharpen: { target: 1e4 },
    volumeFlatness: {},
    constantInBall: { epsilon: 0.1 },
    train: { epochs: 3 },
    estimate: {},
    landscape: { directions: [0, 1].map((seed) => ({ type: "random", seed })), points: 5 },
    invariance: { transformations: [layerwise], measures: ["hessian.spectral_norm", "petzka.kappa_max"] },
    report: {},
  };
  const at = (method, options) => (controls) => engine[method](problem, theta, { ...options, ...controls });
  const way = Array.from({ length: 20 }, (_, seed) => network.initialize({ seed }));
  work = {
    ...Object.fromEntries(Object.entries(methods).map(([method, options]) => [method, at(method, options)])),
    "gradient at another point": (controls) => engine.gradient(problem, other, controls),
    product: (controls) => engine.product(problem, theta, other, controls),
    "eigenvalues in the G-space": at("eigenvalues", { space: { type: "g_space" } }),
    "train in the G-space": at("train", { epochs: 3, space: { type: "g_space" } }),
    "train with weight normalisation": at("train", { epochs: 3, space: { type: "weight_norm" } }),
    "sharpness in a subspace": at("sharpness", { region: { type: "subspace", dimension: 100 } }),
    "landscape, normalised by filter": at("landscape", { ...methods.landscape, normalization: "filter" }),
    principalComponents: (controls) => network.principalComponents(way, controls),
    balance: (controls) => network.balance(theta, controls),
    ...Object.fromEntries(describeMeasures().map(({ key }) => [`measure ${key}`, at("measure", { measures: [key] })])),
  };
  return Object.keys(work);
};

/** Runs it for so long at most, and says how long it took. */
globalThis.listen = async (name, ms) => {
  const stop = new AbortController();
  const start = performance.now();
  const timer = setTimeout(() => stop.abort(), ms);
  try {
    await work[name]({ signal: stop.signal });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  clearTimeout(timer);
  const took = performance.now() - start;
  // What was stopped ends within a step, and is none of the next one's.
  await new Promise((resolve) => setTimeout(resolve, 300));
  return took;
};
