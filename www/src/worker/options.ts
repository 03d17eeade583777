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

export function layerNames(network: Network): string[] {
  return network
    .blocks()
    .filter((block) => block.kind === "weight")
    .map((block) => `${block.inputs} → ${block.outputs}`);
}
