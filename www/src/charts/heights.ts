/** Losses to heights, one scale for both points; levels at round numbers; where the lowest point is. */

import type { Landscape } from "isoflat";
import { number } from "../format";
import { linear } from "./scales";

/** What is drawn of a landscape: numbers alone, which a worker can be given. */
export type Relief = Pick<Landscape, "s" | "t" | "loss" | "path">;

export type HeightKind = "log" | "linear";

/** What heights follow from. */
export interface Scale {
  kind: HeightKind;
  /** Loss at the bottom and at the top. */
  low: number;
  high: number;
}

export interface Heights extends Scale {
  /** Loss → [0, 1]; above the top it stays at 1. */
  at: (loss: number) => number;
  /** Round losses for contours, rising. */
  levels: number[];
}

/** At most about so many where they are even. */
const LEVELS = 12;

/** A bent valley can be thousands of times as deep; on a linear scale only this much of it is drawn. */
const LINEAR_CUT = 4;

/** Linear also where somebody wants a logarithm that there is none of. */
export function heightsOf(landscapes: Landscape[], wanted: HeightKind): Heights {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  const highs: number[] = [];
  for (const { loss } of landscapes) {
    let own = Number.NEGATIVE_INFINITY;
    for (const value of loss) {
      if (!Number.isFinite(value)) continue;
      low = Math.min(low, value);
      own = Math.max(own, value);
    }
    highs.push(own);
    high = Math.max(high, own);
  }
  // There 1 + loss has none.
  const kind = low <= -1 ? "linear" : wanted;
  if (!(high >= low)) return heightsOn({ kind, low: 0, high: 0 });
  const least = Math.min(...highs);
  // Below 0 it is the valley's depth that is compared.
  if (kind === "linear") high = Math.min(high, low < 0 ? low + LINEAR_CUT * (least - low) : LINEAR_CUT * least);
  return heightsOn({ kind, low, high });
}

/** Where all losses are one, or none is finite, all lie at the bottom. */
export function heightsOn({ kind, low, high }: Scale): Heights {
  if (!(high > low)) return { kind, low, high, at: () => 0, levels: [] };
  const scale = kind === "log" ? Math.log1p : (x: number) => x;
  const span = scale(high) - scale(low);
  // What is no number lies at the top, where what is infinite does.
  const at = (loss: number) => (Number.isNaN(loss) ? 1 : Math.min(Math.max((scale(loss) - scale(low)) / span, 0), 1));
  return { kind, low, high, at, levels: roundLevels(low, high, at) };
}

/** 1, 2, 5 times powers of ten, thinned so that no two lie closer than a twentieth of the scale; even ones where losses are negative. */
function roundLevels(low: number, high: number, at: (loss: number) => number): number[] {
  if (low < 0) {
    const even = linear(low, high, LEVELS).ticks.map(({ value }) => value);
    return even.filter((value) => value > low && value < high);
  }
  const levels: number[] = [];
  const smallest = Math.floor(Math.log10(Math.max(low, 1e-6, (high - low) * 1e-4)));
  for (let power = smallest; power <= Math.ceil(Math.log10(Math.max(high, 1e-6))); power++) {
    for (const mantissa of [1, 1.5, 2, 3, 5, 7]) {
      const level = Number((mantissa * 10 ** power).toPrecision(2));
      if (level <= low || level >= high) continue;
      const last = levels.at(-1);
      if (at(level) - (last === undefined ? 0 : at(last)) < 1 / 20) continue;
      levels.push(level);
    }
  }
  return levels;
}

/** How many rows are there: fewer than `t` has while they are computed, or when that was stopped. */
export const rowsOf = ({ s, loss }: Relief): number => Math.floor(loss.length / s.length);

export const isWhole = (landscape: Relief): boolean => rowsOf(landscape) >= landscape.t.length;

/** Indices of the lowest grid point; of the first one where no loss is a number. */
export function lowest({ s, loss }: Relief): { i: number; j: number; loss: number } {
  let best = 0;
  let least = Number.NaN;
  loss.forEach((value, k) => {
    if (!Number.isNaN(value) && !(value >= least)) [best, least] = [k, value];
  });
  return { i: best % s.length, j: Math.floor(best / s.length), loss: least };
}

/** The loss at the weights in words; nothing where it was not given, which drawings' data may leave out. */
export function centerSaid({ center }: { center?: number }, where: string): string {
  return center === undefined ? "" : `${number(center)} ${where}, `;
}
