/** The rows of a surface that are there so far, from the first one on: those of a run that was stopped, and what has come since. */

import type { BackendInfo, Landscape, Progress } from "isoflat";

/** Points from one end to the other, to the last bit as the package has them. */
export function axis([from, to]: [number, number], points: number): Float64Array {
  const last = points - 1;
  return Float64Array.from({ length: points }, (_, index) => (from * (last - index) + to * index) / last);
}

export class Rows {
  #before: Landscape | null;
  #loss: number[] = [];
  #accuracy: number[] = [];
  #s: Float64Array = new Float64Array();
  #t: Float64Array = new Float64Array();
  #backend: BackendInfo | undefined;

  constructor(before: Landscape | null) {
    this.#before = before;
  }

  /** Where they are to be, and on which device: rows of other points, or of another device, are no part of it. */
  over(s: Float64Array, t: Float64Array, backend: BackendInfo): void {
    const rows = this.#backend ? this.sofar : this.#before;
    const isSame = rows && same(rows.s, s) && same(rows.t, t) && isOf(rows.backend, backend);
    // Its last row is computed in any case: with it comes what is of the whole.
    const count = isSame ? Math.min(rows.loss.length, rows.accuracy.length, (t.length - 1) * s.length) : 0;
    const whole = count - (count % s.length);
    this.#loss = rows ? [...rows.loss.slice(0, whole)] : [];
    this.#accuracy = rows ? [...rows.accuracy.slice(0, whole)] : [];
    [this.#s, this.#t, this.#backend] = [s, t, backend];
  }

  /** The first row that is missing. */
  get first(): number {
    return this.#loss.length / this.#s.length;
  }

  get isWhole(): boolean {
    return this.first >= this.#t.length;
  }

  add({ losses = [], accuracies = [] }: Progress): void {
    this.#loss.push(...losses);
    this.#accuracy.push(...accuracies);
  }

  get sofar(): Landscape {
    if (!this.#backend) throw new Error("rows of no device");
    return {
      s: this.#s,
      t: this.#t,
      loss: Float64Array.from(this.#loss),
      accuracy: Float64Array.from(this.#accuracy),
      center: Number.NaN,
      notFinite: notFinite(this.#loss),
      backend: this.#backend,
    };
  }

  /** All of it, when the package has given the rows that were missing. */
  with(rest: Landscape, first: number): Landscape {
    const before = first * rest.s.length;
    const loss = Float64Array.from([...this.#loss.slice(0, before), ...rest.loss]);
    return {
      ...rest,
      t: Float64Array.from([...this.#t.slice(0, first), ...rest.t]),
      loss,
      accuracy: Float64Array.from([...this.#accuracy.slice(0, before), ...rest.accuracy]),
      notFinite: notFinite(loss),
    };
  }
}

const same = (a: Float64Array, b: Float64Array): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index]);

/** The same numbers to the last bit come from the same device, with as many threads. */
const isOf = (a: BackendInfo, b: BackendInfo): boolean =>
  (["backend", "adapter", "api", "precision", "threads"] as const).every((key) => a[key] === b[key]);

const notFinite = (losses: Iterable<number>): number => {
  let count = 0;
  for (const loss of losses) if (!Number.isFinite(loss)) count++;
  return count;
};
