/** Lines and marks over two axes, linear or logarithmic, in SVG. Values that are not finite have a place of their own above the top. */

import { svg } from "../dom";
import { round } from "../format";

export type Mark = "circle" | "diamond" | "square" | "cross";

export interface XySeries {
  name: string;
  /** Classes that give line and marks their colour: those of `spaces.css`. */
  kind: string;
  line?: boolean;
  dashed?: boolean;
  mark?: Mark;
  points: { x: number; y: number; title?: string }[];
}

export interface XyAxis {
  label: string;
  log?: boolean;
  range: [number, number];
  /** Where the ticks are; round numbers if not given. */
  ticks?: number[];
}

export interface XyOptions {
  x: XyAxis;
  y: XyAxis;
  label: string;
  /** Horizontal lines with a name, to see values against. */
  levels?: { y: number; name: string }[];
  /** What stands beside the band for values that are not finite; no band without it. */
  lost?: string;
}

const MARGIN = { left: 50, right: 14, bottom: 36, top: 10 };
const BAND = 26;

export class XyChart {
  #shown: [XySeries[], XyOptions] | undefined;

  constructor(readonly box: HTMLElement) {
    new ResizeObserver(() => this.#shown && this.show(...this.#shown)).observe(box);
  }

  show(series: XySeries[], options: XyOptions): void {
    this.#shown = [series, options];
    const { clientWidth: width, clientHeight: height } = this.box;
    if (width === 0 || height === 0) return;
    const top = MARGIN.top + (options.lost === undefined ? 0 : BAND);
    const x = scale(options.x, MARGIN.left, width - MARGIN.right);
    const y = scale(options.y, height - MARGIN.bottom, top);
    const place: Place = (point) => [x(point.x), Number.isFinite(point.y) ? y(point.y) : top - BAND / 2];
    const drawing = svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, width, height, class: "xy", role: "img", "aria-label": options.label },
      axes(options, x, y, { width, height, top }),
      ...series.map((each) => drawn(each, place)),
    );
    this.box.replaceChildren(drawing);
  }
}

type Scale = (value: number) => number;
type Place = (point: { x: number; y: number }) => [number, number];

/** Beyond its ends a value stays at them, so that nothing is drawn outside. */
function scale({ log, range: [low, high] }: XyAxis, from: number, to: number): Scale {
  const f = log ? Math.log10 : (value: number) => value;
  return (value) => {
    const share = (f(value) - f(low)) / (f(high) - f(low));
    return from + Math.min(Math.max(share, 0), 1) * (to - from);
  };
}

function drawn({ name, kind, line = true, dashed, mark, points }: XySeries, place: Place): SVGGElement {
  const group = svg("g", { class: `series ${kind}`, "data-series": name, "data-points": points.length });
  const finite = points.filter(({ y }) => Number.isFinite(y));
  if (line && finite.length > 1) {
    const d = finite
      .map((point, index) => `${index === 0 ? "M" : "L"}${place(point).map((v) => v.toFixed(1))}`)
      .join("");
    group.append(svg("path", { d, class: dashed ? "line dashed" : "line" }));
  }
  if (mark) {
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
};

export function shapeOf(mark: Mark, x: number, y: number): SVGPathElement {
  return svg("path", { d: `M${x.toFixed(1)},${y.toFixed(1)}${OUTLINES[mark]}`, class: `mark ${mark}` });
}

/** A series' line and mark, for a legend. */
export function legendKey({ kind, dashed, mark }: Pick<XySeries, "kind" | "dashed" | "mark">): SVGSVGElement {
  return svg(
    "svg",
    { class: `xy key-drawing series ${kind}`, viewBox: "0 0 34 14", width: 34, height: 14, "aria-hidden": "true" },
    svg("path", { class: dashed ? "line dashed" : "line", d: "M1,7H33" }),
    mark && shapeOf(mark, 17, 7),
  );
}

function axes(
  options: XyOptions,
  x: Scale,
  y: Scale,
  { width, height, top }: { width: number; height: number; top: number },
): SVGGElement {
  const bottom = height - MARGIN.bottom;
  const [left, right] = [MARGIN.left, width - MARGIN.right];
  const group = svg("g", { class: "axes" });
  for (const tick of options.y.ticks ?? ticks(options.y, Math.max(3, Math.floor((bottom - top) / 45)))) {
    group.append(
      svg("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }),
      svg("text", { x: left - 7, y: y(tick), dy: "0.35em", "text-anchor": "end" }, round(tick)),
    );
  }
  for (const tick of options.x.ticks ?? ticks(options.x, Math.max(3, Math.floor((right - left) / 80)))) {
    group.append(
      svg("line", { x1: x(tick), x2: x(tick), y1: bottom, y2: bottom + 4 }),
      svg("text", { x: x(tick), y: bottom + 17, "text-anchor": "middle" }, options.x.log ? power(tick) : round(tick)),
    );
  }
  group.append(
    svg("line", { class: "base", x1: left, x2: right, y1: bottom, y2: bottom }),
    svg("text", { x: (left + right) / 2, y: height - 4, "text-anchor": "middle", class: "name" }, options.x.label),
    svg(
      "text",
      { transform: `translate(11 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "name" },
      options.y.label,
    ),
  );
  for (const level of options.levels ?? []) {
    group.append(
      svg("line", { class: "level", x1: left, x2: right, y1: y(level.y), y2: y(level.y) }),
      svg("text", { x: right, y: y(level.y) - 5, "text-anchor": "end", class: "level" }, level.name),
    );
  }
  if (options.lost !== undefined) {
    group.append(
      svg("rect", { class: "lost", x: left, y: top - BAND, width: right - left, height: BAND - 4 }),
      svg("text", { x: left + 6, y: top - BAND + 11, dy: "0.35em", class: "lost" }, options.lost),
    );
  }
  return group;
}

/** Powers of ten, with 2 and 5 between them where there is room; or round steps. */
function ticks({ log, range: [low, high] }: XyAxis, wanted: number): number[] {
  if (log) {
    const decades = Math.log10(high / low);
    const mantissas = decades * 3 <= wanted + 2 ? [1, 2, 5] : [1];
    const found: number[] = [];
    for (let exponent = Math.floor(Math.log10(low)); exponent <= Math.ceil(Math.log10(high)); exponent++) {
      for (const mantissa of mantissas) found.push(Number((mantissa * 10 ** exponent).toPrecision(3)));
    }
    return found.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  }
  const rough = (high - low) / wanted;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = size * ([1, 2, 5, 10].find((mantissa) => mantissa * size >= rough) ?? 10);
  const found: number[] = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step / 1e6; tick += step) {
    found.push(Number(tick.toPrecision(10)));
  }
  return found;
}

/** 10⁻³; other numbers as they are. */
function power(value: number): string {
  const exponent = Math.round(Math.log10(value));
  if (Math.abs(value / 10 ** exponent - 1) > 1e-9) return round(value);
  return `10${[...String(exponent)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)])).join("")}`;
}
