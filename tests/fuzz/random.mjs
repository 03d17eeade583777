/** Seeded random numbers: the same seed gives the same cases everywhere, so that a finding can be repeated. */

/** 32 bits from any text (FNV-1a, then mixed). */
export function hash(text) {
  let state = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  return (state ^ (state >>> 13)) >>> 0;
}

export class Random {
  #state;

  /** One stream for each text or number. */
  constructor(seed) {
    this.#state = hash(`${seed}`);
  }

  /** In [0, 1). Mulberry32. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** 0 … n − 1. */
  int(n) {
    return Math.floor(this.next() * n);
  }

  /** From `low` to `high`, both possible. */
  between(low, high) {
    return low + this.int(high - low + 1);
  }

  chance(probability) {
    return this.next() < probability;
  }

  pick(list) {
    return list[this.int(list.length)];
  }

  /** `count` different ones, or all there are. */
  some(list, count) {
    const rest = [...list];
    const taken = [];
    while (taken.length < count && rest.length > 0) taken.push(...rest.splice(this.int(rest.length), 1));
    return taken;
  }

  /** Standard normal. */
  normal() {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  normals(count, scale = 1) {
    return Array.from({ length: count }, () => scale * this.normal());
  }
}
