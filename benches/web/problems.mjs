/** The same work for everyone: networks, weights, data and directions from one seeded generator. */

const dense = (units) => ({ type: "dense", units, bias: true });
const relu = { type: "relu" };
const conv = (channels) => ({ type: "conv2d", channels, kernel: [5, 5], stride: [1, 1], padding: [0, 0], bias: true });
const pool = { type: "max_pool2d", size: [2, 2], stride: [2, 2] };
const mlp = (widths) => widths.flatMap((units, i) => (i + 1 < widths.length ? [dense(units), relu] : [dense(units)]));

export const works = {
  f1: {
    title: "F1: 784-300-100-10, 500 samples",
    samples: 500,
    network: { input: [784], layers: mlp([300, 100, 10]) },
    operations: ["gradient", "product"],
  },
  c1: {
    title: "C1: conv5×5×10, pool, conv5×5×20, pool, 120-84-10 on 1×28×28, 500 samples",
    samples: 500,
    network: {
      input: [1, 28, 28],
      layers: [conv(10), relu, pool, conv(20), relu, pool, { type: "flatten" }, ...mlp([120, 84, 10])],
    },
    operations: ["gradient", "product"],
  },
  wide: {
    title: "784-512×5-10, 2000 samples",
    samples: 2000,
    network: { input: [784], layers: mlp([512, 512, 512, 512, 512, 10]) },
    operations: ["gradient", "product"],
  },
  landscape: {
    title: "Landscape of F1: 21 × 21 losses, 500 samples",
    samples: 500,
    network: { input: [784], layers: mlp([300, 100, 10]) },
    operations: ["landscape"],
    points: 21,
  },
};

/** mulberry32: small, seeded, the same everywhere. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Shapes of the weights, layer by layer, and of the images between them. */
function shapes({ input, layers }) {
  const blocks = [];
  let shape = input;
  for (const layer of layers) {
    if (layer.type === "dense") {
      blocks.push({ weight: [layer.units, shape[0]], fan: shape[0], bias: layer.units });
      shape = [layer.units];
    } else if (layer.type === "conv2d") {
      const [channels, height, width] = shape;
      blocks.push({ weight: [layer.channels, channels, 5, 5], fan: channels * 25, bias: layer.channels });
      shape = [layer.channels, height - 4, width - 4];
    } else if (layer.type === "max_pool2d") shape = [shape[0], shape[1] / 2, shape[2] / 2];
    else if (layer.type === "flatten") shape = [shape.reduce((a, b) => a * b)];
  }
  return blocks;
}

const size = (shape) => shape.reduce((a, b) => a * b, 1);

/** Kaiming's uniform weights, times `scale`. */
function draw(blocks, random, scale) {
  const values = [];
  for (const { weight, fan, bias } of blocks) {
    for (let i = 0; i < size(weight); i++) values.push(scale * Math.sqrt(6 / fan) * (2 * random() - 1));
    for (let i = 0; i < bias; i++) values.push((scale / Math.sqrt(fan)) * (2 * random() - 1));
  }
  return Float32Array.from(values);
}

export function problem(name) {
  const { samples, network, points } = works[name];
  const random = generator(1);
  const blocks = shapes(network);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return {
    name,
    samples,
    network,
    points,
    blocks,
    inputs: Float32Array.from({ length: samples * size(network.input) }, normal),
    labels: Uint32Array.from({ length: samples }, () => Math.floor(10 * random())),
    parameters: draw(blocks, random, 1),
    direction: draw(blocks, random, 1),
    u: draw(blocks, random, 0.5),
    v: draw(blocks, random, 0.5),
  };
}

/** A flat vector as [weight, bias, weight, bias, …] with their shapes. */
export function split(blocks, vector) {
  let start = 0;
  const take = (shape) => {
    const values = vector.slice(start, start + size(shape));
    start += values.length;
    return { shape, values };
  };
  return blocks.flatMap(({ weight, bias }) => [take(weight), take([bias])]);
}

export function join(pieces) {
  const joined = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let start = 0;
  for (const piece of pieces) {
    joined.set(piece, start);
    start += piece.length;
  }
  return joined;
}

/** s and t run over these; the same numbers as isoflat's axes. */
export const coordinates = (points) => Array.from({ length: points }, (_, i) => (2 * i - (points - 1)) / (points - 1));
