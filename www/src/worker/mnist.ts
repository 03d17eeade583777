/** MNIST as the build has packed it: gzipped IDX files beside the page. */

import { parseIdx } from "isoflat";
import { LabFailure } from "./protocol";

export interface LabelledImages {
  /** samples × 784, in [0, 1]. */
  inputs: Float32Array;
  targets: Uint8Array;
}

async function inflated(url: URL): Promise<Uint8Array> {
  const response = await fetch(url).catch((cause: unknown) => {
    throw new LabFailure("download", `${url.pathname} could not be loaded: ${String(cause)}`);
  });
  if (!response.ok || response.body === null) {
    throw new LabFailure("download", `${url.pathname} could not be loaded: the server answered ${response.status}`);
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  // Some servers undo the gzip themselves.
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function read(folder: URL, name: string): Promise<LabelledImages> {
  const [images, labels] = await Promise.all([
    inflated(new URL(`${name}-images.idx.gz`, folder)),
    inflated(new URL(`${name}-labels.idx.gz`, folder)),
  ]);
  const pixels = parseIdx(images).values;
  const inputs = new Float32Array(pixels.length);
  for (let i = 0; i < pixels.length; i++) inputs[i] = (pixels[i] ?? 0) / 255;
  return { inputs, targets: parseIdx(labels).values };
}

export async function loadMnist(folder: URL): Promise<{ train: LabelledImages; test: LabelledImages }> {
  const [train, test] = await Promise.all([read(folder, "train"), read(folder, "test")]);
  return { train, test };
}
