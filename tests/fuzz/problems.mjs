/** Small problems, as files and as handles. A problem is described by a few numbers, so that a case that uses it stays small. */

import { Random } from "./random.mjs";

const activations = [
  { type: "relu" },
  { type: "leaky_relu", slope: 0.1 },
  { type: "identity" },
  { type: "relu6" },
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

/** Networks that are graphs: branches that meet, groups, frozen normalisations, skips over images and over rows. */
function graph(random) {
  const channels = random.pick([2, 4]);
  const activation = random.chance(0.7) ? activations[0] : random.pick(activations);
  const same = (more) => ({ type: "conv2d", channels, kernel: 3, padding: 1, ...more });
  const images = { input: [random.between(1, 2), random.between(4, 6), random.between(4, 6)] };
  const tail = [
    { type: random.pick(["global_avg_pool2d", "identity"]) },
    { type: "flatten" },
    { type: "dense", units: random.between(2, 3) },
  ];
  const stem = [same(), { type: "scale", bias: random.chance(0.5) }, { ...activation, name: "stem" }];
  return random.pick([
    () => ({
      ...images,
      layers: [
        ...stem,
        same({ groups: 2 }),
        activation,
        same({ bias: false, name: "inside" }),
        { type: "add", from: ["inside", "stem"] },
        activation,
        ...tail,
      ],
    }),
    () => ({
      ...images,
      layers: [
        ...stem,
        { type: "avg_pool2d", size: 1, stride: 2, name: "half" },
        { type: "pad_channels", before: 1, after: random.between(0, 1), name: "short" },
        { type: "conv2d", channels: 1, kernel: 3, stride: 2, padding: 1, from: "stem", name: "long" },
        { type: "concat", from: ["short", "long"] },
        { type: "max_pool2d", size: 2, stride: 1, padding: [1, 0, 0, 1] },
        activation,
        ...tail,
      ],
    }),
    () => ({
      ...images,
      layers: [
        same({ groups: 1, dilation: random.between(1, 2), padding: [2, 1, 2, 2] }),
        activation,
        same({ groups: channels }),
        { type: "scale" },
        activation,
        ...tail,
      ],
    }),
    () => {
      const width = random.between(1, 6);
      return {
        input: [width],
        layers: [
          { type: "dense", units: width, name: "a" },
          activation,
          { type: "dense", units: width, name: "b" },
          { type: random.pick(["add", "concat"]), from: ["b", "a", "input"] },
          activation,
          { type: "dense", units: random.between(2, 3) },
        ],
      };
    },
  ])();
}

/** A small network of any kind. */
export function network(random, { convolutions = true } = {}) {
  if (convolutions && random.chance(0.2)) return convolutional(random);
  if (convolutions && random.chance(0.25)) return graph(random);
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
const sides = (padding) => (pair(padding).length === 4 ? padding : [...pair(padding), ...pair(padding)]);
const length = (shape) => shape.reduce((a, b) => a * b, 1);

/** What a layer that reads these shapes puts out, and its weights as [rows, columns]. A row of n features is [n, 1, 1]. */
function infer(layer, reads) {
  const [read] = reads;
  if (layer?.type === "dense") return { shape: [layer.units, 1, 1], weights: [layer.units, length(read)] };
  if (layer?.type === "scale") return { shape: read, weights: [read[0], 1] };
  if (layer?.type === "add") return { shape: read };
  if (layer?.type === "concat")
    return { shape: [reads.reduce((sum, [channels]) => sum + channels, 0), read[1], read[2]] };
  if (layer?.type === "pad_channels")
    return { shape: [(layer.before ?? 0) + read[0] + (layer.after ?? 0), read[1], read[2]] };
  if (layer?.type === "global_avg_pool2d") return { shape: [read[0], 1, 1] };
  if (layer?.type === "flatten") return { shape: [length(read), 1, 1] };
  if (layer?.type !== "conv2d" && !layer?.type?.endsWith?.("pool2d")) return { shape: read };
  const window = pair(layer.kernel ?? layer.size);
  const stride = pair(layer.stride ?? (layer.kernel === undefined ? layer.size : 1));
  const dilation = pair(layer.dilation ?? 1);
  const around = sides(layer.padding ?? 0);
  const channels = layer.channels ?? read[0];
  const along = (axis) => {
    const padded = read[axis + 1] + around[axis] + around[axis + 2];
    return Math.floor((padded - (window[axis] - 1) * dilation[axis] - 1) / stride[axis]) + 1;
  };
  const shape = [channels, along(0), along(1)];
  return layer.type === "conv2d"
    ? { shape, weights: [channels, (read[0] / (layer.groups ?? 1)) * window[0] * window[1]] }
    : { shape };
}

/** Shapes after each layer, the weights of those that have some and the number of parameters, by arithmetic of this file's own; undefined where they cannot be. */
export function shapes({ input, layers }) {
  if (!Array.isArray(input) || !Array.isArray(layers)) return undefined;
  const first = input.length === 1 ? [input[0], 1, 1] : input;
  const named = new Map([["input", first]]);
  const found = [];
  const weights = [];
  let parameters = 0;
  for (const layer of layers) {
    const from = layer?.from === undefined ? undefined : Array.isArray(layer.from) ? layer.from : [layer.from];
    const before = found.at(-1) ?? first;
    const reads = from?.length ? from.map((name) => named.get(name) ?? before) : [before];
    const inferred = infer(layer, reads);
    if (inferred.weights) {
      const [rows, columns] = inferred.weights;
      parameters += rows * (columns + (layer.bias === false ? 0 : 1));
    }
    found.push(inferred.shape);
    weights.push(inferred.weights);
    if (typeof layer?.name === "string") named.set(layer.name, inferred.shape);
  }
  return { shapes: found, weights, parameters };
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
  network.layers.forEach((layer, i) => {
    if (!found.weights[i]) return;
    const [rows, fan] = found.weights[i];
    const values = count(rows * fan);
    for (let i = 0; i < values; i++) weights.push(weightScale * Math.sqrt(2 / fan) * random.normal());
    if (layer.bias !== false) for (let i = 0; i < rows; i++) weights.push(0.1 * weightScale * random.normal());
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
