/** From the page's choices to the engine's options. */

import { type InitializeOptions, Network, type TrainOptions } from "isoflat";
import type { InitChoice, NetworkChoice, TrainChoice } from "./protocol";

export function networkOf(choice: NetworkChoice): Network {
  return choice.kind === "preset" ? Network.preset(choice.name) : Network.dense(choice.widths, choice.bias);
}

export function initialize(network: Network, { scheme, scale, seed }: InitChoice): Float64Array {
  const options: InitializeOptions =
    scheme === "uniform"
      ? { scheme, bound: scale, seed }
      : scheme === "normal"
        ? { scheme, sigma: scale, seed }
        : { scheme, seed };
  return network.initialize(options);
}

export function optimizerOf({ optimizer, learningRate }: TrainChoice): NonNullable<TrainOptions["optimizer"]> {
  if (optimizer === "adam") return { type: "adam", learningRate };
  return { type: "sgd", learningRate, momentum: optimizer === "momentum" ? 0.9 : 0 };
}

/** A parametric layer's two lines, or one: `784 → 64`, `conv 5×5, 10 → 20 channels`. */
export function layerNames(network: Network): string[] {
  const layers = network.toJSON().layers.filter(({ type }) => type === "dense" || type === "conv2d");
  const weights = network.blocks().filter(({ kind }) => kind === "weight");
  return weights.map(({ inputs, outputs }, index) => {
    const layer = layers[index];
    if (layer?.type !== "conv2d") return `${inputs} → ${outputs}`;
    const [height, width] = typeof layer.kernel === "number" ? [layer.kernel, layer.kernel] : layer.kernel;
    return `conv ${height}×${width}, ${inputs / (height * width)} → ${outputs} channels`;
  });
}
