/** Dinh's Figures 1 to 6, of what the engine found for networks of one weight and of two. */

import { linear } from "../charts/scales";
import { type XySeries, xyPlot } from "../charts/xy";
import { seriesKey } from "../figures/xy";
import { number } from "../format";
import type { Chart } from "./charts";
import { columnsOfSeries, type Line, lineOf, markOf, WIDER } from "./lines";
import type { Curve, DinhFigures } from "./results";

function circle([x, y]: readonly [number, number], radius: number): Line {
  return Array.from({ length: 97 }, (_, index) => {
    const angle = (2 * Math.PI * index) / 96;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)] as const;
  });
}

/** From one of Figure 5's losses, which are from 0 to 1, to the one above it. */
const APART = 1.25;

/** Lines fall; what is above the plot would be drawn along its edge. */
function below(points: Line, top: number): Line {
  const first = points.findIndex(([, y]) => y <= top);
  const [before, after] = [points[first - 1], points[first]];
  if (!before || !after) return points;
  const share = (top - after[1]) / (before[1] - after[1]);
  return [[after[0] + share * (before[0] - after[0]), top], ...points.slice(first)];
}

/** Functions, a line each: that of the minima in full. */
const functions = (curves: Curve[], top: number): XySeries[] =>
  curves.map(({ share, points }) =>
    lineOf(share === 1 ? "the minima" : `${share} of their product`, "of-paper", below(points, top), share !== 1),
  );
const FUNCTIONS = [
  seriesKey("the minima, one function", { kind: "of-paper" }),
  seriesKey("other functions", { kind: "of-paper", dashed: true }),
];

export const dinhCharts = (all: DinhFigures): Chart[] => [
  volumeChart(all.figure_1),
  functionsChart(all.figure_2),
  boxesChart(all.figure_3),
  ballsChart(all.figure_4),
  coordinatesChart(all.figure_5),
  radialChart(all.figure_6),
];

function volumeChart({ found, theta, losses }: DinhFigures["figure_1"]): Chart {
  const { minimum, loss, height, low, high, width, radius, rise, sharpness } = found;
  const top = loss + rise;
  const ball: Line = [-1, -1, 1, 1, -1].map((side, index) => [
    minimum + side * radius,
    [loss, top, top, loss, loss][index] ?? loss,
  ]);
  const series = [
    lineOf(
      "L",
      "of-paper",
      theta.map((x, index) => [x, losses[index] ?? Number.NaN]),
    ),
    lineOf("the connected part below L + epsilon", "of-f32", [
      [low, loss + height],
      [high, loss + height],
    ]),
    lineOf("the ball and its highest loss", "of-f64", ball),
    markOf("the minimum", "of-paper", [minimum, loss]),
  ];
  return {
    name: "dinh-figure-1",
    title: "Figure 1: flatness by volume and by a ball",
    caption:
      `After Dinh et al. 2017, Figure 1, of a logistic regression with one weight: the volume ε-flatness is ${number(width)} at ε = ${height}; ` +
      `within ${number(radius)} of the minimum the loss rises by ${number(rise)}, a sharpness of ${number(sharpness)}.`,
    plot: xyPlot(series, {
      x: linear(theta[0] ?? 0, theta.at(-1) ?? 1),
      y: linear(loss - 0.05, Math.max(...losses)),
      xLabel: "θ",
      yLabel: "loss",
      label: `A valley with its width at ε = ${height}, ${number(width)}, and the height of a ball of radius ${number(radius)}, ${number(rise)}`,
    }),
    keys: [
      seriesKey("L(θ)", { kind: "of-paper" }),
      seriesKey("the volume at L + ε", { kind: "of-f32" }),
      seriesKey("the ball and the highest loss in it", { kind: "of-f64" }),
    ],
    columns: () => columnsOfSeries(series, "theta", "loss"),
  };
}

