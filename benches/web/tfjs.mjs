/**
 * TensorFlow.js, eagerly, as it works. It has no forward mode: a Hessian product is the gradient of ⟨gradient, v⟩. Its
 * convolutions and max pools have no second derivatives (on wasm not even all first ones), so here a convolution is a
 * product with gathered patches and a pool a maximum over a reshaped axis: what a user would have to write by hand.
 */

import * as tf from "/built/tensorflow.js";
import { coordinates, join, sideOf, split, walk } from "./problems.mjs";

// A maximum's derivative asks where it equals its argument; that mask has no derivative, and TensorFlow.js no entry for it.
tf.registerGradient({
  kernelName: "Equal",
  inputsToSave: ["a", "b"],
  gradFunc: (_, [a, b]) => ({ a: () => tf.zerosLike(a), b: () => tf.zerosLike(b) }),
});

// A derivative that uses an operation's saved output is taken for a constant in turn, which made the Hessian product wrong
// by 65 % without a word (and logSoftmax refused). From its input it is right.
tf.registerGradient({
  kernelName: "Exp",
  inputsToSave: ["x"],
  gradFunc: (dy, [x]) => ({ x: () => tf.mul(dy, tf.exp(x)) }),
});

/** Every `stride`-th row and column of [N, H, W, C] from these on: by a slice of a reshaped axis, which has a derivative. */
function subsampled(x, [down, right], stride) {
  if (stride === 1) return x;
  const [n, h, w, c] = x.shape;
  const rows = tf.slice(tf.reshape(x, [(n * h) / stride, stride, w, c]), [0, down, 0, 0], [-1, 1, -1, -1]);
  const columns = tf.reshape(rows, [(n * h * w) / stride ** 2, stride, c]);
  return tf.reshape(tf.slice(columns, [0, right, 0], [-1, 1, -1]), [n, h / stride, w / stride, c]);
}

/** The shape of what a convolution makes of images of this one. */
const imagesOf = (layer, [n, h, w]) => [n, sideOf(layer, h, 0), sideOf(layer, w, 1), layer.channels];

/** [N, H, W, C] → [N H' W', K² C], the patch's position outermost. */
function patches(x, layer) {
  const {
    kernel: [size],
    stride: [stride],
    padding: [padding],
  } = layer;
  const [, height, width] = x.shape;
  const [n, h, w] = imagesOf(layer, x.shape);
  // As much at the far end that whole strides fit.
  const far = (side) => padding + ((stride - ((side + 2 * padding) % stride)) % stride);
  const border = [
    [0, 0],
    [padding, far(height)],
    [padding, far(width)],
    [0, 0],
  ];
  const padded = border.flat().some((side) => side > 0) ? tf.pad(x, border) : x;
  const parts = new Map();
  const shifted = [];
  for (let dy = 0; dy < size; dy++)
    for (let dx = 0; dx < size; dx++) {
      const from = [dy % stride, dx % stride];
      const key = from.join();
      if (!parts.has(key)) parts.set(key, subsampled(padded, from, stride));
      const start = [0, Math.floor(dy / stride), Math.floor(dx / stride), 0];
      shifted.push(tf.slice(parts.get(key), start, [n, h, w, -1]));
    }
  return tf.reshape(tf.concat(shifted, 3), [n * h * w, -1]);
}

