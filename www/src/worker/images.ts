/** Inputs as pictures. */

import type { Network } from "isoflat";
import type { Picture } from "./protocol";

/** The shape of the pictures that inputs are: squares where the network takes rows. */
export function imageShape(network: Network): [channels: number, height: number, width: number] | null {
  const [channels, height, width] = network.inputShape;
  if (channels !== undefined && height !== undefined && width !== undefined) {
    return channels === 1 || channels === 3 ? [channels, height, width] : null;
  }
  const grey = Math.sqrt(network.inputLength);
  const colour = Math.sqrt(network.inputLength / 3);
  if (Number.isInteger(grey) && grey >= 8) return [1, grey, grey];
  return Number.isInteger(colour) && colour >= 8 ? [3, colour, colour] : null;
}

/** The first of them, the range of values as grey or as colours. */
export function imagesOf(
  inputs: Float32Array | Float64Array,
  [channels, height, width]: [number, number, number],
  { minimum, maximum }: { minimum: number; maximum: number },
  most: number,
): Picture[] {
  const [area, scale] = [height * width, 255 / (maximum - minimum || 1)];
  const count = Math.min(most, inputs.length / (channels * area));
  return Array.from({ length: count }, (_, image) => {
    const pixels = new Uint8ClampedArray(4 * area);
    for (let i = 0; i < area; i++) {
      for (let c = 0; c < 3; c++) {
        const at = (image * channels + (channels === 3 ? c : 0)) * area + i;
        pixels[4 * i + c] = ((inputs[at] ?? 0) - minimum) * scale;
      }
      pixels[4 * i + 3] = 255;
    }
    return { width, height, pixels };
  });
}
