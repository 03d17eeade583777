/** The JSON that "Save the result" writes: every number shown, and what it was computed with. */

import type { Landscape, PetzkaReport } from "isoflat";
import type { PerPoint, State } from "./store";
import type { Point } from "./worker/protocol";

const POINTS: Point[] = ["trained", "bent"];

function plain(landscape: Landscape | undefined) {
  if (!landscape) return undefined;
  const { s, t, loss, accuracy, center, path, backend } = landscape;
  const way = path && { ...path, s: [...path.s], t: [...path.t] };
  return { s: [...s], t: [...t], loss: [...loss], accuracy: [...accuracy], center, path: way, backend };
}

function layers(report: PetzkaReport | undefined) {
  return report && { ...report, rho: report.rho.map((values) => [...values]) };
}

function both<T>(values: PerPoint<T>, map: (value: T | undefined) => unknown) {
  return Object.fromEntries(POINTS.map((point) => [point, map(values[point])]));
}

const table = (found: State["table2"]) => found && { device: found.device, seeds: found.seeds };

export function resultFile(state: State): string {
  const { engine, model, modelChoice, trainChoice, training, bend, bendSummary, landscapeChoice } = state;
  const result = {
    isoflat: "result",
    date: new Date().toISOString(),
    backend: engine?.info,
    model,
    settings: { model: modelChoice, training: training && trainChoice, bend, landscape: landscapeChoice },
    training,
    bend: bendSummary,
    measures: both(state.measures, (values) => values && [...values.values()]),
    layers: both(state.layers, layers),
    spectrum: {
      choice: state.spectrumChoice,
      ends: both(state.spectra, (ends) => ends),
      density: both(state.densities, (density) => density),
    },
    dinh: state.dinh,
    invariance: state.invariance,
    rangamani_table_2: table(state.table2),
    rangamani_table_3: table(state.table3),
    rangamani_figure_1: state.table2?.power ?? null,
    landscape: {
      line: both(state.lines, plain),
      surface: both(state.surfaces, plain),
    },
  };
  return `${JSON.stringify(result, null, 1)}\n`;
}
