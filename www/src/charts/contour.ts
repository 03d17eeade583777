/** Contour map in SVG: filled bands, labelled level lines, the lowest grid point and the weights themselves. */

import { contours } from "d3-contour";
import type { Landscape } from "isoflat";
import { html, svg } from "../dom";
import { number, rounds } from "../format";
import { centerSaid, type Heights, isWhole, lowest, rowsOf } from "./heights";
import { css, type Ramp, ramp } from "./palette";
import { linear, type Scale } from "./scales";
import { placesOf, weightsAt } from "./way";

/** Less than this leaves no room for labels, and the drawing is scaled; below the other there is room for few. */
const [LEAST, ROOMY] = [130, 200];
const MARGIN = { left: 40, right: 8, top: 8, bottom: 34 };
/** Below the drawing, of what it says in words. */
const WORDS = 30;

export function drawContour(
  view: HTMLElement,
  landscape: Landscape,
  heights: Heights,
  name: string,
  colour: Ramp = ramp(),
): void {
  // As large as its place, so that letters are as large as elsewhere.
  const size = Math.max(Math.min(view.clientWidth, view.clientHeight - WORDS), LEAST);
  view.replaceChildren(
    contourDrawing(size, landscape, heights, name, colour),
    html("p", { class: "marks" }, contourMarks(landscape)),
  );
}

/** What its two marks are. */
export function contourMarks(landscape: Landscape): string {
  return `+ the weights   ${isWhole(landscape) ? "○" : "·"} lowest of ${landscape.s.length} × ${rowsOf(landscape)} points: ${number(lowest(landscape).loss)}`;
}

/** `name` is its own among the drawings of the page. */
export function contourDrawing(
  size: number,
  landscape: Landscape,
  heights: Heights,
  name: string,
  colour: Ramp,
): SVGSVGElement {
  const inner = size - MARGIN.left - MARGIN.right;
  const { s, t } = landscape;
  const [nx, ny] = [s.length, t.length];
  const rows = rowsOf(landscape);
  const whole = isWhole(landscape);
  // d3 puts the values at the middles of unit cells; the outer half cells lie beyond the data and are clipped.
  const x = (column: number) => MARGIN.left + ((column - 0.5) / (nx - 1)) * inner;
  const y = (row: number) => MARGIN.top + inner - ((row - 0.5) / (ny - 1)) * inner;
  const values = Array.from(landscape.loss, (loss) => heights.at(loss));
  const levels = [heights.low, ...heights.levels];
  const shapes = contours()
    .size([nx, rows])
    .thresholds(levels.map((level) => heights.at(level)))(values);

  const clip = `clip-${name}`;
  const bands = svg("g", { class: "bands", "clip-path": `url(#${clip})` });
  const labels = svg("g", { class: "level-labels" });
  const taken: [number, number][] = [];
  const said = ["", ...rounds(heights.levels)];
  shapes.forEach((shape, index) => {
    const level = levels[index] ?? 0;
    const path = shape.coordinates
      .map((polygon) =>
        polygon
          .map((ring) => `M${ring.map(([c = 0, r = 0]) => `${x(c).toFixed(1)},${y(r).toFixed(1)}`).join("L")}Z`)
          .join(""),
      )
      .join("");
    const next = levels[index + 1];
    const middle = (heights.at(level) + (next === undefined ? 1 : heights.at(next))) / 2;
    bands.append(svg("path", { d: path, fill: css(colour(middle)), class: index === 0 ? "floor" : "level" }));
    if (index === 0) return;
    const at = labelPlace(shape.coordinates.flat(), nx, rows, x, y, taken);
    if (!at) return;
    taken.push(at);
    labels.append(svg("text", { x: at[0], y: at[1], dy: "0.35em" }, said[index] ?? ""));
  });

  const low = lowest(landscape);
  const weights = weightsAt(landscape);
  // Rows come from below; what is not there yet stays the panel's ground.
  const top = whole ? MARGIN.top : y(rows - 0.5);
  const known = { x: MARGIN.left, y: top, width: inner, height: MARGIN.top + inner - top };
  const frame = { x: MARGIN.left, y: MARGIN.top, width: inner, height: inner };
  return svg(
    "svg",
    {
      viewBox: `0 0 ${size} ${inner + MARGIN.top + MARGIN.bottom}`,
      class: "contour",
      "data-rows": rows,
      role: "img",
      "aria-label": describe(landscape, heights),
    },
    svg("defs", {}, svg("clipPath", { id: clip }, svg("rect", known))),
    bands,
    svg("rect", { ...frame, class: "frame" }),
    axes(s, t, inner),
    wayLine(
      placesOf(landscape).map(({ i, j }): [number, number] => [x(i + 0.5), y(j + 0.5)]),
      clip,
    ),
    labels,
    cross(x(weights.i + 0.5), y(weights.j + 0.5)),
    whole && svg("circle", { class: "lowest", cx: x(low.i + 0.5), cy: y(low.j + 0.5), r: 7 }),
  );
}

