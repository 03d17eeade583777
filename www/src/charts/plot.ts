/** A small plot in SVG: axes, a frame, and marks that the caller draws. Its colours are the style sheet’s. */

import { svg } from "../dom";
import { isSizeObserved, whenSized } from "../observers";
import { plain } from "../subscripts";
import { widthOf } from "./font";
import type { Scale } from "./scales";

export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: (value: number) => number;
  y: (value: number) => number;
  /** Of the axis at the right, where there is one. */
  yRight?: (value: number) => number;
}

export interface PlotOptions {
  x: Scale;
  y: Scale;
  xLabel: string;
  yLabel: string;
  /** What a screen reader says. */
  label: string;
  /** Drawn in this order, clipped to the frame. */
  marks: (frame: Frame) => (SVGElement | null)[];
  /** Room for the labels of the y axis, in pixels, at least. */
  left?: number;
  /** A second y axis, for what is of another kind. */
  right?: { scale: Scale; label: string };
}

type Place = readonly [x: number, y: number];

const BOTTOM = 38;
const TOP = 10;
const RIGHT = 14;
/** A line may go so far beyond the frame: as far as its own width shows. */
const BESIDE = 4;
/** Height of a label. */
const LINE = 14;
/** From a label to its axis. */
const GAP = 6;
/** Room for the y axis' name, at the left of the labels. */
const NAME = 18;

let plots = 0;

export class Plot {
  #options: PlotOptions | undefined;
  #drawing: SVGSVGElement | undefined;
  /** What axes and frame are drawn from. */
  #ground = "";
  /** Of the box, as it was last laid out. To ask for it between two pictures has the whole page laid out once more. */
  #size = { width: 0, height: 0 };

  readonly #leave: () => void;

  /** The plot is as large as its box, and follows it. */
  constructor(private readonly box: HTMLElement) {
    // What it shows is said by the drawing in it.
    for (const name of ["role", "aria-label"]) box.removeAttribute(name);
    this.#leave = whenSized(box, () => {
      this.#measure();
      this.#draw();
    });
  }

  show(options: PlotOptions | undefined): void {
    this.#options = options;
    if (!isSizeObserved) this.#measure();
    this.#draw();
  }

  close(): void {
    this.#leave();
    this.box.replaceChildren();
  }

  #measure(): void {
    this.#size = { width: this.box.clientWidth, height: this.box.clientHeight };
  }

  #draw(): void {
    const options = this.#options;
    const { width, height } = this.#size;
    if (!options || width === 0 || height === 0) {
      this.box.replaceChildren();
      return;
    }
    const ground = groundOf(options, width, height);
    const marks = this.#drawing?.querySelector(`.${MARKS}`);
    if (marks && ground === this.#ground && this.#drawing?.parentElement === this.box) {
      // While a network learns this happens a dozen times a second, and text is what takes the time.
      marks.replaceChildren(...present(options.marks(frameOf(options, width, height))));
      this.#drawing.setAttribute("aria-label", plain(options.label));
      return;
    }
    this.#ground = ground;
    this.#drawing = plotDrawing(options, width, height);
    this.box.replaceChildren(this.#drawing);
  }
}

const MARKS = "plot-marks";

const present = (marks: (SVGElement | null)[]): SVGElement[] => marks.filter((mark) => mark !== null);

function groundOf({ x, y, xLabel, yLabel, left, right }: PlotOptions, width: number, height: number): string {
  const said = [x, y, right?.scale].map((scale) => scale?.ticks.map(({ value, label }) => [scale.at(value), label]));
  return JSON.stringify([said, xLabel, yLabel, left, right?.label, width, height]);
}

function frameOf(options: PlotOptions, width: number, height: number): Frame {
  const { x, y } = options;
  const left = Math.max(options.left ?? 52, NAME + GAP + widest(y));
  const right = width - (options.right ? NAME + GAP + widest(options.right.scale) : RIGHT);
  const bottom = height - BOTTOM;
  const up = (scale: Scale) => (value: number) => bottom - scale.at(value) * (bottom - TOP);
  return {
    left,
    right,
    top: TOP,
    bottom,
    x: (value) => left + x.at(value) * (right - left),
    y: up(y),
    ...(options.right && { yRight: up(options.right.scale) }),
  };
}

