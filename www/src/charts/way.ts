/** The way of a training over a landscape: where it runs among the points that were computed, and what is said of it. */

import type { Landscape } from "isoflat";
import { percent, sentence } from "../format";
import type { DirectionKind } from "../worker/protocol";
import { type Heights, type Relief, rowsOf } from "./heights";

/** A place in cells of the grid: 0, 0 is the first point, 1, 0 the next one along the first direction. */
export interface Place {
  i: number;
  j: number;
}

/** Cells between two points of a line that is to follow the surface. */
const FINE = 0.25;

const cellOf = (axis: Float64Array, x: number): number => {
  const [first, last] = [axis[0] ?? 0, axis.at(-1) ?? 1];
  return ((x - first) / (last - first)) * (axis.length - 1);
};

/** Where the weights themselves are. */
export const weightsAt = ({ s, t }: Relief): Place => ({ i: cellOf(s, 0), j: cellOf(t, 0) });

/** The way's own points, from its beginning; none where there is no way. */
export function placesOf({ s, t, path }: Relief): Place[] {
  if (!path) return [];
  return Array.from(path.s, (x, index) => ({ i: cellOf(s, x), j: cellOf(t, path.t[index] ?? 0) }));
}

/** Is it on the grid, and the rows there computed? */
export const isOn = (landscape: Relief, { i, j }: Place): boolean =>
  i >= 0 && j >= 0 && i <= landscape.s.length - 1 && j <= rowsOf(landscape) - 1;

/** The surface's height between its points, as it is drawn. */
export function heightAt({ s, loss }: Relief, heights: Heights, { i, j }: Place): number {
  const rows = Math.floor(loss.length / s.length);
  const [column, row] = [inside(Math.floor(i), s.length - 2), inside(Math.floor(j), rows - 2)];
  const at = (a: number, b: number) => heights.at(loss[a + Math.min(b, rows - 1) * s.length] ?? heights.high);
  const [x, y] = [i - column, j - row];
  return (
    (1 - y) * ((1 - x) * at(column, row) + x * at(column + 1, row)) +
    y * ((1 - x) * at(column, row + 1) + x * at(column + 1, row + 1))
  );
}

const inside = (value: number, last: number): number => Math.min(Math.max(value, 0), Math.max(last, 0));

/** The same line with points so close that it follows a surface; its parts that are on the surface. */
export function finely(landscape: Relief, places: Place[]): Place[][] {
  const parts: Place[][] = [];
  let part: Place[] = [];
  const end = () => {
    if (part.length > 1) parts.push(part);
    part = [];
  };
  places.forEach((to, index) => {
    const from = places[index - 1] ?? to;
    const steps = Math.max(1, Math.ceil(Math.hypot(to.i - from.i, to.j - from.j) / FINE));
    for (let k = index === 0 ? 0 : 1; k <= (index === 0 ? 0 : steps); k++) {
      const place = { i: from.i + ((to.i - from.i) * k) / steps, j: from.j + ((to.j - from.j) * k) / steps };
      if (isOn(landscape, place)) part.push(place);
      else end();
    }
  });
  end();
  return parts;
}

/** Of a line: where the way's points lie on it. */
export function onLine(line: Landscape): { s: number; loss: number }[] {
  return placesOf(line).flatMap(({ i }, index) => {
    const before = Math.floor(inside(i, line.s.length - 2));
    const [from, to] = [line.loss[before], line.loss[before + 1]];
    const s = line.path?.s[index];
    if (from === undefined || to === undefined || s === undefined || i < 0 || i > line.s.length - 1) return [];
    return [{ s, loss: from + (i - before) * (to - from) }];
  });
}

/** What a reader has to know of it, behind other sentences; "" where none is drawn. */
export function waySaid(landscape: Landscape, directions: DirectionKind): string {
  const words = wayWords(landscape, directions);
  return words && ` ${sentence(words)}`;
}

/** The same as a part of one. */
export function wayWords({ path }: Landscape, directions: DirectionKind): string {
  if (!path) return "";
  const [first, second] = path.explained.map(share);
  const drawn = "magenta line: the way of the training, from its own ring to the weights";
  if (directions !== "way") {
    const onto = path.t.length > 0 ? "plane" : "line";
    return `${drawn}, projected onto this ${onto}, which holds ${share(path.share)} of it`;
  }
  if (second === undefined) return `${drawn}; this direction explains ${first} of its variance`;
  return `${drawn}; the two directions explain ${first} and ${second} of its variance`;
}

const share = (value: number): string => {
  if (value > 0 && value < 0.001) return "less than 0.1 %";
  return percent(value, value < 0.1 || (value > 0.99 && value < 1) ? 1 : 0);
};
