/** Only type-checked: what a strict TypeScript program may write, and what it may not. */

import init, {
  type BackendInfo,
  crash,
  Engine,
  type InvarianceTable,
  IsoflatError,
  type IsoflatErrorCode,
  type Landscape,
  Network,
  Problem,
  type Transformation,
} from "isoflat";
import { Engine as InlineEngine } from "isoflat/inline";
import type wasm from "isoflat/isoflat_bg.wasm";
import type filesWasm from "isoflat/isoflat_files_bg.wasm";
import type relaxedWasm from "isoflat/isoflat_relaxed_bg.wasm";

export async function flatness(wasm: Uint8Array, signal: AbortSignal): Promise<number | IsoflatErrorCode> {
  await init({ module_or_path: wasm });
  const network: Network = Network.preset("f1");
  const problem = new Problem(network, {
    loss: "cross_entropy",
    inputs: new Float32Array(network.inputLength),
    targets: [3],
  });
  const engine = await Engine.create({ backend: "auto", precision: "f64", threads: "auto" });
  const info: BackendInfo = engine.info;
  const parameters: Float64Array = network.initialize({ seed: 1, scheme: "uniform", bound: 0.1 });
  const rescalings: Transformation[] = [{ type: "random_nodewise", seed: 1, low: 0.1, high: 10 }];
  try {
    const table: InvarianceTable = await engine.invariance(problem, parameters, {
      transformations: rescalings,
      signal,
      onProgress: ({ phase, done, total }) => console.log(phase, done / total, info.adapter),
    });
    const landscape: Landscape = await engine.landscape(problem, parameters, {
      directions: [
        { type: "random", seed: 1 },
        { type: "eigenvector", index: 0 },
      ],
      normalization: "filter",
    });
    return (table.cells[0]?.relativeChange ?? 0) + landscape.center;
  } catch (error) {
    if (error instanceof IsoflatError) return error.code;
    throw error;
  } finally {
    engine.free();
    problem.free();
    network.free();
  }
}

void Engine.create({ threads: 4 }).then(({ info }) => info.threads satisfies number);
// @ts-expect-error threads are a number or "auto"
void Engine.create({ threads: "all" });
// An engine in a worker is an engine.
void Engine.create({ worker: true }).then((engine: Engine) => crash(engine));
// @ts-expect-error a worker is the engine's own, and no program of the caller's
void Engine.create({ worker: new URL("worker.js", "https://isoflat.example") });
export const isMissing = (code: IsoflatErrorCode): boolean => code === "worker_unavailable";
// What a result says is what may be asked for.
void Engine.create({ backend: "cpu" }).then(({ info }) => Engine.create({ backend: info.backend }));
// @ts-expect-error a misspelt backend
void Engine.create({ backend: "webgl" });
// @ts-expect-error a bound belongs to the uniform scheme only
Network.preset("small").initialize({ scheme: "kaiming_normal", bound: 1 });
Network.fromJSON({
  input: [3, 32, 32],
  layers: [
    { type: "conv2d", channels: 8, kernel: [3, 5], stride: 2, padding: [1, 2] },
    { type: "max_pool2d", size: 3, stride: [2, 1] },
    { type: "flatten" },
    { type: "dense", units: 10 },
  ],
});
// @ts-expect-error images have three sides
Network.fromJSON({ input: [32, 32], layers: [{ type: "dense", units: 10 }] });
// @ts-expect-error a pool has a size, not a kernel
Network.fromJSON({ input: [1, 8, 8], layers: [{ type: "avg_pool2d", kernel: 2 }] });
// @ts-expect-error a batch normalisation must be folded
Network.fromJSON({ input: [8], layers: [{ type: "batch_norm", mean: [0], variance: [1] }] });
const folded: { network: Network; parameters: Float64Array } = Network.foldBatchNorm(
  {
    input: [1],
    layers: [
      { type: "dense", units: 1 },
      { type: "batch_norm", mean: [0], variance: [1], epsilon: 0 },
    ],
  },
  new Float32Array(2),
);
folded.network.inputShape satisfies [number] | [number, number, number];
// @ts-expect-error an unknown preset
Network.preset("resnet");

// Handles are disposable, with or without TypeScript's own declaration of that.
folded.network[Symbol.dispose]();
// The entry that carries its modules is the same package.
InlineEngine satisfies typeof Engine;
export type Modules = [typeof wasm, typeof filesWasm, typeof relaxedWasm];
export const compiled = (modules: Modules): WebAssembly.Module[] => modules;
void init().then(({ memory }) => memory satisfies WebAssembly.Memory);
// @ts-expect-error the module's own exports are nobody's business
void init().then((module) => module.isoflat_last_panic);

// The module by either name. (A compiled one is any object to TypeScript, so that other names are refused at run time alone.)
export const started = (bytes: Uint8Array): Promise<unknown>[] => [
  init(),
  init(bytes),
  init({ module: bytes }),
  init({ module: fetch("https://isoflat.example/isoflat_bg.wasm") }),
  init({ module_or_path: bytes }),
];

// What is read of results, and asked for, by its name.
export async function named(engine: Engine, problem: Problem, parameters: Float64Array): Promise<void> {
  const { values } = await engine.report(problem, parameters, { sections: ["hessian", "riemannian"] });
  values.hessian?.spectralNorm satisfies number | undefined;
  values.riemannian?.layerwiseLeviCivita.topEigenvalues satisfies number[] | undefined;
  values.density?.hessian.densityError satisfies number[] | undefined;
  // @ts-expect-error results have names in JavaScript's case
  void values.hessian?.spectral_norm;
  // @ts-expect-error operators' names are values, and in a report no properties
  void values.riemannian?.layerwise_levi_civita;
  const measures = ["hessian.spectral_norm", "petzka.kappa_max"] as const;
  await engine.measure(problem, parameters, { measures });
  // @ts-expect-error a measure's key is what describeMeasures() says
  await engine.measure(problem, parameters, { measures: ["hessian.spectralNorm"] });
  // @ts-expect-error and no result has another
  (await engine.measure(problem, parameters)).values.find(({ key }) => key === "hessian.norm");
  await engine.eigenvalues(problem, parameters, { operator: "hessian.layer_2" });
  // @ts-expect-error layers have numbers
  await engine.eigenvalues(problem, parameters, { operator: "hessian.layer_last" });
  // @ts-expect-error a misnamed section
  await engine.report(problem, parameters, { sections: ["gaussNewton"] });
}
