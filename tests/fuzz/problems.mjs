/** Small problems, as files and as handles. A problem is described by a few numbers, so that a case that uses it stays small. */

import { Random } from "./random.mjs";

const activations = [
  { type: "relu" },
  { type: "leaky_relu", slope: 0.1 },
  { type: "identity" },
  { type: "tanh" },
  { type: "sigmoid" },
  { type: "softplus" },
  { type: "silu" },
  { type: "gelu" },
  { type: "gelu", approximate: "tanh" },
];

/** Dense layers of these widths with this activation between. */
export function dense(widths, { activation = { type: "relu" }, bias = true } = {}) {
  const layers = widths
    .slice(1)
    .flatMap((units, i) => [...(i > 0 ? [activation] : []), { type: "dense", units, bias }]);
  return { input: [widths[0]], layers };
}

const convolutional = (random) => ({
  input: [random.between(1, 2), random.between(4, 6), random.between(4, 6)],
  layers: [
    {
      type: "conv2d",
      channels: random.between(1, 3),
      kernel: random.pick([2, 3, [2, 3]]),
      stride: random.pick([1, 2, [1, 2]]),
      padding: random.pick([0, 1]),
    },
    { type: random.pick(["relu", "tanh", "identity"]) },
    ...(random.chance(0.5)
      ? [{ type: random.pick(["max_pool2d", "avg_pool2d"]), size: 1, stride: random.pick([1, 2]) }]
      : []),
    { type: "flatten" },
    { type: "dense", units: random.between(2, 3) },
  ],
});

/** A small network of any kind. */
export function network(random, { convolutions = true } = {}) {
  if (convolutions && random.chance(0.2)) return convolutional(random);
  const hidden = Array.from({ length: random.between(0, 3) }, () => random.between(1, 8));
  return dense([random.between(1, 6), ...hidden, random.between(2, 4)], {
    activation: random.chance(0.7) ? activations[0] : random.pick(activations),
    bias: random.chance(0.7),
  });
}

/** A problem's description. */
export const problem = (random, rest = {}) => ({
  network: network(random, rest),
  loss: random.pick(["cross_entropy", "cross_entropy", "squared_error"]),
  samples: random.between(1, 12),
  seed: random.int(1e6),
  ...rest,
});

const pair = (size) => (Array.isArray(size) ? size : [size, size]);

/** Shapes after each layer and the number of parameters, by arithmetic of this file's own; undefined where they cannot be. */
export function shapes({ input, layers }) {
  if (!Array.isArray(input) || !Array.isArray(layers)) return undefined;
  let shape = input.length === 1 ? [1, 1, input[0]] : input;
  const found = [];
  let parameters = 0;
  for (const layer of layers) {
    const inputs = shape[0] * shape[1] * shape[2];
    if (layer?.type === "dense") {
      parameters += layer.units * (inputs + (layer.bias === false ? 0 : 1));
      shape = [1, 1, layer.units];
    } else if (layer?.type === "conv2d" || layer?.type?.endsWith?.("pool2d")) {
      const window = pair(layer.kernel ?? layer.size);
      const stride = pair(layer.stride ?? (layer.kernel === undefined ? layer.size : 1));
      const padding = pair(layer.padding ?? 0);
      const channels = layer.channels ?? shape[0];
      if (layer.type === "conv2d")
        parameters += channels * (shape[0] * window[0] * window[1] + (layer.bias === false ? 0 : 1));
      const along = (axis) => Math.floor((shape[axis + 1] + 2 * padding[axis] - window[axis]) / stride[axis]) + 1;
      shape = [channels, along(0), along(1)];
    }
    found.push(shape);
  }
  return { shapes: found, parameters };
}

/** Bytes that counts among a call's options state: what is asked for so often may be kept, if it is not beyond all bounds. */
export function statedByCounts(value) {
  if (typeof value === "number") return value > 0 && value <= 4e6 ? 40 * value : 0;
  if (value === null || typeof value !== "object") return 0;
  return Object.values(value).reduce((most, inner) => Math.max(most, statedByCounts(inner)), 0);
}

/** Bytes of parameters, data and activations that a problem states: what memory may be in proportion to. */
export function statedBytes(network, samples) {
  const found = shapes(network ?? {});
  if (found === undefined) return 0;
  const values = found.shapes.reduce(
    (sum, [a, b, c]) => sum + a * b * c,
    network.input.reduce((a, b) => a * b, 1),
  );
  const bytes = 8 * (found.parameters + samples * values);
  return Number.isFinite(bytes) && bytes > 0 ? bytes : 0;
}

/** Numbers of a case that are written out: more of them are no case but a trial of this computer. */
const MOST = 4e6;

function count(numbers) {
  if (numbers >= 0 && numbers <= MOST) return numbers;
  throw new RangeError(`a case of ${numbers} numbers`);
}

/**
 * Inputs, targets and parameters of a description.
 *
 * Throws a RangeError where they are too many.
 */
export function data({ network, loss, samples, seed, inputScale = 1, weightScale = 1 }) {
  const random = new Random(`data ${seed}`);
  const found = shapes(network);
  const outputs = found.shapes.at(-1).reduce((a, b) => a * b, 1);
  const inputs = random.normals(count(samples * network.input.reduce((a, b) => a * b, 1)), inputScale);
  const targets =
    loss === "cross_entropy"
      ? Array.from({ length: samples }, () => random.int(outputs))
      : random.normals(count(samples * outputs));
  const weights = [];
  let fan = network.input.reduce((a, b) => a * b, 1);
  let shape = network.input;
  network.layers.forEach((layer, i) => {
    if (layer.type === "dense" || layer.type === "conv2d") {
      const rows = layer.units ?? layer.channels;
      fan =
        layer.type === "dense"
          ? shape.reduce((a, b) => a * b, 1)
          : shape[0] * pair(layer.kernel)[0] * pair(layer.kernel)[1];
      const values = count(rows * fan);
      for (let i = 0; i < values; i++) weights.push(weightScale * Math.sqrt(2 / fan) * random.normal());
      if (layer.bias !== false) for (let i = 0; i < rows; i++) weights.push(0.1 * weightScale * random.normal());
    }
    shape = found.shapes[i];
  });
  return { inputs, targets, parameters: weights };
}

const rows = (values, length) =>
  Array.from({ length: values.length / length }, (_, i) => values.slice(i * length, (i + 1) * length));

/** The problem file of a description. */
export function file(description) {
  const { network, loss, samples } = description;
  const { inputs, targets, parameters } = data(description);
  return {
    name: "fuzz",
    network,
    loss,
    parameters,
    inputs: rows(inputs, inputs.length / samples),
    targets: loss === "cross_entropy" ? targets : rows(targets, targets.length / samples),
  };
}
