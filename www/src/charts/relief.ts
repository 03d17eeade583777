/** A landscape as a relief: where its points stand, and from where it is seen. */

import type { Heights, Relief } from "./heights";
import { heightAt, type Place } from "./way";

export const SIDE = 2;
export const HEIGHT = 1.25;
/** What is looked at. */
export const TARGET: Point3 = [0, 0.4, 0];

export type Point3 = [number, number, number];

/** One view point for all surfaces, so that they can be compared. */
export interface Orbit {
  position: Point3;
  zoom: number;
}

/** As the page begins, where a surface has not been turned or is not drawn. */
export const FIRST_ORBIT: Orbit = { position: [2.55, 2.35, 3.5], zoom: 1 };

/** In degrees. A tall narrow view needs a wider one to show the whole side. */
export const fieldOfView = (aspect: number): number => (aspect < 1.2 ? 38 : 32);

export type Placer = (i: number, j: number, lift?: number) => Point3;

export function placer(landscape: Relief, heights: Heights): Placer {
  const { s, loss } = landscape;
  const height = (i: number, j: number) => heights.at(loss[i + j * s.length] ?? heights.high) * HEIGHT;
  return (i, j, lift = 0) => spotAt(landscape, { i, j }, height(i, j) + lift);
}

/** At any place of the grid, so high. */
export const spotAt = ({ s, t }: Relief, { i, j }: Place, height: number): Point3 => [
  (i / (s.length - 1) - 0.5) * SIDE,
  height,
  (0.5 - j / (t.length - 1)) * SIDE,
];

/** The same on the surface. */
export const spot = (landscape: Relief, heights: Heights, place: Place, lift = 0): Point3 =>
  spotAt(landscape, place, heightAt(landscape, heights, place) * HEIGHT + lift);

export const minus = (a: Point3, b: Point3): Point3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const dot = (a: Point3, b: Point3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Point3, b: Point3): Point3 => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const unit = (a: Point3): Point3 => {
  const length = Math.hypot(...a) || 1;
  return [a[0] / length, a[1] / length, a[2] / length];
};

/** A point in space to its place in the drawing, and how far away it is. */
export type Projection = (point: Point3) => { x: number; y: number; depth: number };

/** As the surface's camera sees it. */
export function projection({ position, zoom }: Orbit, width: number, height: number): Projection {
  const forward = unit(minus(TARGET, position));
  const right = unit(cross(forward, [0, 1, 0]));
  const up = cross(right, forward);
  const half = (fieldOfView(width / height) * Math.PI) / 360;
  const scale = ((height / 2) * zoom) / Math.tan(half);
  return (point) => {
    const from = minus(point, position);
    const depth = dot(from, forward);
    return {
      x: width / 2 + (scale * dot(from, right)) / depth,
      y: height / 2 - (scale * dot(from, up)) / depth,
      depth,
    };
  };
}
