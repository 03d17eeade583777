/**
 * TensorFlow.js, eagerly, as it works. It has no forward mode: a Hessian product is the gradient of ⟨gradient, v⟩. Its
 * convolutions and max pools have no second derivatives (on wasm not even all first ones), so here a convolution is a
 * product with gathered patches and a pool a maximum over a reshaped axis: what a user would have to write by hand.
 */

import * as tf from "/built/tensorflow.js";
import { coordinates, join, split } from "./problems.mjs";

const K = 5;

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

/** [N, H, W, C] → [N (H−4) (W−4), 25 C], the patch's position outermost. */
function patches(x) {
  const [n, h, w, c] = x.shape;
  const [height, width] = [h - K + 1, w - K + 1];
  const shifted = [];
  for (let dy = 0; dy < K; dy++)
    for (let dx = 0; dx < K; dx++) shifted.push(tf.slice(x, [0, dy, dx, 0], [n, height, width, c]));
  return tf.reshape(tf.concat(shifted, 3), [n * height * width, K * K * c]);
}

/** Forward pass up to the logits. The first convolution's patches are of data alone, so they are made once, by `open`. */
function logits({ layers, input }, samples, parameters, inputs) {
  let at = 0;
  let a = inputs;
  let image = input.length === 3 ? [...input] : undefined;
  for (const { type } of layers) {
    if (type === "dense") {
      a = tf.add(tf.matMul(a, parameters[at], false, true), parameters[at + 1]);
      at += 2;
    } else if (type === "conv2d") {
      const [channels, , ,] = parameters[at].shape;
      const columns = at === 0 ? a : patches(tf.reshape(a, [samples, image[1], image[2], image[0]]));
      // (out, in, 5, 5) → (out, 5 · 5 · in), as the patches have it.
      const weight = tf.reshape(tf.transpose(parameters[at], [0, 2, 3, 1]), [channels, -1]);
      a = tf.add(tf.matMul(columns, weight, false, true), parameters[at + 1]);
      image = [channels, image[1] - K + 1, image[2] - K + 1];
      at += 2;
    } else if (type === "relu") a = tf.relu(a);
    else if (type === "max_pool2d") {
      const [c, h, w] = image;
      // Rows, then columns: a maximum over one inner axis at a time needs no transposition of the whole.
      a = tf.max(tf.reshape(a, [(samples * h) / 2, 2, w * c]), 1);
      a = tf.max(tf.reshape(a, [(samples * h * w) / 4, 2, c]), 1);
      image = [c, h / 2, w / 2];
    } else if (type === "flatten") {
      const [c, h, w] = image;
      a = tf.reshape(tf.transpose(tf.reshape(a, [samples, h, w, c]), [0, 3, 1, 2]), [samples, -1]);
    }
  }
  return a;
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
  const [channels, height, width] = network.input;
  const inputs =
    network.input.length === 3
      ? tf.tidy(() => patches(tf.tensor(problem.inputs, [samples, height, width, channels]))) // one channel: any order
      : tf.tensor(problem.inputs, [samples, channels]);
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
