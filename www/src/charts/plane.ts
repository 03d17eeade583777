/** A function of two weights as filled bands with level lines, and paths of gradient descent over it. SVG. */

import { contours } from "d3-contour";
import { svg } from "../dom";
import { round } from "../format";
import { css, type Ramp, ramp } from "./palette";
import { type Mark, shapeOf } from "./xy";

export const PLANE = { width: 440, height: 400 };
const { width: WIDTH, height: HEIGHT } = PLANE;
const MARGIN = { left: 40, right: 10, top: 10, bottom: 38 };
const GRID = 96;
/** Bands between the lowest and the highest level. */
const BANDS = 12;
/** Length of an arrow's barbs. */
const BARB = 7;

export interface PlanePath {
  kind: string;
  mark: Mark;
  points: [number, number][];
}

export interface Arrow {
  from: [number, number];
  to: [number, number];
}

export interface Plane {
  axes: readonly [string, string];
  range: { readonly x: readonly [number, number]; readonly y: readonly [number, number] };
  of: (x: number, y: number) => number;
  /** What lies above stays in the uppermost band. */
  ceiling: number;
  paths: PlanePath[];
  /** A line through the plane, and arrows that begin on it. */
  line: [number, number][];
  arrows: Arrow[];
  label: string;
}

export function drawPlane(box: HTMLElement, plane: Plane): void {
  box.replaceChildren(planeDrawing(plane, box.id, ramp()));
}

/** `name` is its own among the drawings of the page. */
export function planeDrawing(
  { axes, range, of, ceiling, paths, line, arrows, label }: Plane,
  name: string,
  colour: Ramp,
): SVGSVGElement {
  const [x0, x1] = range.x;
  const [y0, y1] = range.y;
  const [left, right, top, bottom] = [MARGIN.left, WIDTH - MARGIN.right, MARGIN.top, HEIGHT - MARGIN.bottom];
  const x = (value: number) => left + ((value - x0) / (x1 - x0)) * (right - left);
  const y = (value: number) => bottom - ((value - y0) / (y1 - y0)) * (bottom - top);
  const at = (index: number, low: number, high: number) => low + ((index + 0.5) / GRID) * (high - low);
  const values = Array.from({ length: GRID * GRID }, (_, k) =>
    Math.min(of(at(k % GRID, x0, x1), at(Math.floor(k / GRID), y0, y1)), ceiling),
  );
  const low = Math.min(...values);
  const levels = Array.from({ length: BANDS }, (_, index) => low + ((ceiling - low) * index) / BANDS);
  const shapes = contours().size([GRID, GRID]).thresholds(levels)(values);
  const bands = shapes.map((shape, index) => {
    const d = shape.coordinates.flat().map((ring) => {
      const points = ring.map(([c = 0, r = 0]) => {
        return `${x(x0 + (c / GRID) * (x1 - x0)).toFixed(1)},${y(y0 + (r / GRID) * (y1 - y0)).toFixed(1)}`;
      });
      return `M${points.join("L")}Z`;
    });
    return svg("path", { d: d.join(""), fill: css(colour((index + 0.5) / BANDS)), class: index === 0 ? "" : "level" });
  });
  const clip = `clip-plane-${name}`;
  const frame = { x: left, y: top, width: right - left, height: bottom - top };
  const joined = (points: [number, number][]) =>
    points.map(([px, py], index) => `${index === 0 ? "M" : "L"}${x(px).toFixed(1)},${y(py).toFixed(1)}`).join("");
  const drawn = paths.map(({ kind, mark, points }) => {
    const places = points.map(([px, py]): [number, number] => [x(px), y(py)]);
    const d = joined(points);
    return svg(
      "g",
      { class: `series ${kind}` },
      svg("path", { class: "halo", d }),
      svg("path", { class: "line", d }),
      ...places.map(([px, py]) => shapeOf(mark, px, py)),
    );
  });
  const drawnArrows = arrows.map(({ from, to }) => {
    const [fx, fy, tx, ty] = [x(from[0]), y(from[1]), x(to[0]), y(to[1])];
    const angle = Math.atan2(ty - fy, tx - fx);
    const barb = (turn: number) =>
      `${(tx - BARB * Math.cos(angle + turn)).toFixed(1)},${(ty - BARB * Math.sin(angle + turn)).toFixed(1)}`;
    const tip = `${tx.toFixed(1)},${ty.toFixed(1)}`;
    return `M${fx.toFixed(1)},${fy.toFixed(1)}L${tip}M${barb(0.5)}L${tip}L${barb(-0.5)}`;
  });
  const along =
    line.length > 0
      ? svg(
          "g",
          { class: "along" },
          ...["halo", "line"].map((kind) => svg("path", { class: `${kind} same`, d: joined(line) })),
          ...["halo", "line"].map((kind) => svg("path", { class: kind, d: drawnArrows.join("") })),
        )
      : null;
  const start = paths[0]?.points[0];
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plane", role: "img", "aria-label": label },
    svg("defs", {}, svg("clipPath", { id: clip }, svg("rect", frame))),
    svg("g", { "clip-path": `url(#${clip})` }, ...bands, along, ...drawn, start && ring(x(start[0]), y(start[1]))),
    svg("rect", { ...frame, class: "frame" }),
    ...ticks(x0, x1).map((tick) => svg("text", { x: x(tick), y: bottom + 16, "text-anchor": "middle" }, round(tick))),
    ...ticks(y0, y1).map((tick) =>
      svg("text", { x: left - 7, y: y(tick), dy: "0.35em", "text-anchor": "end" }, round(tick)),
    ),
    svg("text", { x: (left + right) / 2, y: HEIGHT - 5, "text-anchor": "middle", class: "name" }, axes[0]),
    svg("text", { x: 11, y: (top + bottom) / 2, "text-anchor": "middle", class: "name" }, axes[1]),
  );
}

const ring = (cx: number, cy: number): SVGElement => svg("circle", { class: "start", cx, cy, r: 8 });

function ticks(low: number, high: number): number[] {
  return Array.from({ length: Math.floor(high - low) + 1 }, (_, index) => Math.ceil(low) + index);
}
