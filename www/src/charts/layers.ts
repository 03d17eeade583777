/** Petzka's measures as plots: one bar a layer, and the ρ of neurons by rank. */

import type { MeasureKey, PetzkaReport } from "isoflat";
import { number } from "../format";
import type { PerPoint } from "../store";
import type { Point } from "../worker/protocol";
import { bars, dots, type PlotOptions } from "./plot";
import { linear, log } from "./scales";

const POINTS: Point[] = ["trained", "bent"];
/** Neurons of ρ = 0, which never fire, lie so far below the largest. */
const FLOOR = 1e-8;
/** More neurons than this are drawn smaller. */
const CROWD = 150;

export interface LayerMeasure {
  title: string;
  /** Of all layers together: it is defined where this is. */
  key: MeasureKey;
  /** In letters that every program reads. */
  column: string;
  about: string;
  values: (report: PetzkaReport) => number[];
}

export const LAYER_MEASURES: LayerMeasure[] = [
  {
    title: "κ",
    key: "petzka.kappa_sum",
    column: "kappa",
    about: "‖W‖² times the layer’s largest curvature",
    values: ({ kappa }) => kappa.map(({ value }) => value),
  },
  {
    title: "κ_τ",
    key: "petzka.kappa_trace_sum",
    column: "kappa_trace",
    about: "‖W‖² times its total curvature",
    values: ({ kappaTrace }) => kappaTrace,
  },
  {
    title: "relative flatness",
    key: "petzka.relative_flatness_sum",
    column: "relative_flatness",
    about: "the same with every pair of rows weighed by their product",
    values: ({ relativeFlatness }) => relativeFlatness,
  },
];

export function layerBars(layers: PerPoint<PetzkaReport>, { title, values: of }: LayerMeasure): PlotOptions {
  const there = POINTS.flatMap((point) => {
    const report = layers[point];
    return report ? [{ point, values: of(report) }] : [];
  });
  const high = Math.max(...there.flatMap(({ values }) => values), 1e-300);
  const low = Math.min(0, ...there.flatMap(({ values }) => values));
  const count = there[0]?.values.length ?? 0;
  const x = linear(0.4, count + 0.6);
  return {
    x: { ...x, ticks: Array.from({ length: count }, (_, index) => ({ value: index + 1, label: String(index + 1) })) },
    y: linear(low, high * 1.15, 4),
    xLabel: "layer",
    yLabel: "",
    label: `${title}: ${there.map(({ point, values }) => `${point} ${values.map((value) => number(value)).join(", ")}`).join("; ")}`,
    left: 56,
    marks: (frame) => there.map(({ point, values }, index) => bars(frame, values, point, index, there.length, number)),
  };
}

export const highestRho = (rho: PerPoint<Float64Array>): number =>
  POINTS.reduce((most, point) => Math.max(most, ...(rho[point] ?? [])), 0);

/** So small a ρ is none. */
export const isSilent = (value: number, high: number): boolean => value <= high * FLOOR;

export function rhoPlot({ trained, bent }: PerPoint<Float64Array>): PlotOptions | undefined {
  if (!trained) return undefined;
  const high = highestRho({ ...(trained && { trained }), ...(bent && { bent }) });
  const low = high * FLOOR;
  const crowded = trained.length > CROWD;
  const sorted = (values: Float64Array) => [...values].sort((a, b) => b - a).map((value) => Math.max(value, low));
  const ranks = (values: Float64Array) => Array.from(values, (_, index) => index + 1);
  return {
    x: linear(0, trained.length + 1),
    y: log(low > 0 ? low : 1, high > 0 ? high * 2 : 10, 5),
    xLabel: "neurons, largest ρ first",
    yLabel: "ρ",
    label: `ρ of ${trained.length} neurons, from ${number(high)} down`,
    left: 58,
    marks: (frame) => [
      dots(frame, ranks(trained), sorted(trained), "trained hollow", crowded ? 2.8 : 3.4),
      bent ? dots(frame, ranks(bent), sorted(bent), crowded ? "bent bare" : "bent", crowded ? 1.2 : 1.9) : null,
    ],
  };
}
