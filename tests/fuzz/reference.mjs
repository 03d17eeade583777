/**
 * Loss, outputs, gradient, products, traces, norms and ends of spectra of dense networks, in plain double precision and without a
 * line of what it checks. Products are Pearlmutter's: forward and backward once more, differentiated along the direction.
 */

import { Random } from "./random.mjs";

const activations = {
  relu: () => [(z) => (z > 0 || Number.isNaN(z) ? z : 0), (z) => (z > 0 ? 1 : 0), () => 0],
  leaky_relu: ({ slope }) => [(z) => (z > 0 ? z : slope * z), (z) => (z > 0 ? 1 : slope), () => 0],
  identity: () => [(z) => z, () => 1, () => 0],
  tanh: () => [Math.tanh, (z) => 1 / Math.cosh(z) ** 2, (z) => (-2 * Math.tanh(z)) / Math.cosh(z) ** 2],
};

const times = (rows, cols, w, x) => {
  const out = new Float64Array(rows);
  for (let i = 0; i < rows; i++) for (let j = 0; j < cols; j++) out[i] += w[i * cols + j] * x[j];
  return out;
};
const transposed = (rows, cols, w, x) => {
  const out = new Float64Array(cols);
  for (let i = 0; i < rows; i++) for (let j = 0; j < cols; j++) out[j] += w[i * cols + j] * x[i];
  return out;
};
const plus = (a, b) => a.map((value, i) => value + b[i]);

/** A run forward and backward with one number format's rounding laid on weights, inputs and softmax: see `sensitivity`. */
export class Reference {
  /** `noise`: relative size of random changes of everything that is given. */
  constructor({ network, loss, parameters, inputs, targets }, { noise = 0, seed = 0, round = (x) => x } = {}) {
    const random = new Random(`noise ${seed}`);
    const blur = (value) => round(value) * (noise === 0 ? 1 : 1 + noise * random.normal());
    this.isCrossEntropy = loss === "cross_entropy";
    this.noise = () => (noise === 0 ? 0 : noise * random.normal());
    this.inputs = inputs.map((row) => Float64Array.from(row, blur));
    this.targets = targets;
    this.parameters = Float64Array.from(parameters, blur);
    this.layers = [];
    let at = 0;
    let width = network.input[0];
    for (const layer of network.layers) {
      if (layer.type !== "dense") {
        this.layers.push({ functions: activations[layer.type](layer) });
        continue;
      }
      const end = at + layer.units * width;
      const stop = layer.bias === false ? end : end + layer.units;
      this.layers.push({ rows: layer.units, cols: width, at, end, stop });
      [at, width] = [stop, layer.units];
    }
    this.length = at;
  }

