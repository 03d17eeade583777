/**
 * jax-js: everything under `jit`; the Hessian product both linearised once and applied (its best form where there is
 * room for it) and as a plain jvp of grad.
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
import { coordinates, join, split } from "./problems.mjs";

/** Cross-entropy of the network; consumes its arguments, as all of jax-js does. */
function lossOf({ layers, input }, samples) {
  return (parameters, inputs, targets) => {
    let at = 0;
    let a = inputs;
    if (input.length === 3) a = a.reshape([samples, ...input]);
    for (const { type } of layers) {
      if (type === "dense") {
        a = np.dot(a, np.transpose(parameters[at])).add(parameters[at + 1]);
        at += 2;
      } else if (type === "conv2d") {
        const bias = parameters[at + 1];
        a = lax.conv(a, parameters[at], [1, 1], "VALID").add(bias.reshape([bias.shape[0], 1, 1]));
        at += 2;
      } else if (type === "relu") a = nn.relu(a);
      else if (type === "max_pool2d") {
        const [n, c, h, w] = a.shape;
        a = np.max(a.reshape([n, c, h / 2, 2, w / 2, 2]), [3, 5]);
      } else if (type === "flatten") a = a.reshape([samples, -1]);
    }
    return nn
      .logSoftmax(a)
      .mul(targets)
      .sum()
      .mul(-1 / samples);
  };
}

export async function open(problem, { device }) {
  const found = await init(device);
  if (!found.includes(device)) throw new Error(`jax-js has no ${device} here`);
  defaultDevice(device);
  const { blocks, samples } = problem;
  const lift = (vector) => split(blocks, vector).map(({ shape, values }) => np.array(values).reshape(shape));
  const oneHot = new Float32Array(samples * 10);
  problem.labels.forEach((label, i) => {
    oneHot[10 * i + label] = 1;
  });
  const inputs = np.array(problem.inputs).reshape([samples, problem.inputs.length / samples]);
  const targets = np.array(oneHot).reshape([samples, 10]);
  const [parameters, direction] = [lift(problem.parameters), lift(problem.direction)];
  await blockUntilReady([inputs, targets, parameters, direction]);

  const loss = lossOf(problem.network, samples);
  const gradientOf = jit((p, x, y) => grad(loss)(p, x, y));
  const plainOf = jit((p, v, x, y) => jvp((q) => grad(loss)(q, x, y), [p], [v])[1]);
  const ref = (list) => list.map((array) => array.ref);

  let last;
  /** Keeps the result for `read`; the clock stops when the last of it is on the host. */
  async function done(result) {
    await blockUntilReady(result);
    await result.at(-1).ref.data();
    if (last) tree.dispose(last);
    last = result;
  }

  let linear;
  async function linearised() {
    if (linear === undefined) {
      const [value, apply] = linearize((q) => grad(loss)(q, inputs.ref, targets.ref), [ref(parameters)]);
      await blockUntilReady(value);
      tree.dispose(value);
      linear = jit(apply);
    }
    await done(linear(ref(direction)));
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
    const points = [];
    for (const t of steps) {
      for (const s of steps) {
        const [a, b] = [np.array([s]), np.array([t])];
        points.push(pointLoss(ref(parameters), ref(axes[0]), ref(axes[1]), a, b, inputs.ref, targets.ref));
      }
    }
    losses = join(await Promise.all(points.map((point) => point.data())));
  }

  return {
    adapter: device,
    gradient: async () => done(gradientOf(ref(parameters), inputs.ref, targets.ref)),
    product: linearised,
    plain: async () => done(plainOf(ref(parameters), ref(direction), inputs.ref, targets.ref)),
    landscape,
    read: async (operation) =>
      operation === "landscape" ? losses : join(await Promise.all(last.map((array) => array.ref.data()))),
  };
}
