/** The stage's three gauges as a figure: each on its scale, before and after. */

import { svg } from "../dom";
import { type Reading, readingsOf, shareOf } from "../readings";
import type { State } from "../store";
import { bentBy, captionOf, joined } from "./caption";
import { columnsOf } from "./columns";
import type { Figure } from "./figure";
import { POINT_NAMES } from "./plots";

const WIDTH = 480;
const ROW = 66;
/** A mark at either end is whole. */
const EDGE = 8;

/** Nothing before the first of them has a value. */
export function gaugesFigure(state: State): Figure | null {
  const readings = readingsOf(state);
  if (readings.every(({ trained }) => trained === undefined)) return null;
  const isBent = readings.some(({ bent }) => bent !== undefined);
  return {
    name: "gauges",
    title: "What a rescaling moves, and what it leaves",
    caption: joined(captionOf(state), bentBy(state.bend), "norms on scales of powers of ten, the accuracy from 0 to 1"),
    columns: () =>
      columnsOf(
        ["gauge", "key", "trained", "bent", "verdict"],
        readings.map(({ title, key, trained, bent, verdict }) => [title, key, trained, bent, verdict.text]),
      ),
    drawing: {
      width: WIDTH,
      height: ROW * readings.length,
      draw: () =>
        svg(
          "svg",
          { class: "gauges-drawing", viewBox: `0 0 ${WIDTH} ${ROW * readings.length}` },
          ...readings.flatMap((reading, row) => gauge(reading, row * ROW)),
        ),
      keys: (isBent ? (["trained", "bent"] as const) : (["trained"] as const)).map((point) => ({
        name: POINT_NAMES[point],
        drawing: () => svg("svg", { class: "gauges-drawing", viewBox: "0 0 34 14" }, mark(point, 17, 7)),
      })),
    },
  };
}

function gauge(reading: Reading, top: number): SVGElement[] {
  const { title, trained, bent, text, verdict } = reading;
  const x = (value: number): number => EDGE + shareOf(reading, value) * (WIDTH - 2 * EDGE);
  const y = top + 32;
  const values = [trained, bent].flatMap((value) => (value === undefined ? [] : text(value)));
  return [
    words(0, top + 12, title, "title"),
    words(WIDTH, top + 12, values.length > 0 ? values.join(" → ") : "–", "", "end"),
    svg("path", { class: "scale", d: `M0,${y}H${WIDTH}` }),
    ...(trained !== undefined && bent !== undefined
      ? [svg("path", { class: "way", d: `M${x(trained)},${y}H${x(bent)}` })]
      : []),
    ...(trained === undefined ? [] : [mark("trained", x(trained), y)]),
    ...(bent === undefined ? [] : [mark("bent", x(bent), y)]),
    words(0, top + 50, verdict.text, `verdict ${verdict.kind}`),
  ];
}

const words = (x: number, y: number, said: string, kind: string, anchor = "start"): SVGTextElement =>
  svg("text", { class: kind, x, y, dy: "0.35em", "text-anchor": anchor }, said);

const mark = (point: "trained" | "bent", x: number, y: number): SVGElement =>
  point === "trained"
    ? svg("circle", { class: "mark trained", cx: x, cy: y, r: 5 })
    : svg("path", { class: "mark bent", d: `M${x},${y - 6}l6,6l-6,6l-6,-6z` });
