/** Scales of the small plots: from values to [0, 1], with round ticks. */

import { power, round, rounds } from "../format";

export interface Tick {
  value: number;
  label: string;
}

export interface Scale {
  low: number;
  high: number;
  at: (value: number) => number;
  ticks: Tick[];
}

/** At most about this many ticks an axis. */
const TICKS = 6;

/** The same text at two places would make one of them a lie: labels have as many digits as tell their ticks apart. */
function labelled(values: number[]): Tick[] {
  const labels = rounds(values);
  return values.map((value, index) => ({ value, label: labels[index] ?? "" }));
}

export function linear(low: number, high: number, ticks = TICKS): Scale {
  const span = high - low || 1;
  const raw = span / ticks;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * ([1, 2, 5, 10].find((factor) => factor * unit >= raw) ?? 10);
  const first = Math.ceil(low / step);
  const found: number[] = [];
  // Where the range is near the rounding of its numbers, steps lead nowhere: there are never more than they should be.
  for (let count = 0; count <= 2 * ticks; count++) {
    const value = Number(((first + count) * step).toPrecision(15));
    if (!(value <= high + 1e-9 * span)) break;
    if (value !== found.at(-1)) found.push(value);
  }
  return { low, high, at: (value) => (value - low) / span, ticks: labelled(found) };
}

/** Exponents of the powers of ten that the range begins in and goes through. */
const decadesOf = (from: number, to: number): number[] =>
  Array.from({ length: Math.floor(to) - Math.floor(from) + 1 }, (_, index) => Math.floor(from) + index);

/** What is not above `low` lies at the bottom. */
export function log(low: number, high: number, ticks = TICKS): Scale {
  const [from, to] = [Math.log10(low), Math.log10(Math.min(Math.max(high, low * 1.01), Number.MAX_VALUE))];
  const found: Tick[] = [];
  const step = Math.max(1, Math.ceil((to - from) / ticks));
  for (let exponent = Math.ceil(from - 1e-9); exponent <= to + 1e-9; exponent++) {
    if (exponent % step === 0) found.push({ value: 10 ** exponent, label: powerLabel(exponent) });
  }
  const at = (value: number) => (Math.log10(Math.max(value, low)) - from) / (to - from);
  if (found.length < 4 && to - from > 0.9) {
    const between = [2, 5].flatMap((factor) => decadesOf(from, to).map((exponent) => factor * 10 ** exponent));
    found.push(...labelled(between.filter((value) => value >= low && value <= high)));
  }
  if (found.length >= 2) return { low, high, at, ticks: found };
  // Within a decade there is no room for powers of ten alone.
  return { low, high, at, ticks: linear(low, high, Math.min(ticks, 4)).ticks.filter(({ value }) => value >= low) };
}

/** Linear up to `unit` on either side of 0, logarithmic beyond: for values of both signs and many sizes. */
export function symlog(from: number, to: number, unit: number): Scale {
  const [low, high] = [Math.max(from, -Number.MAX_VALUE), Math.min(to, Number.MAX_VALUE)];
  const bent = (value: number) => Math.asinh(value / (2 * unit)) / Math.LN10;
  const [start, end] = [bent(low), bent(high)];
  const span = end - start || 1;
  const decades = (end: number) => (Math.abs(end) > unit ? Math.log10(Math.abs(end) / unit) : 0);
  const step = Math.max(1, Math.ceil((decades(low) + decades(high)) / TICKS));
  const found: Tick[] = low <= 0 && high >= 0 ? [{ value: 0, label: "0" }] : [];
  const first = Math.ceil(Math.log10(unit));
  for (let exponent = first; 10 ** exponent <= Math.max(high, -low); exponent++) {
    if ((exponent - first) % step !== 0) continue;
    for (const value of [10 ** exponent, -(10 ** exponent)]) {
      if (value < low || value > high) continue;
      found.push({ value, label: `${value < 0 ? "−" : ""}${powerLabel(exponent)}` });
    }
  }
  return { low, high, at: (value) => (bent(value) - start) / span, ticks: found };
}

/** 0.01, 0.1, 1, 10, 100 as they are. */
const powerLabel = (exponent: number): string =>
  Math.abs(exponent) <= 2 ? round(10 ** exponent) : power(10 ** exponent);
