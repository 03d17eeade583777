/**
 * Numbers at a surface's box: its two directions along the edges in front, the loss up the corner farthest to the left. Where they
 * stand follows from the view point alone, so that they are drawn over the surface, by whatever draws that. What would lie over
 * another number, or beyond the view, is left out.
 */

import { svg } from "../dom";
import { power, round } from "../format";
import type { Heights, Relief } from "./heights";
import { HEIGHT, type Orbit, projection, SIDE } from "./relief";
import { linear } from "./scales";

export type AxisName = "s" | "t" | "loss";

export interface AxisLabel {
  axis: AxisName;
  text: string;
  /** Its middle in height, and where `anchor` says in width. */
  x: number;
  y: number;
  anchor: "start" | "middle" | "end";
  /** The axis' name, not a number on it. */
  isName: boolean;
}

export interface Axes {
  labels: AxisLabel[];
  /** From the edge outwards, one a number. */
  marks: { from: Point; to: Point }[];
}

interface Point {
  x: number;
  y: number;
}

/** Of the letters, in pixels: their size, and how wide one is at most, nearly. */
export const FONT_SIZE = 11;
const [LETTER, LINE] = [6.6, 12];
/** From the edge to the end of a mark, to a number, and to a name beyond the numbers: beside them, or above the highest. */
const [MARK, NUMBER, NAME, ABOVE] = [4, 8, 22, 12];
/** An axis that is seen from its end has no room for numbers. */
const SHORTEST = 30;
/** Views at least so wide have room for numbers within the box. */
const ROOMY = 300;

export function axesOf({ s, t }: Relief, heights: Heights, orbit: Orbit, width: number, height: number): Axes {
  const project = projection(orbit, width, height);
  const found = new Labels(width, height);
  const corners = [-1, 1].flatMap((x) => [-1, 1].map((z) => ({ x, z, at: project(corner(x, z)) })));
  const front = corners.reduce((best, one) => (one.at.depth < best.at.depth ? one : best));
  const middle = project([0, 0, 0]);
  const [low, high] = [(axis: Float64Array) => axis[0] ?? -1, (axis: Float64Array) => axis.at(-1) ?? 1];
  const edges = [
    { axis: "s" as const, of: s, place: (f: number) => project(corner(2 * f - 1, front.z)) },
    { axis: "t" as const, of: t, place: (f: number) => project(corner(front.x, 1 - 2 * f)) },
  ];
  for (const { axis, of, place } of edges) {
    const scale = linear(low(of), high(of), 4);
    const out = outwards(place(0), place(1), middle);
    const numbers = inOrder(scale.ticks.map(({ value, label }) => ({ share: scale.at(value), label })));
    if (distance(place(0), place(1)) < SHORTEST) continue;
    // The first three are the ends and the middle: the name goes before what is between them.
    for (const { share, label } of numbers.slice(0, 3)) found.number(axis, label, place(share), out);
    found.name(axis, [place(0.5), place(0.75), place(0.25)], out);
    for (const { share, label } of numbers.slice(3)) found.number(axis, label, place(share), out);
  }
  const left = corners.reduce((best, one) => (one.at.x < best.at.x ? one : best));
  const up = (share: number): Point => project(corner(left.x, left.z, share * HEIGHT));
  if (distance(up(0), up(1)) >= SHORTEST) {
    const ticks = lossTicks(heights);
    // Within the box where there is no room beside it, and nowhere where that would hide the surface.
    const widest = Math.max(...ticks.map(({ label }) => label.length * LETTER)) + NUMBER + 1;
    const isBeside = Math.min(up(0).x, up(1).x) > widest;
    if (isBeside || width >= ROOMY) {
      const out = { x: isBeside ? -1 : 1, y: 0 };
      // Before the numbers, the highest of which may be where it goes.
      found.name("loss", [up(1)], { x: 0, y: -1 }, ABOVE);
      for (const { value, label } of ticks) found.number("loss", label, up(heights.at(value)), out);
    }
  }
  return found;
}

/** As elements, in the order in which they are found. */
export const drawnAxes = ({ labels, marks }: Axes): SVGElement[] => [
  svg("path", { d: marks.map(({ from, to }) => `M${at(from)}L${at(to)}`).join("") }),
  ...labels.map(({ axis, text, x, y, anchor, isName }) =>
    svg(
      "text",
      {
        x: x.toFixed(1),
        y: y.toFixed(1),
        dy: "0.35em",
        "text-anchor": anchor,
        "data-axis": axis,
        class: isName && "name",
      },
      text,
    ),
  ),
];

