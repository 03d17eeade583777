/** The first images of MNIST for networks of any kind. */

import { type Network, Problem } from "isoflat";
import type { LabelledImages, Mnist } from "./mnist";

export class QuickData {
  constructor(private readonly mnist: Mnist) {}

  train(network: Network, count: number): Promise<Problem> {
    return this.mnist.train(count).then((images) => firstOf(network, images, count));
  }

  test(network: Network, count: number): Promise<Problem> {
    return this.mnist.test().then((images) => firstOf(network, images, count));
  }
}

const firstOf = (network: Network, { inputs, targets }: LabelledImages, count: number): Problem =>
  new Problem(network, {
    loss: "cross_entropy",
    inputs: inputs.subarray(0, count * network.inputLength),
    targets: targets.subarray(0, count),
  });
