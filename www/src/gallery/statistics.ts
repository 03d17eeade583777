/** Correlations with intervals that hold them at 95 %, as `examples/papers/statistics.rs` has them. */

export interface Interval {
  value: number;
  low: number;
  high: number;
}

/** Of two things that may go together. */
export type Pair = readonly [number, number];

/** Of a standard normal number, 95 % lie within this of 0. */
const TWO_SIDED = 1.959963984540054;

/** By Fisher's transformation of r. */
function around(value: number, standardError: number): Interval {
  const most = 1 - 1e-15;
  const z = Math.atanh(Math.min(Math.max(value, -most), most));
  const bound = (sign: number): number => Math.tanh(z + sign * TWO_SIDED * standardError);
  return { value, low: bound(-1), high: bound(1) };
}

/** Pearson's r; null of fewer than four pairs, or where one of the two is always the same. */
export function pearson(pairs: readonly Pair[]): Interval | null {
  const count = pairs.length;
  const mean = (of: 0 | 1): number => pairs.reduce((sum, pair) => sum + pair[of], 0) / count;
  const [x, y] = [mean(0), mean(1)];
  const product = (a: (pair: Pair) => number, b: (pair: Pair) => number): number =>
    pairs.reduce((sum, pair) => sum + a(pair) * b(pair), 0);
  const [dx, dy] = [(pair: Pair) => pair[0] - x, (pair: Pair) => pair[1] - y];
  const r = product(dx, dy) / Math.sqrt(product(dx, dx) * product(dy, dy));
  return count > 3 && Number.isFinite(r) ? around(r, 1 / Math.sqrt(count - 3)) : null;
}

/**
 * Kendall's τ_b. Its interval by Fisher's transformation, with the standard error √(0.437 / (n − 4)) of Fieller, Hartley and Pearson
 * (1957); null of fewer than five pairs, or where one of the two is always the same.
 */
export function kendall(pairs: readonly Pair[]): Interval | null {
  const count = pairs.length;
  let [both, ofX, ofY] = [0, 0, 0];
  for (const [index, a] of pairs.entries()) {
    for (const b of pairs.slice(0, index)) {
      const [x, y] = [Math.sign(a[0] - b[0]), Math.sign(a[1] - b[1])];
      both += x * y;
      ofX += x * x;
      ofY += y * y;
    }
  }
  const tau = both / Math.sqrt(ofX * ofY);
  return count > 4 && Number.isFinite(tau) ? around(tau, Math.sqrt(0.437 / (count - 4))) : null;
}