/** Losses that one reads at a glance, those first that say most: powers of ten, then 5 and 2 of them, then even steps. */
export function lossTicks({ kind, low, high }: Heights): { value: number; label: string }[] {
  if (!(high > low)) return [];
  const even = linear(low, high, 5).ticks.map(({ value }) => value);
  // Among negative losses there are no powers of ten to be found.
  if (kind === "linear" || low < 0) return even.map((value) => ({ value, label: lossLabel(value) }));
  const [from, to] = [Math.floor(Math.log10(Math.max(low, (high - low) * 1e-3))), Math.floor(Math.log10(high))];
  const powers = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  const round = [1, 5, 2].flatMap((factor) => powers.map((power) => Number((factor * power).toPrecision(1))));
  const values = [...round, ...even].filter((value) => value > low && value < high);
  return [...new Set(values)].map((value) => ({ value, label: lossLabel(value) }));
}

/** A power of ten that would be long is written as one. */
export const lossLabel = (value: number): string =>
  /^1(\.0+)?e/.test(value.toExponential(5))
    ? value >= 1e4 || value < 1e-2
      ? power(value)
      : round(value)
    : round(value);

const corner = (x: number, z: number, y = 0): [number, number, number] => [(x * SIDE) / 2, y, (z * SIDE) / 2];
const at = ({ x, y }: Point): string => `${x.toFixed(1)},${y.toFixed(1)}`;
const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);

/** At right angles to an edge, away from the middle. */
function outwards(from: Point, to: Point, middle: Point): Point {
  const length = distance(from, to) || 1;
  const out = { x: (to.y - from.y) / length, y: (from.x - to.x) / length };
  const isInwards = out.x * (middle.x - from.x) + out.y * (middle.y - from.y) > 0;
  return isInwards ? { x: -out.x, y: -out.y } : out;
}

/** Ends, the middle, and then what is between. */
function inOrder<T>(ticks: T[]): T[] {
  const [last, half] = [ticks.length - 1, Math.floor(ticks.length / 2)];
  const first = [...new Set([0, last, half])].filter((index) => index >= 0);
  const order = [...first, ...ticks.keys()].filter((index, place, all) => all.indexOf(index) === place);
  return order.flatMap((index) => ticks[index] ?? []);
}

/** Labels that are there, and room for others. */
class Labels implements Axes {
  readonly labels: AxisLabel[] = [];
  readonly marks: Axes["marks"] = [];
  readonly #taken: { left: number; right: number; top: number; bottom: number }[] = [];

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  number(axis: AxisName, text: string, edge: Point, out: Point): void {
    if (!this.#put(axis, text, edge, out, NUMBER, false)) return;
    this.marks.push({ from: edge, to: { x: edge.x + MARK * out.x, y: edge.y + MARK * out.y } });
  }

  /** At the first of the places that has room, beyond the numbers or between them. */
  name(axis: AxisName, places: Point[], out: Point, far = NAME): void {
    for (const from of [far, NUMBER]) {
      for (const place of places) if (this.#put(axis, axis, place, out, from, true)) return;
    }
  }

  #put(axis: AxisName, text: string, edge: Point, out: Point, from: number, isName: boolean): boolean {
    const anchor = out.x > 0.4 ? "start" : out.x < -0.4 ? "end" : "middle";
    const [x, y] = [edge.x + from * out.x, edge.y + (from + LINE / 4) * out.y];
    const wide = LETTER * text.length;
    const left = anchor === "start" ? x : anchor === "end" ? x - wide : x - wide / 2;
    const box = { left, right: left + wide, top: y - LINE / 2, bottom: y + LINE / 2 };
    const isInView = box.left >= 1 && box.right <= this.width - 1 && box.top >= 1 && box.bottom <= this.height - 1;
    const isFree = this.#taken.every(
      ({ left, right, top, bottom }) =>
        box.left > right + 2 || box.right < left - 2 || box.top > bottom || box.bottom < top,
    );
    if (!isInView || !isFree) return false;
    this.#taken.push(box);
    this.labels.push({ axis, text, x, y, anchor, isName });
    return true;
  }
}
