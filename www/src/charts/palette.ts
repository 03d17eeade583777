/** From low loss (deep water) to high loss (pale sand); lightness rises all the way, so it reads in grey too. */

import { isDark } from "../dom";

export type Rgb = readonly [number, number, number];

export type Theme = "light" | "dark";

const RAMPS: Record<Theme, string[]> = {
  light: ["#16435c", "#22637a", "#3f8790", "#76aa9f", "#b1c9ac", "#ddddb9", "#f4efd6"],
  dark: ["#1c5270", "#2a6f86", "#438c95", "#6fa69f", "#9fbfa8", "#c9d3b2", "#ece8cd"],
};

/** Ends of a table's colours, as a style sheet takes them: those of the ramp on paper, and on a dark ground what is high goes under. */
export const HEAT = {
  low: `light-dark(${RAMPS.light[0]}, #2f7d95)`,
  high: `light-dark(${RAMPS.light.at(-1)}, #20282d)`,
};

function parse(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

export type Ramp = (x: number) => Rgb;

export const themeNow = (): Theme => (isDark() ? "dark" : "light");

/** The ramp of a theme, by default the one in force: [0, 1] → RGB in [0, 1]. */
export function ramp(theme: Theme = themeNow()): Ramp {
  const stops = RAMPS[theme].map(parse);
  return (x) => {
    const at = Math.min(Math.max(Number.isFinite(x) ? x : 1, 0), 1) * (stops.length - 1);
    const index = Math.min(Math.floor(at), stops.length - 2);
    const low = stops[index] ?? [0, 0, 0];
    const high = stops[index + 1] ?? low;
    const f = at - index;
    return [low[0] + f * (high[0] - low[0]), low[1] + f * (high[1] - low[1]), low[2] + f * (high[2] - low[2])];
  };
}

export function css([r, g, b]: Rgb): string {
  return `rgb(${Math.round(255 * r)} ${Math.round(255 * g)} ${Math.round(255 * b)})`;
}
