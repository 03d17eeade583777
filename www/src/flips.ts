/** What every ReLU and max pool of a network chooses: a rescaling moves none of them, but for rounding, which is then a flip. */

import type { LayerJSON, NetworkJSON } from "isoflat";

/** The layers before one that chooses: a network whose outputs are what that layer sees. */
export interface Beginning {
  network: NetworkJSON;
  chooses: "relu" | "max_pool2d";
  /** A ReLU's own work is left to who asks, for no network ends with one. */
  isAfterRelu: boolean;
  /** Of the image that the layer sees; 0 of a flat row. */
  channels: number;
}

/** Of a chain. */
export function beginningsOf({ input, layers }: NetworkJSON): Beginning[] {
  return layers.flatMap((layer, index): Beginning[] => {
    if (layer.type !== "relu" && layer.type !== "max_pool2d") return [];
    const isAfterRelu = layer.type !== "relu" && layers[index - 1]?.type === "relu";
    const before = layers.slice(0, isAfterRelu ? index - 1 : index);
    const isFlat = input.length === 1 || before.some(({ type }) => type === "flatten");
    const channels = isFlat ? 0 : before.reduce((count, each) => channelsBehind(each, count), input[0]);
    const ending: LayerJSON[] = isFlat ? [] : [{ type: "flatten" }];
    return [{ network: { input, layers: [...before, ...ending] }, chooses: layer.type, isAfterRelu, channels }];
  });
}

const channelsBehind = (layer: LayerJSON, before: number): number =>
  layer.type === "conv2d" ? layer.channels : before;

/** What the layer chooses among what it sees, sample by sample. Pools are of 2 × 2, side by side. */
export function choicesAmong(values: Float64Array, samples: number, beginning: Beginning): Uint8Array {
  const { chooses, isAfterRelu, channels } = beginning;
  if (chooses === "relu") return Uint8Array.from(values, (z) => Number(z > 0));
  const seen = isAfterRelu ? values.map((z) => Math.max(z, 0)) : values;
  return largest(seen, Math.sqrt(values.length / (samples * channels)));
}

/** Of windows of 2 × 2, which of the four; the first of equals. */
function largest(values: Float64Array, width: number): Uint8Array {
  const half = Math.floor(width / 2);
  const images = values.length / width ** 2;
  const steps = [0, 1, width, width + 1];
  const found = new Uint8Array(images * half ** 2);
  let at = 0;
  for (let image = 0; image < images; image++) {
    for (let y = 0; y < half; y++) {
      for (let x = 0; x < half; x++) {
        const corner = image * width ** 2 + 2 * y * width + 2 * x;
        let most = Number.NEGATIVE_INFINITY;
        for (let which = 0; which < steps.length; which++) {
          const value = values[corner + (steps[which] ?? 0)] ?? Number.NaN;
          if (value > most) [most, found[at]] = [value, which];
        }
        at++;
      }
    }
  }
  return found;
}

/** How many of them are others. */
export const flipsBetween = (a: readonly Uint8Array[], b: readonly Uint8Array[]): number =>
  a.reduce((sum, choices, layer) => sum + choices.reduce((all, one, at) => all + Number(one !== b[layer]?.[at]), 0), 0);