  /** With noise: 1 − tanh² loses its digits where tanh is nearly 1, in any format. */
  #slope([, slope, bend], z) {
    return slope(z) + (bend(z) === 0 ? 0 : this.noise());
  }

  /** What goes into each layer, and the outputs last; with the change along `v` beside it. */
  #forward(input, v) {
    let a = input;
    let da = new Float64Array(input.length);
    const trail = [];
    for (const { functions, rows, cols, at, end, stop } of this.layers) {
      trail.push({ a, da });
      if (functions !== undefined) {
        const before = a;
        a = before.map(functions[0]);
        da = da.map((change, i) => this.#slope(functions, before[i]) * change);
        continue;
      }
      const w = this.parameters.subarray(at, end);
      let dz =
        v === undefined
          ? new Float64Array(rows)
          : plus(times(rows, cols, v.subarray(at, end), a), times(rows, cols, w, da));
      let z = times(rows, cols, w, a);
      if (stop > end) {
        z = plus(z, this.parameters.subarray(end, stop));
        if (v !== undefined) dz = plus(dz, v.subarray(end, stop));
      }
      [a, da] = [z, dz];
    }
    return { trail, z: a, dz: da };
  }

  /** −log softmax, and its derivatives; `of` is a class or a row. */
  #loss(z, of) {
    if (!this.isCrossEntropy) {
      const row = Array.isArray(of) ? of : [of];
      return {
        loss: z.reduce((sum, value, c) => sum + (value - row[c]) ** 2, 0),
        g: z.map((value, c) => 2 * (value - row[c])),
        p: undefined,
      };
    }
    const top = z.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
    const e = z.map((value) => Math.exp(value - top));
    const sum = e.reduce((a, b) => a + b, 0);
    const others = e.reduce((total, value, c) => (c === of ? total : total + value), 0);
    const p = e.map((value) => Math.min(1, Math.max(0, value / sum + this.noise())));
    // 1 − p where p is nearly 1 has no digits left; the sum of the others has all.
    const g = p.map((value, c) => (c === of ? -others / sum + this.noise() : value));
    const loss = z[of] === top ? Math.log1p(others / e[of]) : top - z[of] + Math.log(sum);
    return {
      loss,
      g,
      p,
      q: p.map((_, c) => e.reduce((total, value, d) => (c === d ? total : total + value), 0) / sum + this.noise()),
    };
  }

  #dg({ p, q }, dz) {
    if (p === undefined) return dz.map((value) => 2 * value);
    // p_c (dz_c − Σ p_d dz_d), written so that nothing cancels: p_c ((1 − p_c) dz_c − Σ_{d≠c} p_d dz_d).
    return p.map(
      (value, c) => value * (q[c] * dz[c] - p.reduce((sum, other, d) => (d === c ? sum : sum + other * dz[d]), 0)),
    );
  }

  #sum(visit) {
    const out = new Float64Array(this.length);
    this.inputs.forEach((input, i) => void visit(input, this.targets[i], out));
    return out.map((value) => value / this.inputs.length);
  }

  /** Are all numbers given within the format? */
  get isRepresentable() {
    return this.parameters.every(Number.isFinite) && this.inputs.every((row) => row.every(Number.isFinite));
  }

  outputs() {
    return this.inputs.flatMap((input) => [...this.#forward(input).z]);
  }

  loss() {
    return (
      this.inputs.reduce((sum, input, i) => sum + this.#loss(this.#forward(input).z, this.targets[i]).loss, 0) /
      this.inputs.length
    );
  }

  gradient() {
    return this.#sum((input, of, out) => {
      const { trail, z } = this.#forward(input);
      this.#backward(trail, this.#loss(z, of).g, undefined, undefined, out);
    });
  }

  /** H v, or G v. */
  product(v, operator = "hessian") {
    const isHessian = operator === "hessian";
    return this.#sum((input, of, out) => {
      const { trail, z, dz } = this.#forward(input, v);
      const found = this.#loss(z, of);
      this.#backward(trail, isHessian ? found.g : undefined, this.#dg(found, dz), v, out);
    });
  }

  /** Adds the gradient (without `d`), or its change along `v`: all of it, or without `g` the Gauss–Newton part. */
  #backward(trail, g, d, v, out) {
    for (let l = this.layers.length - 1; l >= 0; l--) {
      const { functions, rows, cols, at, end, stop } = this.layers[l];
      const { a, da } = trail[l];
      if (functions !== undefined) {
        const [, , bend] = functions;
        d = d?.map((value, i) => {
          const change = bend(a[i]) === 0 ? 0 : bend(a[i]) + this.noise();
          return this.#slope(functions, a[i]) * value + (g === undefined ? 0 : change * da[i] * g[i]);
        });
        g = g?.map((value, i) => this.#slope(functions, a[i]) * value);
        continue;
      }
      for (let i = 0; i < rows; i++) {
        for (let j = 0; j < cols; j++) {
          out[at + i * cols + j] += d === undefined ? g[i] * a[j] : d[i] * a[j] + (g === undefined ? 0 : g[i] * da[j]);
        }
        if (stop > end) out[end + i] += d === undefined ? g[i] : d[i];
      }
      const w = this.parameters.subarray(at, end);
      if (d !== undefined) {
        d = transposed(rows, cols, w, d);
        if (g !== undefined) d = plus(d, transposed(rows, cols, v.subarray(at, end), g));
      }
      if (g !== undefined) g = transposed(rows, cols, w, g);
    }
  }

  /** All columns; `n` products. */
  matrix(operator = "hessian") {
    return Array.from({ length: this.length }, (_, i) => {
      const unit = new Float64Array(this.length);
      unit[i] = 1;
      return this.product(unit, operator);
    });
  }
}