function functionsChart({ found: { alpha, point, moved }, curves }: DinhFigures["figure_2"]): Chart {
  const top = 3.2;
  const series = [
    ...functions(curves, top),
    lineOf("from theta to T(theta)", "of-f64", [point, moved]),
    markOf("theta", "of-f64", point),
    markOf("T(theta)", "of-f64", moved),
  ];
  return {
    name: "dinh-figure-2",
    title: "Figure 2: lines of one function",
    caption:
      `After Dinh et al. 2017, Figure 2, of θ₂ relu(θ₁ x): all points of a line are one function, and its loss is the same to ` +
      `${number(Math.max(...curves.map(({ largest_difference }) => largest_difference)))}. T_α with α = ${alpha} takes θ to T_α(θ), on its own line.`,
    plot: xyPlot(series, {
      x: linear(0, 4.5),
      y: linear(0, top),
      xLabel: "θ₁",
      yLabel: "θ₂",
      label: `Lines of one function each; T_α takes a point along its own, from ${point.map((value) => number(value))} to ${moved.map((value) => number(value))}`,
    }),
    keys: [...FUNCTIONS, seriesKey("θ and T_α(θ)", { kind: "of-f64", mark: "circle" })],
    columns: () => columnsOfSeries(series, "theta_1", "theta_2"),
  };
}

function coordinatesChart({ found, theta, losses, maps }: DinhFigures["figure_5"]): Chart {
  const { center, minima, curvature } = found;
  const at = minima.indexOf(center);
  // Both are drawn around θ̂, so that one sees how far they draw out what is there.
  const places = maps.map(({ eta }) => eta.map((value) => center + value));
  const lines = [theta, ...places].map((xs): Line => xs.map((x, index) => [x, losses[index] ?? Number.NaN]));
  const above = (points: Line, count: number): Line => points.map(([x, y]) => [x, y + APART * count]);
  const kinds = ["of-paper", "of-f64", "of-f32"];
  const names = ["theta", ...maps.map(({ a }) => `eta, a = ${a}`)];
  const seriesOf = (points: Line, index: number) => lineOf(names[index] ?? "", kinds[index] ?? "", points);
  const series = lines.map((points, index) => seriesOf(above(points, lines.length - 1 - index), index));
  const said = maps.map(({ a, curvatures }) => `${number(curvatures[at] ?? Number.NaN)} with a = ${a}`).join(", ");
  const all = places.flat();
  return {
    name: "dinh-figure-5",
    title: "Figure 5: one loss in other coordinates",
    caption:
      `After Dinh et al. 2017, Figure 5: four minima alike, of curvature ${number(curvature)}, in η = (|θ − θ̂|² + b)ᵃ (θ − θ̂) with θ̂ = ${center}, ` +
      `b = ${maps[0]?.b}. The one at θ̂ has ${said}. Lines are one above the other, and moved by θ̂, so that it stays where it is.`,
    plot: xyPlot(series, {
      x: linear(Math.min(...all), Math.max(...all)),
      y: { ...linear(0, lines.length * APART), ticks: [] },
      xLabel: "θ, and θ̂ + η",
      yLabel: "loss",
      label: `One loss over θ and over η: the curvature at ${center} is ${number(curvature)} in θ, and in η ${said}`,
    }),
    keys: [
      seriesKey("in θ", { kind: "of-paper" }),
      ...maps.map(({ a }, index) => seriesKey(`in η, a = ${a}`.replace("-", "−"), { kind: kinds[index + 1] ?? "" })),
    ],
    columns: () => columnsOfSeries(lines.map(seriesOf), "theta_or_eta", "loss"),
  };
}

function boxesChart({ found: { boxes, alpha, epsilon, radius }, curves }: DinhFigures["figure_3"]): Chart {
  const top = 1.5;
  const series = [
    ...functions(curves, top),
    ...boxes.map(({ power, low, high }) =>
      lineOf(`box ${power}`, "of-f64", [low, [high[0], low[1]], high, [low[0], high[1]], low]),
    ),
  ];
  const volumes = boxes.map(({ volume }) => number(volume)).join(", ");
  return {
    name: "dinh-figure-3",
    title: "Figure 3: boxes of one volume without end",
    caption:
      `After Dinh et al. 2017, Figure 3, of θ₂ relu(θ₁ x): a box of radius ${number(radius)}, within which the loss rises by less than ${epsilon}, and what T_α makes of it, ` +
      `once and twice, α = ${number(alpha)}. Volumes: ${volumes}.`,
    plot: xyPlot(series, {
      x: linear(0, 7.5),
      y: linear(0, top),
      xLabel: "θ₁",
      yLabel: "θ₂",
      label: `Boxes along the curve of one function, of volumes ${volumes}`,
    }),
    keys: [...FUNCTIONS, seriesKey("boxes", { kind: "of-f64" })],
    columns: () => columnsOfSeries(series, "theta_1", "theta_2"),
  };
}

