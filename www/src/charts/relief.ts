/** A landscape as a relief: where its points stand, from where it is seen, and a drawing of it in lines and faces for paper. */

import type { Landscape } from "isoflat";
import { svg } from "../dom";
import { type Heights, isWhole, lowest, type Relief, rowsOf } from "./heights";
import { css, type Ramp, type Rgb } from "./palette";

export const SIDE = 2;
export const HEIGHT = 1.25;
/** What is looked at. */
export const TARGET: Point3 = [0, 0.4, 0];

type Point3 = [number, number, number];

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

export function placer({ s, t, loss }: Relief, heights: Heights): Placer {
  return (i, j, lift = 0) => [
    (i / (s.length - 1) - 0.5) * SIDE,
    heights.at(loss[i + j * s.length] ?? heights.high) * HEIGHT + lift,
    (0.5 - j / (t.length - 1)) * SIDE,
  ];
}

const minus = (a: Point3, b: Point3): Point3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: Point3, b: Point3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Point3, b: Point3): Point3 => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const unit = (a: Point3): Point3 => {
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

/** From where the light comes, and how much there is without it. */
const SUN = unit([-2, 3.5, 1.4]);
const AMBIENT = 0.62;

/** Faces from the farthest to the nearest, each over those behind it. */
export function reliefDrawing(
  landscape: Landscape,
  heights: Heights,
  orbit: Orbit,
  width: number,
  height: number,
  colour: Ramp,
): SVGSVGElement {
  const { s, t, loss } = landscape;
  const rows = rowsOf(landscape);
  const place = placer(landscape, heights);
  const project = projection(orbit, width, height);
  const at = (point: Point3): string => {
    const { x, y } = project(point);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  };
  const faces: { depth: number; drawn: SVGElement }[] = [];
  for (let j = 0; j + 1 < rows; j++) {
    for (let i = 0; i + 1 < s.length; i++) {
      const corners = [place(i, j), place(i + 1, j), place(i + 1, j + 1), place(i, j + 1)];
      const [a, b, c, d] = corners as [Point3, Point3, Point3, Point3];
      const mean = [i + j * s.length, i + 1 + j * s.length, i + 1 + (j + 1) * s.length, i + (j + 1) * s.length]
        .map((k) => heights.at(loss[k] ?? heights.high))
        .reduce((sum, value) => sum + value / 4, 0);
      const light = AMBIENT + (1 - AMBIENT) * Math.abs(dot(unit(cross(minus(c, a), minus(d, b))), SUN));
      faces.push({
        depth: corners.reduce((sum, corner) => sum + project(corner).depth / 4, 0),
        drawn: svg("path", { d: `M${corners.map(at).join("L")}Z`, fill: css(shaded(colour(mean), light)) }),
      });
    }
  }
  faces.sort((one, other) => other.depth - one.depth);
  const h = SIDE / 2;
  const floor = [
    [-h, 0, -h],
    [h, 0, -h],
    [h, 0, h],
    [-h, 0, h],
  ] as Point3[];
  const posts = floor
    .filter(([x, , z]) => x < 0 || z < 0)
    .map((foot): [Point3, Point3] => [foot, [foot[0], HEIGHT, foot[2]]]);
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "relief", role: "img", "aria-label": "Loss surface" },
    svg("path", {
      class: "floor",
      d: `M${floor.map(at).join("L")}Z${posts.map(([a, b]) => `M${at(a)}L${at(b)}`).join("")}`,
    }),
    svg("g", { class: "faces" }, ...faces.map(({ drawn }) => drawn)),
    ...marks(landscape, rows, (t.length - 1) / 2, place, at),
  );
}

const shaded = ([r, g, b]: Rgb, light: number): Rgb => [r * light, g * light, b * light];

/** A pin at the weights, which lie in the middle row, and a ring at the lowest point, once all are known. */
function marks(
  landscape: Landscape,
  rows: number,
  middle: number,
  place: Placer,
  at: (point: Point3) => string,
): SVGElement[] {
  if (rows <= middle) return [];
  const foot = place((landscape.s.length - 1) / 2, middle);
  const head: Point3 = [foot[0], foot[1] + 0.3, foot[2]];
  const circle = (kind: string, point: Point3, r: number) => {
    const [cx = "0", cy = "0"] = at(point).split(",");
    return svg("circle", { class: kind, cx, cy, r });
  };
  const low = lowest(landscape);
  return [
    svg("path", { class: "stem", d: `M${at(foot)}L${at(head)}` }),
    circle("pin", head, 4.5),
    ...(isWhole(landscape) ? [circle("ring", place(low.i, low.j), 6)] : []),
  ];
}
