/** Jestädt's Figures 1.5, 1.6 and 4.9: the loss sin y of networks of one to three weights, of what the engine found. */

import { contours } from "d3-contour";
import { linear } from "../charts/scales";
import { type XySeries, xyPlot } from "../charts/xy";
import { seriesKey } from "../figures/xy";
import { number } from "../format";
import { withOrdinaryDigits } from "../subscripts";
import type { Chart } from "./charts";
import { columnsOfSeries, type Line, lineOf, WIDER } from "./lines";
import type { JestaedtFigures, LossSurface } from "./results";

/** Level lines, from valleys to hills. Further up and down the grid of the closest surface would miss some of them. */
const LEVELS = [
  { at: -0.5, kind: "of-f64", name: "sin y = −0.5, around valleys" },
  { at: 0, kind: "of-paper", name: "sin y = 0" },
  { at: 0.5, kind: "of-f32", name: "sin y = 0.5, around hills" },
];
const LEVEL_KEYS = LEVELS.map(({ kind, name }) => seriesKey(name, { kind }));
/** Of these outputs gradients are drawn as arrows: with four they would cover each other. */
const WITH_ARROWS = [1, 3];
/** Length of an arrow, in gradients, and of its barbs, in arrows. */
const [ARROW, BARB] = [0.25, 0.25];

export const jestaedtCharts = ({ figure_1_5, figure_1_6, figure_4_9 }: JestaedtFigures): Chart[] => [
  oneWeightChart(figure_1_5),
  twoWeightsChart(figure_1_5),
  gradientsChart(figure_1_6),
  ...fixedCharts(figure_4_9),
];

/** Where the surface is at a level: lines, with gaps between them. */
export function levelLine({ reach, side, losses }: LossSurface, level: number): Line {
  const [shape] = contours().size([side, side]).thresholds([level])(losses);
  // Values are at the middles of unit cells; what lies beyond them is the edge of the drawing and no level.
  const place = (cells: number) => ((cells - 0.5) / (side - 1)) * reach;
  const isWithin = (value: number) => value >= 0 && value <= reach;
  const gap = [Number.NaN, Number.NaN] as const;
  const rings = shape?.coordinates.flat() ?? [];
  return rings.flatMap((ring) => [
    ...ring.map(([column = 0, row = 0]) => {
      const [x, y] = [place(column), place(row)];
      return isWithin(x) && isWithin(y) ? ([x, y] as const) : gap;
    }),
    gap,
  ]);
}

const levelsOf = (surface: LossSurface): XySeries[] =>
  LEVELS.map(({ at, kind }) => lineOf(`sin y = ${at}`, kind, levelLine(surface, at)));

function surfaceChart(
  surface: LossSurface,
  { axes: [x, y], ...said }: Pick<Chart, "name" | "title" | "caption"> & { axes: [string, string] },
): Chart {
  const series = levelsOf(surface);
  const { reach, side, losses } = surface;
  const at = (index: number) => (index / (side - 1)) * reach;
  return {
    ...said,
    plot: xyPlot(series, {
      x: linear(0, reach),
      y: linear(0, reach),
      xLabel: x,
      yLabel: y,
      label: `${said.title}: level lines of the loss over ${x} and ${y}`,
    }),
    keys: LEVEL_KEYS,
    columns: () => [
      { name: withOrdinaryDigits(x, "_"), values: losses.map((_, index) => at(index % side)) },
      { name: withOrdinaryDigits(y, "_"), values: losses.map((_, index) => at(Math.floor(index / side))) },
      { name: "loss", values: losses },
    ],
  };
}

function oneWeightChart({ w, losses }: JestaedtFigures["figure_1_5"]): Chart {
  const series = [
    lineOf(
      "sin y",
      "of-paper",
      w.map((x, index) => [x, losses[index] ?? Number.NaN]),
    ),
  ];
  return {
    name: "jestaedt-figure-1-5-a",
    title: "Figure 1.5: one weight, y = relu(w)",
    caption: "After Jestädt 2025, Figure 1.5: the loss sin y of one weight. Below 0 ReLU leaves nothing of it.",
    plot: xyPlot(series, {
      x: linear(w[0] ?? 0, w.at(-1) ?? 1),
      y: linear(-1.1, 1.1),
      xLabel: "w",
      yLabel: "loss",
      label: "The loss of one weight: 0 below 0, and a sine above",
    }),
    keys: [seriesKey("sin y", { kind: "of-paper" })],
    columns: () => columnsOfSeries(series, "w", "loss"),
  };
}

