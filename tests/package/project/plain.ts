/** Only type-checked: a program whose compiler knows no browser, and no Node. */

import init, { Engine, type FileInput, type InitInput, initSync, Network, openModel, Problem } from "isoflat";

export async function flatness(bytes: Uint8Array): Promise<number> {
  const where: InitInput = bytes;
  await init(where);
  initSync({ module: bytes });
  const network = Network.dense([2, 3, 2]);
  const problem = Problem.synthetic(network, { samples: 4 });
  const engine = await Engine.create({ backend: "cpu" });
  const { top } = await engine.eigenvalues(problem, network.initialize());
  const file: FileInput = { name: "model.onnx", bytes };
  const opened = await openModel([file, bytes]);
  return (top[0]?.value ?? Number.NaN) + opened.parameters.length;
}

// @ts-expect-error: no object of any kind is a file.
export const none: FileInput = { colour: "red" };