/** A plot of a size of its own. */
export function plotDrawing(options: PlotOptions, width: number, height: number): SVGSVGElement {
  const name = `plot-${++plots}`;
  const frame = frameOf(options, width, height);
  const { left, right, bottom } = frame;
  const area = { x: left, y: TOP, width: Math.max(right - left, 1), height: Math.max(bottom - TOP, 1) };
  return svg(
    "svg",
    { class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": options.label },
    svg("defs", {}, svg("clipPath", { id: name }, svg("rect", area))),
    axes(options, frame, width),
    svg("g", { class: MARKS, "clip-path": `url(#${name})` }, ...options.marks(frame)),
    svg("rect", { ...area, class: "frame" }),
  );
}

const widest = ({ ticks }: Scale): number => Math.max(0, ...ticks.map(({ label }) => widthOf(label)));

function axes({ x, y, xLabel, yLabel, right: second }: PlotOptions, frame: Frame, width: number): SVGGElement {
  const { left, right, top, bottom } = frame;
  const group = svg("g", { class: "axes" });
  let last = Number.NEGATIVE_INFINITY;
  const inOrder = [...x.ticks].sort((a, b) => a.value - b.value);
  for (const { value, label } of inOrder) {
    const at = frame.x(value);
    group.append(svg("line", { x1: at, x2: at, y1: top, y2: bottom, class: "grid" }));
    // Labels that would touch are left out.
    const half = widthOf(label) / 2;
    if (at - half < last || at + half > width) continue;
    last = at + half + 6;
    group.append(svg("text", { x: at, y: bottom + 14, "text-anchor": "middle" }, label));
  }
  const middle = (top + bottom) / 2;
  const name = (at: number, text: string) =>
    svg(
      "text",
      { transform: `translate(${at} ${middle}) rotate(-90)`, "text-anchor": "middle", class: "axis-name" },
      text,
    );
  for (const { at, label } of spaced(y, frame.y)) {
    group.append(svg("line", { x1: left, x2: right, y1: at, y2: at, class: "grid" }));
    if (label) group.append(svg("text", { x: left - GAP, y: at, dy: "0.33em", "text-anchor": "end" }, label));
  }
  if (second && frame.yRight) {
    for (const { at, label } of spaced(second.scale, frame.yRight)) {
      group.append(svg("line", { x1: right, x2: right + 4, y1: at, y2: at, class: "grid" }));
      if (label) group.append(svg("text", { x: right + GAP, y: at, dy: "0.33em" }, label));
    }
    group.append(name(width - 4, second.label));
  }
  group.append(
    svg("text", { x: (left + right) / 2, y: bottom + 31, "text-anchor": "middle", class: "axis-name" }, xLabel),
    name(12, yLabel),
  );
  return group;
}

/** A y axis' ticks, without the labels that would lie on others. */
function spaced({ ticks }: Scale, place: (value: number) => number): { at: number; label: string | null }[] {
  const taken: number[] = [];
  return ticks.map(({ value, label }) => {
    const at = place(value);
    if (taken.some((other) => Math.abs(other - at) < LINE)) return { at, label: null };
    taken.push(at);
    return { at, label };
  });
}

const isFinitePlace = ([x, y]: Place): boolean => Number.isFinite(x) && Number.isFinite(y);

const placesOf = (frame: Frame, xs: ArrayLike<number>, ys: ArrayLike<number>): Place[] =>
  Array.from(xs, (x, index): Place => [frame.x(x), frame.y(ys[index] ?? Number.NaN)]);

const said = ([x, y]: Place): string => `${x.toFixed(2)},${y.toFixed(2)}`;

const places = (frame: Frame, xs: ArrayLike<number>, ys: ArrayLike<number>): string[] =>
  placesOf(frame, xs, ys).filter(isFinitePlace).map(said);

/**
 * What is not finite breaks it. Cut at the frame, and not only hidden beyond it: a dashed line that goes on for a million pixels takes seconds to draw.
 */
export function curve(frame: Frame, xs: ArrayLike<number>, ys: ArrayLike<number>, kind: string): SVGPathElement | null {
  const points = placesOf(frame, xs, ys);
  let d = "";
  let end = "";
  for (let index = 0; index + 1 < points.length; index++) {
    const ends: [Place, Place] = [points[index] as Place, points[index + 1] as Place];
    const piece = ends.every(isFinitePlace) ? inside(frame, ...ends) : null;
    if (!piece) continue;
    const [from, to] = piece.map(said);
    d += from === end ? `L${to}` : `M${from}L${to}`;
    end = to ?? "";
  }
  return d === "" ? null : svg("path", { class: `curve ${kind}`, d });
}

/** The part of a segment that lies in the frame or next to it (Liang and Barsky), if any does. */
function inside({ left, right, top, bottom }: Frame, [x0, y0]: Place, [x1, y1]: Place): [Place, Place] | null {
  const [dx, dy] = [x1 - x0, y1 - y0];
  let [from, to] = [0, 1];
  for (const [step, room] of [
    [-dx, x0 - left + BESIDE],
    [dx, right + BESIDE - x0],
    [-dy, y0 - top + BESIDE],
    [dy, bottom + BESIDE - y0],
  ] as const) {
    if (step === 0 && room < 0) return null;
    if (step < 0) from = Math.max(from, room / step);
    if (step > 0) to = Math.min(to, room / step);
  }
  return from > to
    ? null
    : [
        [x0 + from * dx, y0 + from * dy],
        [x0 + to * dx, y0 + to * dy],
      ];
}

/** Between two curves over the same x. */
export function band(
  frame: Frame,
  xs: ArrayLike<number>,
  low: ArrayLike<number>,
  high: ArrayLike<number>,
  kind: string,
): SVGPathElement | null {
  const [below, above] = [places(frame, xs, low), places(frame, xs, high)];
  if (below.length < 2 || above.length < 2) return null;
  return svg("path", { class: `band ${kind}`, d: `M${above.join("L")}L${below.reverse().join("L")}Z` });
}

/** Circles for the trained point, diamonds for what became of it: all as one path, however many they are. */
export function dots(
  frame: Frame,
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  kind: string,
  size = 3.5,
): SVGPathElement {
  const shape = kind.split(" ").includes("bent")
    ? `m0,${-1.25 * size}l${1.25 * size},${1.25 * size}l${-1.25 * size},${1.25 * size}l${-1.25 * size},${-1.25 * size}z`
    : `m${-size},0a${size},${size} 0 1 0 ${2 * size},0a${size},${size} 0 1 0 ${-2 * size},0z`;
  const d = places(frame, xs, ys).map((place) => `M${place}${shape}`);
  return svg("path", { class: `dots ${kind}`, "data-count": d.length, d: d.join("") });
}

/** A level line across the plot, with what it is. */
export function level(frame: Frame, value: number, text: string): SVGGElement {
  const y = frame.y(value);
  return svg(
    "g",
    { class: "level-mark" },
    svg("line", { x1: frame.left, x2: frame.right, y1: y, y2: y }),
    svg("text", { x: frame.left + 0.4 * (frame.right - frame.left), y: y - 5, "text-anchor": "middle" }, text),
  );
}

/** One bar a layer, beside those of the other point, with its number above. */
export function bars(
  frame: Frame,
  values: number[],
  kind: string,
  index: number,
  of: number,
  say: (value: number) => string,
): SVGGElement {
  const unit = frame.x(2) - frame.x(1);
  const width = (0.7 * unit) / of;
  const group = svg("g", { class: "bars" });
  values.forEach((value, at) => {
    const left = frame.x(at + 1) - (width * of) / 2 + index * width;
    const [top, bottom] = [frame.y(Math.max(value, 0)), frame.y(Math.min(value, 0))];
    group.append(
      svg("rect", { class: `bar ${kind}`, x: left, y: top, width: width - 1.5, height: Math.max(bottom - top, 0.75) }),
    );
    const text = say(value);
    // Where there is room for it.
    if (text.length * 6.2 < width + 8) {
      group.append(svg("text", { x: left + width / 2, y: top - 4, "text-anchor": "middle" }, text));
    }
  });
  return group;
}

/** Vertical bars of ± error. */
export function errorBars(frame: Frame, xs: number[], ys: number[], errors: number[], kind: string): SVGPathElement {
  const d = xs.map((x, index) => {
    const [y, error] = [ys[index] ?? 0, errors[index] ?? 0];
    return `M${frame.x(x)},${frame.y(y - error)}V${frame.y(y + error)}`;
  });
  return svg("path", { class: `error ${kind}`, d: d.join("") });
}
