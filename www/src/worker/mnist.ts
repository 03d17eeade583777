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

/** How many training images come first; the others are loaded only when more are asked for. */
const FIRST = 24000;

/** The data set beside the page, each part loaded once. A part that failed is tried again at the next call. */
export class Mnist {
  readonly #parts = new Map<string, Promise<LabelledImages>>();
  #whole: LabelledImages | undefined;

  constructor(private readonly folder: URL) {}

  /** At least so many training images, if there are as many. */
  async train(samples: number): Promise<LabelledImages> {
    if (samples <= FIRST) return this.#part("train");
    if (this.#whole) return this.#whole;
    const [first, rest] = await Promise.all([this.#part("train"), this.#part("rest")]);
    const inputs = new Float32Array(first.inputs.length + rest.inputs.length);
    inputs.set(first.inputs);
    inputs.set(rest.inputs, first.inputs.length);
    const targets = new Uint8Array(first.targets.length + rest.targets.length);
    targets.set(first.targets);
    targets.set(rest.targets, first.targets.length);
    this.#whole = { inputs, targets };
    // 113 MB that are in the whole now.
    this.#parts.delete("rest");
    return this.#whole;
  }

  test(): Promise<LabelledImages> {
    return this.#part("test");
  }

  #part(name: string): Promise<LabelledImages> {
    const known = this.#parts.get(name);
    if (known) return known;
    const part = read(this.folder, name);
    this.#parts.set(name, part);
    part.catch(() => this.#parts.delete(name));
    return part;
  }
}