export const norm = (values) => {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (!(largest > 0 && Number.isFinite(largest))) return largest;
  return largest * Math.sqrt(values.reduce((sum, value) => sum + (value / largest) ** 2, 0));
};

/** Trace, Frobenius norm and the ends of a symmetric matrix's spectrum. */
export function summary(matrix) {
  const norms = Float64Array.from(matrix, norm);
  const scale = norm(norms);
  const found = {
    trace: matrix.reduce((sum, column, i) => sum + column[i], 0),
    frobenius_norm: scale,
    diagonal: matrix.map((column, i) => column[i]),
  };
  if (!(scale > 0 && Number.isFinite(scale)))
    return { ...found, max_eigenvalue: scale, min_eigenvalue: scale, spectral_norm: scale };
  const [min, max] = ends(matrix.map((column) => column.map((value) => value / scale)));
  const [least, most] = [min * scale, max * scale];
  return {
    ...found,
    max_eigenvalue: most,
    min_eigenvalue: least,
    spectral_norm: Math.max(Math.abs(least), Math.abs(most)),
  };
}

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

/** Smallest and largest eigenvalue: Lanczos with all of its basis kept orthogonal, then bisection on the tridiagonal matrix. */
function ends(matrix) {
  const n = matrix.length;
  const random = new Random("lanczos");
  const basis = [];
  const alpha = [];
  const beta = [];
  const orthogonal = (v) => {
    for (let pass = 0; pass < 2; pass++)
      for (const b of basis) {
        const c = dot(b, v);
        for (let i = 0; i < n; i++) v[i] -= c * b[i];
      }
    return Math.sqrt(dot(v, v));
  };
  // Large matrices are those of dead networks, of low rank: they are through long before.
  const steps = Math.min(n, 120);
  while (basis.length < steps) {
    let v = Float64Array.from({ length: n }, () => random.normal());
    if (basis.length > 0) {
      v = times(n, n, flat(matrix), basis.at(-1));
      alpha.push(dot(v, basis.at(-1)));
    }
    let length = orthogonal(v);
    if (basis.length > 0) beta.push(length > 1e-14 ? length : 0);
    if (!(length > 1e-14)) {
      v = Float64Array.from({ length: n }, () => random.normal());
      length = orthogonal(v);
    }
    basis.push(v.map((value) => value / length));
  }
  const last = times(n, n, flat(matrix), basis.at(-1));
  alpha.push(dot(last, basis.at(-1)));
  const at = (k) => bisect(alpha, beta, k);
  return [at(0), at(steps - 1)];
}

const flats = new WeakMap();
function flat(matrix) {
  if (!flats.has(matrix)) flats.set(matrix, Float64Array.from(matrix.flatMap((column) => [...column])));
  return flats.get(matrix);
}

/** Eigenvalue number k of a tridiagonal matrix of norm at most 1. */
function bisect(alpha, beta, k) {
  let [low, high] = [-2, 2];
  for (let step = 0; step < 200 && high - low > 1e-17; step++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    let below = 0;
    let q = 1;
    for (let i = 0; i < alpha.length; i++) {
      q = alpha[i] - middle - (i > 0 ? beta[i - 1] ** 2 / q : 0);
      if (q === 0) q = 1e-300;
      if (q < 0) below++;
    }
    if (below > k) high = middle;
    else low = middle;
  }
  return (low + high) / 2;
}
