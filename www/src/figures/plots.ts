/** Drawings of plots at a size of their own, with keys as their legends have them. */

import { type PlotOptions, plotDrawing } from "../charts/plot";
import { svg } from "../dom";
import type { Drawing, Key } from "./figure";

const SIZE = { width: 640, height: 360 };

export const plotted = (options: PlotOptions, keys: Key[] = [], size = SIZE): Drawing => ({
  ...size,
  draw: (width, height) => plotDrawing(options, width, height),
  keys,
});

const CIRCLE = "m-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z";
const DIAMOND = "m0,-4l4,4l-4,4l-4,-4z";

/** A line's key; with its marks where it has some. */
export function lineKey(name: string, kind: string, mark: "none" | "dots" | "dots alone" = "none"): Key {
  return {
    name,
    drawing: () =>
      svg(
        "svg",
        { class: "plot", viewBox: "0 0 34 14" },
        mark !== "dots alone" && svg("path", { class: `curve ${kind}`, d: "M1,7H33" }),
        mark !== "none" &&
          svg("path", { class: `dots ${kind}`, d: `M17,7${kind.split(" ").includes("bent") ? DIAMOND : CIRCLE}` }),
      ),
  };
}

export const barKey = (name: string, kind: string): Key => ({
  name,
  drawing: () =>
    svg(
      "svg",
      { class: "plot", viewBox: "0 0 34 14" },
      svg("rect", { class: `bar ${kind}`, x: 9, y: 1, width: 16, height: 12 }),
    ),
});

export const POINT_NAMES = { trained: "as trained", bent: "bent" } as const;
