/** An operator's spectrum as plots: its ends with their residuals, and its density. */

import type { EigenResult, SpectralDensity } from "isoflat";
import { number } from "../format";
import type { Point } from "../worker/protocol";
import { band, curve, dots, errorBars, type PlotOptions } from "./plot";
import { linear, log, symlog } from "./scales";

export interface Of<T> {
  point: Point;
  value: T;
  /** What it is called where that is not its point; "" where there is one alone. */
  name?: string;
}

export const extent = (top: EigenResult["top"], bottom: EigenResult["bottom"]): string => {
  const high = number(top[0]?.value ?? Number.NaN);
  return bottom[0] ? `λ from ${number(bottom[0].value)} to ${high}` : `λ up to ${high}, and never below 0`;
};

/** Of the axis on which densities are shown: all that they are on. */
export const rangeOf = (densities: SpectralDensity[]): [number, number] => [
  Math.min(...densities.map(({ grid }) => grid[0] ?? 0)),
  Math.max(...densities.map(({ grid }) => grid.at(-1) ?? 0)),
];

/** The largest on the left, the smallest on the right, as trained and bent side by side. */
export function endsPlot(there: Of<Pick<EigenResult, "top" | "bottom">>[]): PlotOptions {
  const tops = Math.max(...there.map(({ value }) => value.top.length));
  const bottoms = Math.max(...there.map(({ value }) => value.bottom.length));
  const last = bottoms > 0 ? tops + 1 + bottoms : tops;
  const series = there.map(({ point, value }, index) => {
    const shift = there.length > 1 ? (index - 0.5) * 0.3 : 0;
    const pairs = [
      ...value.top.map((pair, at) => ({ x: at + 1 + shift, pair })),
      ...value.bottom.map((pair, at) => ({ x: last - at + shift, pair })),
    ];
    return { point, xs: pairs.map(({ x }) => x), pairs: pairs.map(({ pair }) => pair) };
  });
  const values = series.flatMap(({ pairs }) => pairs.map(({ value }) => value));
  const size = Math.max(...values.map(Math.abs)) || 1;
  // Three decades below the smallest point’s largest.
  const unit =
    Math.min(...series.map(({ pairs }) => Math.max(...pairs.map(({ value }) => Math.abs(value))) || size)) / 1e3;
  return {
    x: {
      ...linear(0.3, last + 0.7),
      ticks: [
        { value: 1, label: "largest" },
        ...(tops > 1 ? [{ value: tops, label: `${tops}th` }] : []),
        ...(bottoms > 1 ? [{ value: tops + 2, label: `${bottoms}th smallest` }] : []),
        ...(bottoms > 0 ? [{ value: last, label: "smallest" }] : []),
      ],
    },
    y: symlog(Math.min(0, ...values) * 1.6 - unit, Math.max(0, ...values) * 1.6 + unit, unit),
    xLabel: "eigenvalues",
    yLabel: "λ",
    label: `Ends of the spectrum: ${there.map(({ point, value, name = point }) => `${name} ${extent(value.top, value.bottom)}`.trim()).join("; ")}`,
    left: 62,
    marks: (frame) =>
      series.flatMap(({ point, xs, pairs }) => [
        errorBars(
          frame,
          xs,
          pairs.map(({ value }) => value),
          pairs.map(({ residual }) => residual),
          point,
        ),
        dots(
          frame,
          xs,
          pairs.map(({ value }) => value),
          point,
          3.8,
        ),
      ]),
  };
}

export function densityPlot(
  value: SpectralDensity,
  point: Point,
  [low, high]: [number, number],
  name: string = point,
): PlotOptions {
  const { grid, density, densityError, dimension, width } = value;
  // A single eigenvalue, broadened, is this high.
  const one = 1 / (dimension * width * Math.sqrt(2 * Math.PI));
  const floor = one / 20;
  const clip = (x: number) => Math.max(x, floor);
  const top = Math.max(...density) * 3;
  const error = (index: number) => 2 * (densityError[index] ?? 0);
  return {
    x: linear(low, high, 5),
    y: log(floor, top),
    xLabel: "λ",
    yLabel: "density",
    label: `Density of the spectrum${name && `, ${name}`}: highest ${number(Math.max(...density))}`,
    left: 60,
    marks: (frame) => [
      band(
        frame,
        grid,
        density.map((x, index) => clip(x - error(index))),
        density.map((x, index) => clip(x + error(index))),
        point,
      ),
      curve(frame, grid, density.map(clip), `${point} plain`),
    ],
  };
}