function twoWeightsChart({ found, surface }: JestaedtFigures["figure_1_5"]): Chart {
  const tops = found.first_maximum.map(({ w_1, w_2 }) => `${number(w_1)} at w₂ = ${w_2}`);
  return surfaceChart(surface, {
    name: "jestaedt-figure-1-5-b",
    title: "Figure 1.5: two weights, y = w₂ relu(w₁)",
    caption:
      "After Jestädt 2025, Figure 1.5: the same loss of two weights. The nearer one is to 0, the further it is drawn out along the other: " +
      `along w₁ it is highest first at ${tops.join(", ")}.`,
    axes: ["w₁", "w₂"],
  });
}

function gradientsChart({ found, lines }: JestaedtFigures["figure_1_6"]): Chart {
  const top = 5.6;
  const series = lines.flatMap(({ output, points, arrows }) => {
    const has = WITH_ARROWS.includes(output);
    const all = has ? arrows.map(({ at, minus_gradient }) => arrow(at, minus_gradient)) : [];
    return [
      lineOf(`y = ${output}`, "of-paper", points, !has),
      ...all.map((points) => lineOf(`minus the gradient, y = ${output}`, "of-f64", points)),
    ];
  });
  const ratios = found.longest_over_shortest_gradient;
  const ratio = number(ratios[0] ?? Number.NaN);
  return {
    name: "jestaedt-figure-1-6",
    title: "Figure 1.6: lines of one function, and gradients along them",
    caption:
      `After Jestädt 2025, Figure 1.6, of sin y, y = w₂ relu(w₁): along a line y is the same, and gradients are across it, ${ratio} times as long at its ends ` +
      `as in its middle. Arrows are minus the gradient, times ${ARROW}.`,
    plot: xyPlot(series, {
      x: linear(0, WIDER * top),
      y: linear(0, top),
      xLabel: "w₁",
      yLabel: "w₂",
      label: `Four lines of one function each, with gradients that are ${ratio} times as long at their ends as in their middles`,
    }),
    keys: [
      seriesKey("one function, with gradients", { kind: "of-paper" }),
      seriesKey("one function", { kind: "of-paper", dashed: true }),
      seriesKey("minus the gradient", { kind: "of-f64" }),
    ],
    columns: () => columnsOfSeries(series, "w_1", "w_2"),
  };
}

function arrow([x, y]: readonly [number, number], [dx, dy]: readonly [number, number]): Line {
  const to = [x + ARROW * dx, y + ARROW * dy] as const;
  const barb = (side: number) =>
    [to[0] - BARB * ARROW * (dx + side * dy), to[1] - BARB * ARROW * (dy - side * dx)] as const;
  return [[x, y], to, barb(0.6), to, barb(-0.6)];
}

function fixedCharts({ found, reach, side, surfaces }: JestaedtFigures["figure_4_9"]): Chart[] {
  return surfaces.map(({ network, w_1, losses }) => {
    const surface = { reach, side, losses };
    const minima = found.minima_along_w_3.find((each) => each.w_1 === w_1);
    return network === "a" || minima === undefined
      ? surfaceChart(surface, {
          name: "jestaedt-figure-4-9-a",
          title: "Figure 4.9: y = relu(w₁ + w₂)",
          caption:
            "After Jestädt 2025, Figure 4.9: a network of one layer, which has nothing to rescale. Stripes are even.",
          axes: ["w₁", "w₂"],
        })
      : surfaceChart(surface, {
          name: `jestaedt-figure-4-9-b-${w_1}`,
          title: `Figure 4.9: y = w₃ relu(w₁ + w₂), w₁ fixed at ${w_1}`,
          caption:
            `After Jestädt 2025, Figure 4.9: two layers, with w₁ fixed at ${w_1}. Along w₃ up to ${reach} there are ${minima.w_2_at_0} minima ` +
            `where w₂ is 0, and ${minima.w_2_at_6} where it is ${reach}.`,
          axes: ["w₂", "w₃"],
        });
  });
}