/** Along the level line, the place that is farthest from the labels already set and well inside the frame. */
function labelPlace(
  rings: number[][][],
  nx: number,
  ny: number,
  x: (c: number) => number,
  y: (r: number) => number,
  taken: [number, number][],
): [number, number] | null {
  let best: [number, number] | null = null;
  let bestScore = 26;
  for (const ring of rings) {
    for (const [c = 0, r = 0] of ring) {
      if (c < 1.4 || r < 1.2 || c > nx - 1.4 || r > ny - 1.2) continue;
      const at: [number, number] = [x(c), y(r)];
      const centre = Math.hypot(at[0] - x(nx / 2), at[1] - y(ny / 2));
      let score = Math.min(centre * 1.4, 200);
      for (const [tx, ty] of taken) score = Math.min(score, Math.hypot((at[0] - tx) * 0.7, at[1] - ty));
      // A slight pull to the upper right keeps the labels of nested rings in one readable file.
      score = Math.min(score, 60) + 0.05 * (at[0] - at[1]);
      if (score > bestScore) {
        bestScore = score;
        best = at;
      }
    }
  }
  return best;
}

/** With a dot at each snapshot and a ring where it begins; null where there is no way. */
function wayLine(places: [number, number][], clip: string): SVGGElement | null {
  const [start] = places;
  if (!start) return null;
  const d = places.map(([px, py], index) => `${index === 0 ? "M" : "L"}${px.toFixed(1)},${py.toFixed(1)}`).join("");
  return svg(
    "g",
    { class: "way", "clip-path": `url(#${clip})` },
    svg("path", { class: "halo", d }),
    svg("path", { class: "line", d }),
    ...places.slice(1).map(([cx, cy]) => svg("circle", { class: "dot", cx, cy, r: 2.4 })),
    svg("circle", { class: "start", cx: start[0], cy: start[1], r: 6 }),
  );
}

function axes(s: Float64Array, t: Float64Array, inner: number): SVGGElement {
  const group = svg("g", { class: "axes" });
  const bottom = MARGIN.top + inner;
  const many = inner + MARGIN.left + MARGIN.right < ROOMY ? 2 : 5;
  const [along, across] = [ticksOf(s, many), ticksOf(t, many)];
  for (const { value, label } of along.ticks) {
    const f = along.at(value);
    const px = MARGIN.left + f * inner;
    group.append(
      svg("line", { x1: px, x2: px, y1: bottom, y2: bottom + 4 }),
      svg("text", { x: px, y: bottom + 16, "text-anchor": f > 0.95 ? "end" : "middle" }, label),
    );
  }
  for (const { value, label } of across.ticks) {
    const f = across.at(value);
    const py = bottom - f * inner;
    group.append(
      svg("line", { x1: MARGIN.left - 4, x2: MARGIN.left, y1: py, y2: py }),
      svg("text", { x: MARGIN.left - 7, y: py, dy: f > 0.95 ? "0.8em" : "0.35em", "text-anchor": "end" }, label),
    );
  }
  group.append(
    svg(
      "text",
      { x: MARGIN.left + inner / 2, y: bottom + 30, "text-anchor": "middle", class: "axis-name" },
      "first direction",
    ),
    svg(
      "text",
      {
        transform: `translate(11 ${MARGIN.top + inner / 2}) rotate(-90)`,
        "text-anchor": "middle",
        class: "axis-name",
      },
      "second direction",
    ),
  );
  return group;
}

/** Short numbers, since there is little room; of −1 to 1 the quarters. */
const ticksOf = (axis: Float64Array, many: number): Scale => linear(axis[0] ?? -1, axis.at(-1) ?? 1, many);

function cross(cx: number, cy: number): SVGPathElement {
  return svg("path", { class: "weights", d: `M${cx - 6},${cy}h12M${cx},${cy - 6}v12` });
}

function describe(landscape: Landscape, heights: Heights): string {
  const low = lowest(landscape);
  const known = isWhole(landscape)
    ? centerSaid(landscape, "at the weights")
    : `${rowsOf(landscape)} of ${landscape.t.length} rows so far, `;
  let high = Number.NEGATIVE_INFINITY;
  for (const loss of landscape.loss) if (loss > high) high = loss;
  return (
    `Contour map of the loss: ${known}lowest ${number(low.loss)}, highest ${number(high)}` +
    (heights.levels.length > 0 ? `; level lines at ${rounds(heights.levels).join(", ")}` : "") +
    (landscape.path ? "; the way of the training is drawn on it" : "")
  );
}
