/** A landscape as a drawing in lines and faces, for paper. */

import type { Landscape } from "isoflat";
import { svg } from "../dom";
import { type Heights, isWhole, lowest, rowsOf } from "./heights";
import { levelSegments } from "./levels";
import { css, type Ramp, type Rgb } from "./palette";
import {
  cross,
  dot,
  HEIGHT,
  minus,
  type Orbit,
  type Placer,
  type Point3,
  placer,
  projection,
  SIDE,
  spot,
  spotAt,
  unit,
} from "./relief";
import { finely, isOn, type Place, placesOf, weightsAt } from "./way";

/** From where the light comes, and how much there is without it. */
const SUN = unit([-2, 3.5, 1.4]);
const AMBIENT = 0.62;

/** About half of how wide the way of a training is, in cells. */
const WAY = 0.06;

/** Faces from the farthest to the nearest, each over those behind it. */
export function reliefDrawing(
  landscape: Landscape,
  heights: Heights,
  orbit: Orbit,
  width: number,
  height: number,
  colour: Ramp,
): SVGSVGElement {
  const { s, loss } = landscape;
  const rows = rowsOf(landscape);
  const place = placer(landscape, heights);
  const project = projection(orbit, width, height);
  const at = (point: Point3): string => {
    const { x, y } = project(point);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  };
  const line = (kind: string, points: Point3[]) => svg("path", { class: kind, d: `M${points.map(at).join("L")}` });
  const onFaces = linesOnFaces(landscape, heights, line);
  const faces: { depth: number; drawn: SVGElement[] }[] = [];
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
        drawn: [
          svg("path", { class: "face", d: `M${corners.map(at).join("L")}Z`, fill: css(shaded(colour(mean), light)) }),
          ...(onFaces.get(i + j * s.length) ?? []),
        ],
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
    svg("g", { class: "faces" }, ...faces.flatMap(({ drawn }) => drawn)),
    ...marks(landscape, heights, place, at),
  );
}

const shaded = ([r, g, b]: Rgb, light: number): Rgb => [r * light, g * light, b * light];

/** What lies on each face, by its number: lines of equal loss, and the way of a training. What is before a face covers both. */
function linesOnFaces(
  landscape: Landscape,
  heights: Heights,
  line: (kind: string, points: Point3[]) => SVGElement,
): Map<number, SVGElement[]> {
  const found = new Map<number, SVGElement[]>();
  const put = (kind: string, places: [Place, Place], on: (place: Place) => Point3, margin: number) => {
    const drawn = places.map(on);
    for (const cell of cellsUnder(landscape, places, margin)) {
      found.set(cell, [...(found.get(cell) ?? []), line(kind, drawn)]);
    }
  };
  for (const { from, to, height } of levelSegments(landscape, heights)) {
    put("level", [from, to], (place) => spotAt(landscape, place, height * HEIGHT), 0);
  }
  for (const part of finely(landscape, placesOf(landscape))) {
    part.slice(1).forEach((to, index) => {
      put("way", [part[index] ?? to, to], (place) => spot(landscape, heights, place), WAY);
    });
  }
  return found;
}

/** Cells that a line lies on, or is so near to (in cells) that their faces would cover a part of its width. */
function cellsUnder({ s }: Landscape, places: [Place, Place], margin: number): Set<number> {
  const middle = { i: (places[0].i + places[1].i) / 2, j: (places[0].j + places[1].j) / 2 };
  const near = margin > 0 ? [...places, middle] : [middle];
  const around = margin > 0 ? [-margin, margin] : [0];
  return new Set(
    near.flatMap(({ i, j }) =>
      around.flatMap((di) => around.map((dj) => Math.floor(i + di) + Math.floor(j + dj) * s.length)),
    ),
  );
}

/** A pin at the weights, a ring where the way of a training begins, and one at the lowest point, once all are known. */
function marks(landscape: Landscape, heights: Heights, place: Placer, at: (point: Point3) => string): SVGElement[] {
  const circle = (kind: string, point: Point3, r: number) => {
    const [cx = "0", cy = "0"] = at(point).split(",");
    return svg("circle", { class: kind, cx, cy, r });
  };
  const [start] = placesOf(landscape);
  const begins = start && isOn(landscape, start) ? [circle("start", spot(landscape, heights, start), 6)] : [];
  const weights = weightsAt(landscape);
  if (!isOn(landscape, weights)) return begins;
  const foot = spot(landscape, heights, weights);
  const head: Point3 = [foot[0], foot[1] + 0.3, foot[2]];
  const low = lowest(landscape);
  return [
    ...begins,
    svg("path", { class: "stem", d: `M${at(foot)}L${at(head)}` }),
    circle("pin", head, 4.5),
    ...(isWhole(landscape) ? [circle("ring", place(low.i, low.j), 6)] : []),
  ];
}
