/** Fewer points of a line than a screen has places for: a training run reports many thousands, and is drawn anew at every one. */

/** Of each of `most` stretches the first, the lowest, the highest and the last point: the line looks the same. */
export function thinned(xs: readonly number[], ys: readonly number[], most: number): [number[], number[]] {
  if (xs.length <= 4 * most) return [[...xs], [...ys]];
  const kept: [number[], number[]] = [[], []];
  const size = xs.length / most;
  for (let stretch = 0; stretch < most; stretch++) {
    const [from, to] = [Math.floor(stretch * size), Math.floor((stretch + 1) * size)];
    let [low, high] = [from, from];
    for (let index = from; index < to; index++) {
      if ((ys[index] ?? 0) < (ys[low] ?? 0)) low = index;
      if ((ys[index] ?? 0) > (ys[high] ?? 0)) high = index;
    }
    for (const index of new Set([from, Math.min(low, high), Math.max(low, high), to - 1])) {
      kept[0].push(xs[index] ?? Number.NaN);
      kept[1].push(ys[index] ?? Number.NaN);
    }
  }
  return kept;
}
