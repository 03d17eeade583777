/** Series with lines and marks in a plot. Values that are not finite have a place of their own at the top. */

import { svg } from "../dom";
import { type Frame, level, Plot, type PlotOptions } from "./plot";
import { linear, type Scale } from "./scales";

export type Mark = "circle" | "diamond" | "square" | "cross" | "ring" | "bar";

export interface XySeries {
  name: string;
  /** Classes that give line and marks their colour: those of `spaces.css`. */
  kind: string;
  line?: boolean;
  dashed?: boolean;
  mark?: Mark;
  /** `at`: the value at the x axis, where marks are drawn beside it. `range`: from where to where what y is the mean of lies. */
  points: { x: number; y: number; at?: number; title?: string; range?: readonly [number, number] }[];
}

export interface XyOptions {
  x: Scale;
  y: Scale;
  xLabel: string;
  yLabel: string;
  label: string;
  /** A level line with its name, to see values against. */
  level?: { y: number; name: string };
  /** What the place for values that are not finite is called; there is none without it. */
  lost?: string;
}

/** Height of the place for what is not finite. */
const BAND = 24;
/** Share of the plot that is left for it above the values. */
const HEADROOM = 0.12;

/** What a chart was last told to show. */
export interface Shown {
  series: XySeries[];
  options: XyOptions;
}

export class XyChart {
  readonly #plot: Plot;
  #shown: Shown = { series: [], options: { x: linear(0, 1), y: linear(0, 1), xLabel: "", yLabel: "", label: "" } };

  constructor(box: HTMLElement) {
    this.#plot = new Plot(box);
  }

  get shown(): Shown {
    return this.#shown;
  }

  show(series: XySeries[], options: XyOptions): void {
    this.#shown = { series, options };
    this.#plot.show(xyPlot(series, options));
  }
}

export function xyPlot(series: XySeries[], { level: line, lost, ...options }: XyOptions): PlotOptions {
  const y = lost === undefined ? options.y : withHeadroom(options.y);
  return {
    ...options,
    y,
    marks: (frame) => {
      const place: Place = (point) => [
        frame.x(point.x),
        Number.isFinite(point.y) ? Math.max(frame.y(point.y), frame.top) : frame.top + BAND / 2,
      ];
      return [
        lost === undefined ? null : band(frame, lost),
        line ? level(frame, line.y, line.name) : null,
        ...series.map((each) => drawn(each, place)),
      ];
    },
  };
}

type Place = (point: { x: number; y: number }) => [number, number];

const withHeadroom = (scale: Scale): Scale => ({ ...scale, at: (value) => scale.at(value) * (1 - HEADROOM) });

function band({ left, right, top }: Frame, name: string): SVGGElement {
  return svg(
    "g",
    { class: "lost" },
    svg("rect", { x: left, y: top, width: Math.max(right - left, 1), height: BAND }),
    svg("text", { x: left + 6, y: top + BAND / 2, dy: "0.35em" }, name),
  );
}

function drawn({ name, kind, line = true, dashed, mark, points }: XySeries, place: Place): SVGGElement {
  const group = svg("g", { class: `series ${kind}`, "data-series": name, "data-points": points.length });
  if (line && points.length > 1) {
    // What is not finite breaks the line.
    const broken = points.map((point, index) => {
      if (!Number.isFinite(point.y)) return "";
      const before = points[index - 1];
      return `${before && Number.isFinite(before.y) ? "L" : "M"}${place(point).map((v) => v.toFixed(1))}`;
    });
    const d = broken.join("");
    group.append(svg("path", { d, class: dashed ? "line dashed" : "line" }));
  }
  if (mark) {
    for (const { x, range } of points) {
      if (!range) continue;
      const [low, high] = range.map((y) => place({ x, y }).join(","));
      group.append(svg("path", { class: "spread", d: `M${low}L${high}` }));
    }
    for (const point of points) {
      const shape = shapeOf(Number.isFinite(point.y) ? mark : "cross", ...place(point));
      if (point.title) shape.append(svg("title", {}, point.title));
      group.append(shape);
    }
  }
  return group;
}

const OUTLINES: Record<Mark, string> = {
  circle: "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0",
  diamond: "m0,-5.4l5.4,5.4l-5.4,5.4l-5.4,-5.4z",
  square: "m-4,-4h8v8h-8z",
  cross: "m-4,-4l8,8m0,-8l-8,8",
  ring: "m-5.5,0a5.5,5.5 0 1,0 11,0a5.5,5.5 0 1,0 -11,0",
  bar: "m0,-6v12",
};

export function shapeOf(mark: Mark, x: number, y: number): SVGPathElement {
  return svg("path", { d: `M${x.toFixed(1)},${y.toFixed(1)}${OUTLINES[mark]}`, class: `mark ${mark}` });
}

/** A series' line and mark, for a legend. */
export function legendKey({ kind, dashed, mark }: Pick<XySeries, "kind" | "dashed" | "mark">): SVGSVGElement {
  return svg(
    "svg",
    { class: `key-drawing series ${kind}`, viewBox: "0 0 34 14", width: 34, height: 14, "aria-hidden": "true" },
    svg("path", { class: dashed ? "line dashed" : "line", d: "M1,7H33" }),
    mark && shapeOf(mark, 17, 7),
  );
}
