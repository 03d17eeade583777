/** From the page's choices to the engine's options, and from the engine's objects to what the page shows of them. */

import { type FreeTensor, type InitializeOptions, Network, type Problem, type TrainOptions } from "isoflat";
import type { LabelledImages } from "./mnist";
import type { InitChoice, MeasureChoice, ModelInfo, NetworkChoice, TrainChoice } from "./protocol";
import type { Model } from "./session";

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

const PARAMETRIC: ReadonlySet<string> = new Set(["dense", "conv2d", "scale"]);

/** A parametric layer's two lines, or one: `784 → 64`, `conv 5×5, 10 → 20 channels`. */
export function layerNames(network: Network): string[] {
  const layers = network.toJSON().layers.filter(({ type }) => PARAMETRIC.has(type));
  const weights = network.blocks().filter(({ kind }) => kind === "weight");
  return weights.map(({ inputs, outputs }, index) => {
    const layer = layers[index];
    if (layer?.type === "scale") return `scale, ${outputs} channels`;
    if (layer?.type !== "conv2d") return `${inputs} → ${outputs}`;
    const [height, width] = typeof layer.kernel === "number" ? [layer.kernel, layer.kernel] : layer.kernel;
    const channels = (inputs / (height * width)) * (layer.groups ?? 1);
    return `conv ${height}×${width}, ${channels} → ${outputs} channels`;
  });
}

function tensorsOfGraph(network: Network): FreeTensor[] | null {
  // As indices into lists of factors, one a layer.
  const indices = (layers: number[]) => layers.map((layer) => layer - 1);
  const tensors = network
    .freeTensors()
    .map(({ writers, readers }) => ({ writers: indices(writers), readers: indices(readers) }));
  const follow = ({ writers, readers }: FreeTensor, layer: number) =>
    writers.join() === String(layer) && readers.join() === String(layer + 1);
  return tensors.length === network.depth - 1 && tensors.every(follow) ? null : tensors;
}

export function measureOptions(choice: MeasureChoice) {
  return { epsilon: choice.epsilon, probes: choice.probes, ...(choice.keys && { measures: choice.keys }) };
}

/** A problem of at most so many samples: the very same where it has no more. */
export function firstSamples(problem: Problem, samples: number): Problem {
  return problem.samples > samples ? problem.first(Math.max(samples, 1)) : problem;
}

export function firstOf({ inputs, targets }: LabelledImages, samples: number): LabelledImages {
  const length = inputs.length / targets.length;
  return { inputs: inputs.subarray(0, samples * length), targets: targets.subarray(0, samples) };
}

/** Layers that Domain::Dense of the crate has. */
const DENSE: ReadonlySet<string> = new Set([
  "dense",
  "scale",
  "add",
  "concat",
  "pad_channels",
  "relu",
  "leaky_relu",
  "identity",
  "flatten",
]);

/** Before the first weights they leave all values where they are. */
const NEUTRAL: ReadonlySet<string> = new Set(["flatten", "identity"]);

export function infoOf({ name, network, train, validation, measured }: Omit<Model, "trained" | "bent">): ModelInfo {
  return {
    data: name,
    summary: network.summary,
    parameterCount: network.parameterCount,
    inputs: network.inputLength,
    outputs: network.outputLength,
    beginsDense: network.toJSON().layers.find(({ type }) => !NEUTRAL.has(type))?.type === "dense",
    depth: network.depth,
    homogeneous: network.homogeneous,
    piecewiseLinear: network.piecewiseLinear,
    dense: network.toJSON().layers.every(({ type }) => DENSE.has(type)),
    loss: train.loss,
    samples: train.samples,
    validationSamples: validation?.samples ?? 0,
    measuredSamples: measured.samples,
    layers: layerNames(network),
    tensors: tensorsOfGraph(network),
  };
}
