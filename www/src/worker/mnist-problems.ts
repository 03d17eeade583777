/** The first images of MNIST as problems, for networks of any kind. */

import { type Network, Problem } from "isoflat";
import type { LabelledImages, Mnist } from "./mnist";

export class MnistProblems {
  /** `pixel`: what is made of one, which is in [0, 1]. */
  constructor(
    private readonly mnist: Mnist,
    private readonly pixel?: (pixel: number) => number,
  ) {}

  train(network: Network, count: number): Promise<Problem> {
    return this.mnist.train(count).then((images) => this.#first(network, images, count));
  }

  test(network: Network, count: number): Promise<Problem> {
    return this.mnist.test().then((images) => this.#first(network, images, count));
  }

  #first(network: Network, { inputs, targets }: LabelledImages, count: number): Problem {
    const pixels = inputs.subarray(0, count * network.inputLength);
    return new Problem(network, {
      loss: "cross_entropy",
      inputs: this.pixel ? pixels.map(this.pixel) : pixels,
      targets: targets.subarray(0, count),
    });
  }
}
