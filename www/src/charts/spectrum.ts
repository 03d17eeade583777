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

/** What was asked for of a spectrum. */
export type Ends = Pick<EigenResult, "top" | "bottom" | "norms">;

/** Power iteration finds the largest magnitude, which may be an eigenvalue at either end. */
const isByMagnitude = ({ norms }: Ends): boolean => norms !== undefined;

/** Nothing of an end that was not asked for, but where it is known. */
export function extent(ends: Ends, isSemidefinite = false): string {
  const [high, low] = [ends.top[0], ends.bottom[0]].map((pair) => pair && number(pair.value));
  if (high === undefined) return `λ from ${low} on`;
  if (isByMagnitude(ends)) return `largest in magnitude: λ = ${high}`;
  if (low !== undefined) return `λ from ${low} to ${high}`;
  return `λ up to ${high}${isSemidefinite ? ", and never below 0" : ""}`;
}

/** 1st, 2nd, 3rd, 4th, 11th, 21st. */
export function ordinal(value: number): string {
  const isTeen = Math.floor(value / 10) % 10 === 1;
  return `${value}${(!isTeen && ["", "st", "nd", "rd"][value % 10]) || "th"}`;
}

/** Of the axis on which densities are shown: all that they are on. */
export const rangeOf = (densities: SpectralDensity[]): [number, number] => [
  Math.min(...densities.map(({ grid }) => grid[0] ?? 0)),
  Math.max(...densities.map(({ grid }) => grid.at(-1) ?? 0)),
];

/**
 * The largest on the left, the smallest on the right, as trained and bent side by side. `isSemidefinite`: of an operator that is known to
 * have no negative eigenvalue, which results do not say.
 */
export function endsPlot(there: Of<Ends>[], isSemidefinite = false): PlotOptions {
  const tops = Math.max(...there.map(({ value }) => value.top.length));
  const bottoms = Math.max(...there.map(({ value }) => value.bottom.length));
  // A place is left out between the two ends, where there are two.
  const last = tops + bottoms + (tops > 0 && bottoms > 0 ? 1 : 0);
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
        ...(tops > 0
          ? [{ value: 1, label: there.every(({ value }) => isByMagnitude(value)) ? "largest |λ|" : "largest" }]
          : []),
        ...(tops > 1 ? [{ value: tops, label: ordinal(tops) }] : []),
        ...(bottoms > 1 ? [{ value: last - bottoms + 1, label: `${ordinal(bottoms)} smallest` }] : []),
        ...(bottoms > 0 ? [{ value: last, label: "smallest" }] : []),
      ],
    },
    y: symlog(Math.min(0, ...values) * 1.6 - unit, Math.max(0, ...values) * 1.6 + unit, unit),
    xLabel: "eigenvalues",
    yLabel: "λ",
    label: `Ends of the spectrum: ${there.map(({ point, value, name = point }) => `${name} ${extent(value, isSemidefinite)}`.trim()).join("; ")}`,
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
