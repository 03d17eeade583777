/** Lines of equal loss on a surface. */

import { contours } from "d3-contour";
import { type Heights, type Relief, rowsOf } from "./heights";
import type { Place } from "./way";

/** A piece of such a line, within one cell of the grid, and how high it lies (from 0 to 1). */
export interface LevelSegment {
  from: Place;
  to: Place;
  height: number;
}

export function levelSegments(landscape: Relief, heights: Heights): LevelSegment[] {
  const { s, loss } = landscape;
  const rows = rowsOf(landscape);
  const values = Array.from(loss, (value) => heights.at(value));
  // d3 puts the values at the middles of unit cells; the outer half cells lie beyond the data.
  const place = ([c = 0, r = 0]: number[]): Place => ({ i: c - 0.5, j: r - 0.5 });
  const inside = ({ i, j }: Place) => i >= 0 && j >= 0 && i <= s.length - 1 && j <= rows - 1;
  const shapes = contours()
    .size([s.length, rows])
    .thresholds(heights.levels.map((level) => heights.at(level)))(values);
  return shapes.flatMap(({ coordinates, value }) =>
    coordinates.flat().flatMap((ring) =>
      ring.slice(1).flatMap((end, index) => {
        const [from, to] = [place(ring[index] ?? end), place(end)];
        return inside(from) && inside(to) ? [{ from, to, height: value }] : [];
      }),
    ),
  );
}
