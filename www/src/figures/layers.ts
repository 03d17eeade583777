/** Petzka's measures as figures: bars of layers, ρ of neurons, and ρ of an image's pixels. */

import type { PetzkaReport } from "isoflat";
import { highestRho, LAYER_MEASURES, type LayerMeasure, layerBars, rhoPlot } from "../charts/layers";
import { ramp } from "../charts/palette";
import { pixelsDrawing } from "../charts/pixels";
import { number } from "../format";
import type { PerPoint, State } from "../store";
import type { Point } from "../worker/protocol";
import { bentBy, captionOf, joined } from "./caption";
import { type Column, columnsOf } from "./columns";
import type { Figure } from "./figure";
import { barKey, lineKey, POINT_NAMES, plotted } from "./plots";

const POINTS: Point[] = ["trained", "bent"];
const there = <T>(values: PerPoint<T>): Point[] => POINTS.filter((point) => values[point] !== undefined);
const about = (state: State): string[] => [captionOf(state), state.layers.bent ? bentBy(state.bend) : ""];

export function barsFigure(state: State, measure: LayerMeasure): Figure | null {
  const { layers } = state;
  if (!layers.trained) return null;
  const name = measure.title.replace("_τ", "τ");
  return {
    name: `layers-${measure.column.replaceAll("_", "-")}`,
    title: `${name} of each layer`,
    caption: joined(`${name}: ${measure.about} (Petzka et al.)`, ...about(state)),
    columns: () => layerColumns(layers, [measure]),
    drawing: plotted(
      layerBars(layers, measure),
      there(layers).map((point) => barKey(POINT_NAMES[point], point)),
      { width: 480, height: 300 },
    ),
  };
}

export function layerColumns(layers: PerPoint<PetzkaReport>, measures: LayerMeasure[]): Column[] {
  const count = layers.trained?.kappa.length ?? 0;
  return [
    { name: "layer", values: Array.from({ length: count }, (_, index) => index + 1) },
    ...there(layers).flatMap((point) =>
      measures.map(({ column, values }) => {
        const report = layers[point];
        return { name: `${column}_${point}`, values: report ? values(report) : [] };
      }),
    ),
  ];
}

export function layersFigure(state: State): Figure | null {
  const { layers } = state;
  if (!layers.trained) return null;
  const rows = there(layers).flatMap((point) =>
    (layers[point]?.kappa ?? []).map(({ value, residual, converged }, layer) => {
      const rho = [...(layers[point]?.rho[layer] ?? [])];
      return [
        point,
        layer + 1,
        value,
        residual,
        converged,
        ...LAYER_MEASURES.slice(1).map(({ values }) => values(layers[point] as PetzkaReport)[layer]),
        rho.reduce((most, value) => Math.max(most, value), 0),
        rho.reduce((sum, value) => sum + value, 0),
      ];
    }),
  );
  return {
    name: "layers",
    title: "Petzka’s measures, layer by layer",
    caption: joined(...about(state)),
    columns: () =>
      columnsOf(
        [
          "point",
          "layer",
          "kappa",
          "kappa_residual",
          "kappa_converged",
          ...LAYER_MEASURES.slice(1).map(({ column }) => column),
          "rho_max",
          "rho_sum",
        ],
        rows,
      ),
  };
}

export function rhoOf({ layers }: State, layer: number): PerPoint<Float64Array> {
  return Object.fromEntries(
    there(layers).flatMap((point) => {
      const rho = layers[point]?.rho[layer];
      return rho ? [[point, rho]] : [];
    }),
  );
}

/** In the neurons' own order. */
const rhoColumns = (rho: PerPoint<Float64Array>): Column[] => [
  { name: "neuron", values: Array.from(rho.trained ?? [], (_, index) => index + 1) },
  ...there(rho).map((point) => ({ name: `rho_${point}`, values: rho[point] ?? [] })),
];

export function rhoFigure(state: State, layer: number): Figure | null {
  const rho = rhoOf(state, layer);
  const options = rhoPlot(rho);
  if (!options) return null;
  return {
    name: `rho-layer-${layer + 1}`,
    title: `ρ of the neurons that feed layer ${layer + 1}`,
    caption: joined(
      "ρ: the curvature along the weights that leave a neuron, at their own length (Petzka et al.)",
      ...about(state),
    ),
    columns: () => rhoColumns(rho),
    drawing: plotted(
      options,
      there(rho).map((point) =>
        lineKey(POINT_NAMES[point], point === "trained" ? "trained hollow" : "bent", "dots alone"),
      ),
    ),
  };
}

export function pixelsFigure(state: State, point: Point, layer: number, side: number): Figure | null {
  const rho = rhoOf(state, layer);
  const values = rho[point];
  if (!values) return null;
  const high = highestRho(rho);
  return {
    name: `rho-pixels-${point}`,
    title: `ρ of each pixel, ${POINT_NAMES[point]}`,
    caption: joined(...about(state), `0 to ${number(high)}, coloured by the square root`),
    columns: () => [
      { name: "row", values: Array.from(values, (_, index) => Math.floor(index / side) + 1) },
      { name: "column", values: Array.from(values, (_, index) => (index % side) + 1) },
      { name: "rho", values },
    ],
    drawing: { width: 360, height: 360, draw: () => pixelsDrawing(values, side, high, ramp("light")) },
  };
}
