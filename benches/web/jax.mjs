/**
 * jax-js in its best form: the Hessian product both linearised once and applied, and as a plain jvp of grad. `jit` helps
 * some of it and slows other parts down tenfold (fused into a product, a mask keeps it from jax-js's tiled kernel), so the
 * gradient and the plain product are tried both ways and the faster one is measured. Weights lie (inputs, outputs), which its products like better.
 */

import {
  blockUntilReady,
  defaultDevice,
  grad,
  init,
  jit,
  jvp,
  lax,
  linearize,
  nn,
  numpy as np,
  tree,
} from "@jax-js/jax";
import { coordinates, join, split, walk } from "./problems.mjs";

/** A layer's output; consumes its arguments, as all of jax-js does. */
function apply(layer, [a, b], parameters, at) {
  const channelwise = (array) => array.reshape([array.shape[0], 1, 1]);
  switch (layer.type) {
    case "dense":
      return np.dot(a, parameters[at]).add(parameters[at + 1]);
    case "conv2d": {
      const padding = layer.padding.map((side) => [side, side]);
      const found = lax.convGeneralDilated(a, parameters[at], layer.stride, padding);
      return layer.bias ? found.add(channelwise(parameters[at + 1])) : found;
    }
    case "scale":
      return a.mul(channelwise(parameters[at])).add(channelwise(parameters[at + 1]));
    case "relu":
      return nn.relu(a);
    case "add":
      return a.add(b);
    case "max_pool2d":
      return lax.reduceWindow(a, (x) => np.max(x), layer.size, layer.stride);
    case "avg_pool2d": {
      // Of one pixel: every second one.
      const [samples, channels, height, width] = a.shape;
      return a.reshape([samples, channels, height / 2, 2, width / 2, 2]).slice([], [], [], 0, [], 0);
    }
    case "pad_channels":
      return np.pad(a, [
        [0, 0],
        [layer.before, layer.after],
        [0, 0],
        [0, 0],
      ]);
    case "global_avg_pool2d":
      return np.mean(a, [2, 3]);
    case "flatten":
      return a.reshape([a.shape[0], -1]);
    default:
      throw new Error(`no ${layer.type} here`);
  }
}

/** Cross-entropy of the network; consumes its arguments too. */
function lossOf(network, samples) {
  return (parameters, inputs, targets) => {
    const images = network.input.length === 3 ? inputs.reshape([samples, ...network.input]) : inputs;
    const again = (array) => array.ref;
    const a = walk(network, images, (layer, operands, at) => apply(layer, operands, parameters, at), again);
    return nn
      .logSoftmax(a)
      .mul(targets)
      .sum()
      .mul(-1 / samples);
  };
}

/** (outputs, inputs) → (inputs, outputs), and the same back with the two numbers swapped. */
function transposed(values, rows, columns) {
  const result = new Float32Array(values.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) result[j * rows + i] = values[i * columns + j];
  return result;
}

export async function open(problem, { device }) {
  const found = await init(device);
  if (!found.includes(device)) throw new Error(`jax-js has no ${device} here`);
  defaultDevice(device);
  const { blocks, samples } = problem;
  const isMatrix = (shape) => shape.length === 2;
  const lift = (vector) =>
    split(blocks, vector).map(({ shape, values }) =>
      isMatrix(shape)
        ? np.array(transposed(values, ...shape)).reshape(shape.toReversed())
        : np.array(values).reshape(shape),
    );
  async function lower(list) {
    const pieces = await Promise.all(list.map((array) => array.ref.data()));
    return join(pieces.map((values, i) => (isMatrix(list[i].shape) ? transposed(values, ...list[i].shape) : values)));
  }
  const oneHot = new Float32Array(samples * 10);
  problem.labels.forEach((label, i) => {
    oneHot[10 * i + label] = 1;
  });
  const inputs = np.array(problem.inputs).reshape([samples, problem.inputs.length / samples]);
  const targets = np.array(oneHot).reshape([samples, 10]);
  const [parameters, direction] = [lift(problem.parameters), lift(problem.direction)];
  await blockUntilReady([inputs, targets, parameters, direction]);

  const loss = lossOf(problem.network, samples);
  const gradientOf = (p, x, y) => grad(loss)(p, x, y);
  const plainOf = (p, v, x, y) => jvp((q) => grad(loss)(q, x, y), [p], [v])[1];
  const ref = (list) => list.map((array) => array.ref);

  let last;
  /** Keeps the result for `read`; the clock stops when the last of it is on the host. */
  async function done(result) {
    await blockUntilReady(result);
    await result.at(-1).ref.data();
    if (last) tree.dispose(last);
    last = result;
  }

  /** Best time of a form: until compiled and tiered up, or so far behind after seconds that it does not catch up. */
  async function trial(form, operands, other) {
    const times = [];
    let spent = 0;
    while (times.length < 2 || (times.length < 10 && spent < 3000)) {
      const start = performance.now();
      await done(form(...operands()));
      times.push(performance.now() - start);
      spent += times.at(-1);
      if (spent > 4000 && times.at(-1) > 3 * other) break;
    }
    return Math.min(...times);
  }

  /** The faster of `f` as it is and under `jit`, found out at the first call by the best run of each. */
  function faster(f, operands) {
    let chosen;
    return async () => {
      if (chosen === undefined) {
        const best = [];
        const forms = [f, jit(f)];
        for (const form of forms) {
          try {
            best.push(await trial(form, operands, best[0]));
          } catch (error) {
            // Under `jit` there may not be room for it; as it is there must be.
            if (best.length === 0) throw error;
            best.push(Number.POSITIVE_INFINITY);
          }
        }
        chosen = forms[best[1] < best[0] ? 1 : 0];
      }
      await done(chosen(...operands()));
    };
  }

  let linear;
  /** Never under `jit`, which is seven times slower here, and makes the same function slow outside it from then on. */
  async function linearised() {
    if (linear === undefined) {
      const [value, apply] = linearize((q) => grad(loss)(q, inputs.ref, targets.ref), [ref(parameters)]);
      await blockUntilReady(value);
      tree.dispose(value);
      linear = apply;
    }
    await done(linear(ref(direction)));
  }

  const plain = faster(plainOf, () => [ref(parameters), ref(direction), inputs.ref, targets.ref]);
  async function plainly() {
    // What linearising keeps and this together are more than wasm's 4 GiB on the widest work.
    linear?.dispose();
    linear = undefined;
    await plain();
  }

  const pointLoss = jit((p, u, v, s, t, x, y) =>
    loss(
      p.map((w, i) => w.add(u[i].mul(s.ref)).add(v[i].mul(t.ref))),
      x,
      y,
    ),
  );
  let losses;
  let axes;
  async function landscape() {
    axes ??= [lift(problem.u), lift(problem.v)];
    const steps = coordinates(problem.points);
    const rows = [];
    for (const t of steps) {
      // Read row by row, as isoflat does: hundreds of points under way at once are more than a software GPU bears.
      const points = steps.map((s) => {
        const [a, b] = [np.array([s]), np.array([t])];
        return pointLoss(ref(parameters), ref(axes[0]), ref(axes[1]), a, b, inputs.ref, targets.ref);
      });
      rows.push(join(await Promise.all(points.map((point) => point.data()))));
    }
    losses = join(rows);
  }

  return {
    adapter: device,
    gradient: faster(gradientOf, () => [ref(parameters), inputs.ref, targets.ref]),
    product: linearised,
    plain: plainly,
    landscape,
    read: async (operation) => (operation === "landscape" ? losses : lower(last)),
  };
}
