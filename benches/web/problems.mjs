/** The same work for everyone: networks, weights, data and directions from one seeded generator. */

const dense = (units) => ({ type: "dense", units, bias: true });
const relu = { type: "relu" };
const square = (channels, kernel, stride, padding, bias) => {
  const twice = (n) => [n, n];
  return {
    type: "conv2d",
    channels,
    kernel: twice(kernel),
    stride: twice(stride),
    padding: twice(padding),
    bias,
  };
};
const conv = (channels, padding = 0) => square(channels, 5, 1, padding, true);
const pool = { type: "max_pool2d", size: [2, 2], stride: [2, 2] };
const mlp = (widths) => widths.flatMap((units, i) => (i + 1 < widths.length ? [dense(units), relu] : [dense(units)]));

/** He et al.'s for small images: three stages of blocks of two 3 × 3 convolutions with frozen normalisations, shortcuts padded by zeros. */
function resnet(stages, blocks) {
  const scale = { type: "scale", bias: true };
  const three = (channels, stride) => [square(channels, 3, stride, 1, false), { ...scale }];
  const layers = [...three(stages[0], 1), { ...relu, name: "0" }];
  let [before, channels] = ["0", stages[0]];
  for (const [stage, wanted] of stages.entries()) {
    for (let block = 0; block < blocks; block++) {
      const name = `${stage + 1}.${block + 1}`;
      const more = (wanted - channels) / 2;
      const stride = more > 0 ? 2 : 1;
      const [first, ...rest] = [...three(wanted, stride), relu, ...three(wanted, 1)];
      layers.push({ ...first, from: before }, ...rest);
      layers.at(-1).name = `${name} inside`;
      let around = before;
      if (more > 0) {
        around = `${name} around`;
        layers.push({ type: "avg_pool2d", size: [1, 1], stride: [2, 2], from: before });
        layers.push({ type: "pad_channels", before: more, after: more, name: around });
      }
      layers.push({ type: "add", from: [`${name} inside`, around] }, { ...relu, name });
      [before, channels] = [name, wanted];
    }
  }
  return [...layers, { type: "global_avg_pool2d" }, { type: "flatten" }, dense(10)];
}

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
  lenet: {
    title: "LeNet-5 on 1×28×28, 500 samples",
    samples: 500,
    network: {
      input: [1, 28, 28],
      layers: [conv(6, 2), relu, pool, conv(16), relu, pool, { type: "flatten" }, ...mlp([120, 84, 10])],
    },
    operations: ["gradient", "product"],
  },
  resnet8: {
    title: "ResNet-8 of 8, 16 and 32 channels on 1×28×28, 128 samples",
    samples: 128,
    network: { input: [1, 28, 28], layers: resnet([8, 16, 32], 1) },
    operations: ["gradient", "product"],
  },
  resnet20: {
    title: "ResNet-20 on 3×32×32, 32 samples",
    samples: 32,
    network: { input: [3, 32, 32], layers: resnet([16, 32, 64], 3) },
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

/** The same layer several times, with ReLUs, and behind them as little as a loss needs. */
function chain(layer, { side, times = 4, ...more }) {
  const input = [layer.channels, side, side];
  const layers = Array.from({ length: times }, () => [layer, relu]).flat();
  const behind = [{ type: "global_avg_pool2d" }, { type: "flatten" }, dense(10)];
  return { network: { input, layers: [...layers, ...behind] }, operations: ["gradient", "product"], ...more };
}

const same = (channels, kernel, stride = 1) => square(channels, kernel, stride, (kernel - 1) / 2, true);
const depthwise = (channels, kernel) => ({ ...same(channels, kernel), groups: channels });

/** Convolutions one kind at a time, and dense layers to hold these against: `--work convolutions`. */
export const convolutions = {
  dense: {
    title: "dense, 512 units",
    samples: 256,
    network: { input: [512], layers: mlp([512, 512, 512, 512, 10]) },
    operations: ["gradient", "product"],
  },
  conv3x4: { title: "3 × 3, 4 channels of 32 × 32", ...chain(same(4, 3), { side: 32, samples: 128 }) },
  conv3x8: { title: "3 × 3, 8 channels of 32 × 32", ...chain(same(8, 3), { side: 32, samples: 64 }) },
  conv3x16: { title: "3 × 3, 16 channels of 32 × 32", ...chain(same(16, 3), { side: 32, samples: 32 }) },
  conv3x32: { title: "3 × 3, 32 channels of 16 × 16", ...chain(same(32, 3), { side: 16, samples: 64 }) },
  conv3x64: { title: "3 × 3, 64 channels of 8 × 8", ...chain(same(64, 3), { side: 8, samples: 128 }) },
  conv5x8: { title: "5 × 5, 8 channels of 28 × 28", ...chain(same(8, 5), { side: 28, samples: 32 }) },
  conv5x16: { title: "5 × 5, 16 channels of 14 × 14", ...chain(same(16, 5), { side: 14, samples: 64 }) },
  conv1x16: { title: "1 × 1, 16 channels of 32 × 32", ...chain(same(16, 1), { side: 32, samples: 64 }) },
  conv1x64: { title: "1 × 1, 64 channels of 16 × 16", ...chain(same(64, 1), { side: 16, samples: 64 }) },
  strided: {
    title: "3 × 3, stride 2, 16 channels of 64 × 64, twice",
    ...chain(same(16, 3, 2), { side: 64, samples: 32, times: 2 }),
  },
  depthwise: {
    title: "3 × 3, depthwise, 64 channels of 16 × 16",
    ...chain(depthwise(64, 3), { side: 16, samples: 64 }),
  },
};

export const workOf = (name) => works[name] ?? convolutions[name];

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

/**
 * The network's layers in order, for a contender's own operations: `apply(layer, operands, at)` gives a layer's output from those that it
 * reads, its parameters being the ones from `at` on. What several layers read is passed on as `again` makes it, but for the last time.
 */
export function walk({ layers }, input, apply, again = (value) => value) {
  const reads = layers.map(({ from }, i) =>
    from === undefined ? [i - 1] : [from].flat().map((name) => place(layers, name)),
  );
  const left = new Map();
  for (const i of reads.flat()) left.set(i, (left.get(i) ?? 0) + 1);
  const values = new Map([[-1, input]]);
  const read = (i) => {
    left.set(i, left.get(i) - 1);
    return left.get(i) > 0 ? again(values.get(i)) : values.get(i);
  };
  let at = 0;
  for (const [i, layer] of layers.entries()) {
    values.set(i, apply(layer, reads[i].map(read), at));
    at += pieces(layer);
  }
  return values.get(layers.length - 1);
}

function place(layers, wanted) {
  const found = layers.findIndex(({ name }) => name === wanted);
  if (found < 0) throw new Error(`no layer is named ${wanted}`);
  return found;
}

/** Arrays of parameters that a layer has. */
const pieces = ({ type, bias }) => (["dense", "conv2d", "scale"].includes(type) ? 1 + Number(bias) : 0);

/** What a window that moves along an axis leaves of a side. */
export const sideOf = ({ kernel, size = kernel, stride, padding = [0, 0] }, side, axis) =>
  Math.floor((side + 2 * padding[axis] - size[axis]) / stride[axis]) + 1;

/** Shapes of the weights, layer by layer; `bias` is 0 where there is none. */
function shapes(network) {
  const blocks = [];
  walk(network, network.input, (layer, [shape, ...others]) => {
    const [channels, height, width] = shape;
    const sides = () => [sideOf(layer, height, 0), sideOf(layer, width, 1)];
    switch (layer.type) {
      case "dense":
        blocks.push({ weight: [layer.units, channels], fan: channels, bias: layer.units, places: 1 });
        return [layer.units];
      case "conv2d": {
        const { kernel, bias, groups = 1 } = layer;
        const fan = (channels / groups) * kernel[0] * kernel[1];
        const weight = [layer.channels, channels / groups, ...kernel];
        blocks.push({ weight, fan, bias: bias ? layer.channels : 0, places: size(sides()) });
        return [layer.channels, ...sides()];
      }
      case "scale":
        blocks.push({ weight: [channels], factor: true, fan: channels, bias: channels, places: 0 });
        return shape;
      case "max_pool2d":
      case "avg_pool2d":
        return [channels, ...sides()];
      case "pad_channels":
        return [layer.before + channels + layer.after, height, width];
      case "global_avg_pool2d":
        return [channels, 1, 1];
      case "flatten":
        return [size(shape)];
      default:
        if (others.some((other) => other.join() !== shape.join()))
          throw new Error(`${layer.type}: ${shape} and ${others}`);
        return shape;
    }
  });
  return blocks;
}

const size = (shape) => shape.reduce((a, b) => a * b, 1);

/** Kaiming's uniform weights, times `scale`; the factors of a scale between a half and 1. */
function draw(blocks, random, scale) {
  const values = [];
  for (const { weight, fan, bias, factor } of blocks) {
    const one = () => (factor ? 0.75 + 0.25 * (2 * random() - 1) : Math.sqrt(6 / fan) * (2 * random() - 1));
    for (let i = 0; i < size(weight); i++) values.push(scale * one());
    for (let i = 0; i < bias; i++) values.push((scale / Math.sqrt(fan)) * (2 * random() - 1));
  }
  return Float32Array.from(values);
}

/**
 * Operations of matrix products in one run, 2 for a multiplication with its sum: those that a method without waste has. Forward, back
 * and the weights' gradient are one product each for a layer, of which the first is not gone back through; a Hessian product at a kept
 * point has two of each, of which the first layer's inputs, which do not move, leave one.
 */
export function flops(name, operation) {
  const { samples, network, points } = workOf(name);
  const of = shapes(network).map(({ weight, places }) => 2 * samples * places * size(weight));
  const all = of.reduce((a, b) => a + b, 0);
  const [first] = of;
  const gradient = 3 * all - first;
  const product = 6 * all - 4 * first;
  return { gradient, product, plain: gradient + product, landscape: all * points ** 2 }[operation];
}

export function problem(name) {
  const { samples, network, points } = workOf(name);
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

/** A flat vector as [weight, bias, weight, bias, …] with their shapes, without the biases that there are not. */
export function split(blocks, vector) {
  let start = 0;
  const take = (shape) => {
    const values = vector.slice(start, start + size(shape));
    start += values.length;
    return { shape, values };
  };
  return blocks.flatMap(({ weight, bias }) => (bias > 0 ? [take(weight), take([bias])] : [take(weight)]));
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