function ballsChart({ found, curves }: DinhFigures["figure_4"]): Chart {
  const { point, moved, highest_before, highest_after, epsilon, before, after, guaranteed } = found;
  const top = 3.8;
  const series = [
    ...functions(curves, top),
    lineOf("constant functions", "of-f32", [
      [0, -1],
      [0, top],
    ]),
    lineOf("around theta", "of-f64", circle(point, epsilon)),
    lineOf("around T(theta)", "of-f64", circle(moved, epsilon)),
    markOf("theta", "of-f64", point),
    markOf("T(theta)", "of-f64", moved),
    lineOf("from theta to the highest", "of-f64", [point, highest_before]),
    lineOf("from T(theta) to the highest", "of-f64", [moved, highest_after]),
  ];
  return {
    name: "dinh-figure-4",
    title: "Figure 4: a ball that reaches a constant function",
    caption:
      `After Dinh et al. 2017, Figure 4, of θ₂ relu(θ₁ x): within ε = ${epsilon} the sharpness is ${number(before)} at θ, and ${number(after)} at T_α(θ), ` +
      `the same function, where a constant one in the ball has ${number(guaranteed)}.`,
    plot: xyPlot(series, {
      x: linear(-0.5, 5.5),
      y: linear(-0.1, top),
      xLabel: "θ₁",
      yLabel: "θ₂",
      label: `Two balls of radius ${epsilon}: sharpness ${number(before)} at θ, ${number(after)} beside the line of constant functions`,
    }),
    keys: [
      ...FUNCTIONS,
      seriesKey("constant functions", { kind: "of-f32" }),
      seriesKey("balls, and the way to the highest loss", { kind: "of-f64", mark: "circle" }),
    ],
    columns: () => columnsOfSeries(series, "theta_1", "theta_2"),
  };
}

function radialChart({ found, half, lines }: DinhFigures["figure_6"]): Chart {
  const { center, delta, inner, rho, eigenvalues, eigenvalues_in_eta } = found;
  const series = [
    ...lines.map(({ axis, at, eta }) => lineOf(`theta_${axis + 1} at ${number(at)} from the centre`, "of-paper", eta)),
    lineOf("where the map ends", "of-f32", circle(center, delta)),
    lineOf("what is magnified, before", "of-f64", circle(center, inner), true),
    lineOf("what is magnified, after", "of-f64", circle(center, rho)),
  ];
  const [before, after] = [eigenvalues, eigenvalues_in_eta].map((values) => number(Math.max(...values)));
  return {
    name: "dinh-figure-6",
    title: "Figure 6: a radial map, which moves what is near alone",
    caption:
      `After Dinh et al. 2017, Figure 6, around a minimum of θ₂ relu(θ₁ x): a grid of θ in η, with δ = ${delta}, r̂ = ${inner} and ρ = ${rho}. ` +
      `The largest eigenvalue of the Hessian there is ${before} in θ and ${after} in η.`,
    plot: xyPlot(series, {
      x: linear(center[0] - WIDER * half, center[0] + WIDER * half),
      y: linear(center[1] - half, center[1] + half),
      xLabel: "η₁",
      yLabel: "η₂",
      label: `A grid bent within a circle; the largest eigenvalue is ${before} in θ and ${after} in η`,
    }),
    keys: [
      seriesKey("a grid of θ", { kind: "of-paper" }),
      seriesKey("δ, where the map ends", { kind: "of-f32" }),
      seriesKey("ρ, where r̂ goes to", { kind: "of-f64" }),
      seriesKey("r̂", { kind: "of-f64", dashed: true }),
    ],
    columns: () => columnsOfSeries(series, "eta_1", "eta_2"),
  };
}