/** A layer's output. Images are [N, H, W, C]; the first convolution gets the patches of some of shape `first`, which are made once. */
function apply(layer, [a, b], parameters, at, first) {
  switch (layer.type) {
    case "dense":
      return tf.add(tf.matMul(a, parameters[at], false, true), parameters[at + 1]);
    case "conv2d": {
      const columns = at === 0 ? a : patches(a, layer);
      // (out, in, K, K) → (out, K · K · in), as the patches have it.
      const weight = tf.reshape(tf.transpose(parameters[at], [0, 2, 3, 1]), [layer.channels, -1]);
      const found = tf.matMul(columns, weight, false, true);
      return tf.reshape(
        layer.bias ? tf.add(found, parameters[at + 1]) : found,
        imagesOf(layer, at === 0 ? first : a.shape),
      );
    }
    case "scale":
      return tf.add(tf.mul(a, parameters[at]), parameters[at + 1]);
    case "relu":
      return tf.relu(a);
    case "add":
      return tf.add(a, b);
    case "max_pool2d": {
      const [n, h, w, c] = a.shape;
      // Rows, then columns: a maximum over one inner axis at a time needs no transposition of the whole.
      const rows = tf.max(tf.reshape(a, [(n * h) / 2, 2, w * c]), 1);
      return tf.reshape(tf.max(tf.reshape(rows, [(n * h * w) / 4, 2, c]), 1), [n, h / 2, w / 2, c]);
    }
    case "avg_pool2d":
      return subsampled(a, [0, 0], layer.stride[0]);
    case "pad_channels":
      return tf.pad(a, [
        [0, 0],
        [0, 0],
        [0, 0],
        [layer.before, layer.after],
      ]);
    case "global_avg_pool2d":
      return tf.mean(a, [1, 2]);
    case "flatten":
      return a.rank === 2 ? a : tf.reshape(tf.transpose(a, [0, 3, 1, 2]), [a.shape[0], -1]);
    default:
      throw new Error(`no ${layer.type} here`);
  }
}

/** Forward pass up to the logits. */
function logits(network, samples, parameters, inputs) {
  const first = [samples, ...network.input.slice(1), network.input[0]];
  return walk(network, inputs, (layer, operands, at) => apply(layer, operands, parameters, at, first));
}

export async function open(problem, { device, threads }) {
  if (device === "wasm") {
    tf.setWasmPaths("/modules/@tensorflow/tfjs-backend-wasm/dist/");
    if (threads) tf.setThreadsCount(threads);
  }
  if (!(await tf.setBackend(device))) throw new Error(`TensorFlow.js has no ${device} here`);
  await tf.ready();
  const { blocks, samples, network } = problem;
  const lift = (vector) => split(blocks, vector).map(({ shape, values }) => tf.tensor(values, shape, "float32"));
  const targets = tf.tidy(() =>
    tf.cast(tf.oneHot(tf.tensor1d(Int32Array.from(problem.labels), "int32"), 10), "float32"),
  );
  const images = () => {
    const channelsFirst = tf.tensor(problem.inputs, [samples, ...network.input]);
    return patches(tf.transpose(channelsFirst, [0, 2, 3, 1]), network.layers[0]);
  };
  const isOfImages = network.input.length === 3;
  const inputs = isOfImages ? tf.tidy(images) : tf.tensor(problem.inputs, [samples, ...network.input]);
  const [parameters, direction] = [lift(problem.parameters), lift(problem.direction)];

  const loss = (...p) => {
    const z = logits(network, samples, p, inputs);
    return tf.mul(tf.sub(tf.sum(tf.logSumExp(z, 1)), tf.sum(tf.mul(z, targets))), 1 / samples);
  };
  const gradientOf = tf.grads(loss);
  const inner = (...p) => tf.addN(gradientOf(p).map((g, i) => tf.sum(tf.mul(g, direction[i]))));
  const productOf = tf.grads(inner);

  let last;
  /** Reading the smallest tensor waits for all before it: the backends compute in order. */
  async function done(result) {
    await result.at(-1).data();
    if (last) tf.dispose(last);
    last = result;
  }

  let losses;
  let axes;
  async function landscape() {
    axes ??= [lift(problem.u), lift(problem.v)];
    const steps = coordinates(problem.points);
    const rows = [];
    for (const t of steps) {
      const row = tf.tidy(() => parameters.map((w, i) => tf.add(w, tf.mul(axes[1][i], t))));
      const points = steps.map((s) => tf.tidy(() => loss(...row.map((w, i) => tf.add(w, tf.mul(axes[0][i], s))))));
      rows.push(join(await Promise.all(points.map((point) => point.data()))));
      tf.dispose([row, points]);
    }
    losses = join(rows);
  }

  return {
    adapter: device,
    gradient: () => done(tf.tidy(() => gradientOf(parameters))),
    product: () => done(tf.tidy(() => productOf(parameters))),
    landscape,
    read: async (operation) =>
      operation === "landscape" ? losses : join(await Promise.all(last.map((tensor) => tensor.data()))),
  };
}
