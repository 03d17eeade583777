/** Only type-checked: what a strict TypeScript program may write, and what it may not. */

import init, {
  type BackendInfo,
  Engine,
  type InvarianceTable,
  IsoflatError,
  type IsoflatErrorCode,
  type Landscape,
  Network,
  Problem,
  type Transformation,
} from "isoflat";

export async function flatness(wasm: Uint8Array, signal: AbortSignal): Promise<number | IsoflatErrorCode> {
  await init({ module_or_path: wasm });
  const network: Network = Network.preset("f1");
  const problem = new Problem(network, {
    loss: "cross_entropy",
    inputs: new Float32Array(network.inputLength),
    targets: [3],
  });
  const engine = await Engine.create({ backend: "auto", precision: "f64" });
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

// @ts-expect-error a misspelt backend
void Engine.create({ backend: "gpu" });
// @ts-expect-error a bound belongs to the uniform scheme only
Network.preset("small").initialize({ scheme: "kaiming_normal", bound: 1 });
// @ts-expect-error an unknown preset
Network.preset("resnet");
