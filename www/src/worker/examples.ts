/** A few samples that one can look at, and what the network says of them. */

import { type Engine, Problem, type RunOptions } from "isoflat";
import { imageShape, imagesOf } from "./images";
import type { Examples as Found } from "./protocol";
import type { Session } from "./session";

/** How many are shown. */
const SHOWN = 10;
/** They are looked for among the first of the data: one of each class is nearly always there. */
const AMONG = 500;

export class Examples {
  #problem: Problem | undefined;

  constructor(private readonly session: Session) {
    session.lost.push(() => {
      this.#problem = undefined;
    });
  }

  /** Another network, or other data. */
  forget(): void {
    this.#problem?.free();
    this.#problem = undefined;
  }

  async show(engine: Engine, options: RunOptions): Promise<Found> {
    const { model } = this.session;
    const problem = this.#chosen();
    const { inputs, targets, loss } = problem.data;
    const shape = imageShape(model.network);
    let [minimum, maximum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const x of inputs) [minimum, maximum] = [Math.min(minimum, x), Math.max(maximum, x)];
    return {
      of: model.validation ? "test" : "measured",
      labels: loss === "cross_entropy" ? Array.from(targets) : [],
      images: shape ? imagesOf(inputs, shape, { minimum, maximum }, SHOWN) : [],
      answers: await this.answers(engine, options, model.trained),
    };
  }

  /** Sample by sample the probability of each class, or the outputs themselves. */
  async answers(engine: Engine, options: RunOptions, parameters: Float64Array): Promise<number[][]> {
    const problem = this.#chosen();
    const outputs = await engine.outputs(problem, parameters, options);
    const width = outputs.length / problem.samples;
    return Array.from({ length: problem.samples }, (_, sample) => {
      const own = Array.from(outputs.subarray(sample * width, (sample + 1) * width));
      return problem.loss === "cross_entropy" ? softmax(own) : own;
    });
  }

  #chosen(): Problem {
    if (this.#problem) return this.#problem;
    const { network, validation, measured } = this.session.model;
    const some = (validation ?? measured).first(AMONG);
    const { data, samples } = some;
    some.free();
    const isOfClasses = data.loss === "cross_entropy";
    const order = isOfClasses ? oneOfEach(data.targets) : Array.from({ length: samples }, (_, sample) => sample);
    const chosen = order.slice(0, SHOWN);
    const inputs = rows(data.inputs, network.inputLength, chosen);
    this.#problem = new Problem(
      network,
      isOfClasses
        ? { loss: data.loss, inputs, targets: rows(data.targets, 1, chosen) }
        : { loss: data.loss, inputs, targets: rows(data.targets, data.targets.length / samples, chosen) },
    );
    return this.#problem;
  }
}

/** The first sample of each class in the classes' order, then the others. */
function oneOfEach(targets: ArrayLike<number>): number[] {
  const first = new Map<number, number>();
  const others: number[] = [];
  for (let sample = 0; sample < targets.length; sample++) {
    const target = targets[sample] ?? 0;
    if (first.has(target)) others.push(sample);
    else first.set(target, sample);
  }
  return [...[...first].sort(([a], [b]) => a - b).map(([, sample]) => sample), ...others];
}

function rows<T extends Float32Array | Float64Array | Uint32Array>(values: T, width: number, chosen: number[]): T {
  const taken = values.slice(0, chosen.length * width) as T;
  chosen.forEach((row, index) => {
    taken.set(values.subarray(row * width, (row + 1) * width), index * width);
  });
  return taken;
}

function softmax(outputs: number[]): number[] {
  const highest = Math.max(...outputs);
  const powers = outputs.map((output) => Math.exp(output - highest));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}
