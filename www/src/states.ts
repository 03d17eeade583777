/** What the page knows when something it showed is of something else now. */

import { type Arrival, LANDSCAPE } from "./arrival/arrival";
import { noBend } from "./bends";
import { FIRST_LOOK } from "./charts/camera";
import type { Snapshot } from "./kept";
import { same } from "./same";
import { NO_DINH, NO_VALUES, NOT_SHARP, type PerPoint, type State } from "./store";
import type { LandscapeChoice, SpectrumChoice } from "./worker/protocol";

export const SPECTRUM: SpectrumChoice = { operator: "hessian", part: "all", probes: 4, steps: 60 };

/** Before there is anything. */
export const FIRST_STATE: State = {
  task: "starting",
  progress: null,
  waiting: null,
  paused: false,
  isWanted: false,
  asked: {},
  engine: null,
  backend: "auto",
  descriptions: [],
  operators: [],
  costs: null,
  model: null,
  modelChoice: null,
  trainChoice: null,
  opened: null,
  training: null,
  way: 0,
  unfinished: null,
  stamp: null,
  shelf: [],
  undo: null,
  redo: null,
  ready: false,
  sharpness: NOT_SHARP,
  bend: { lambda: [], nodewise: null, permutation: null },
  bendSummary: null,
  preview: null,
  examples: null,
  accuracy: {},
  landscapeChoice: LANDSCAPE,
  look: FIRST_LOOK,
  lines: {},
  surfaces: {},
  growing: {},
  measures: NO_VALUES,
  layers: {},
  spectrumChoice: SPECTRUM,
  spectra: {},
  densities: {},
  dinh: NO_DINH,
  invariance: null,
  checkChoice: null,
  table2: null,
  table3: null,
  spaces: null,
};

/** Another network, or other weights. */
export const CLEARED = {
  stamp: null,
  opened: null,
  training: null,
  way: 0,
  ready: false,
  sharpness: NOT_SHARP,
  bendSummary: null,
  preview: null,
  examples: null,
  accuracy: {},
  lines: {},
  surfaces: {},
  growing: {},
  measures: NO_VALUES,
  layers: {},
  spectra: {},
  densities: {},
  dinh: NO_DINH,
  invariance: null,
  checkChoice: null,
  asked: {},
  paused: false,
} satisfies Partial<State>;

/** The twin is another one. */
export function withoutTwin(state: State): Partial<State> {
  const { measures, lines, surfaces, growing, layers, spectra, densities, accuracy } = state;
  return {
    bendSummary: null,
    accuracy: only(accuracy),
    layers: only(layers),
    spectra: only(spectra),
    densities: only(densities),
    lines: only(lines),
    surfaces: only(surfaces),
    growing: only(growing),
    measures: { trained: measures.trained, bent: new Map() },
  };
}

/** Landscapes along other directions. The trained point's depends on all of the choice but `atBent`. */
export function withLandscape(state: State, landscapeChoice: LandscapeChoice): Partial<State> {
  const { atBent, ...now } = landscapeChoice;
  const { atBent: atBentBefore, ...before } = state.landscapeChoice;
  const isKept = same(now, before) && atBent !== atBentBefore;
  const { lines, surfaces, growing } = isKept ? state : FIRST_STATE;
  return {
    landscapeChoice,
    growing: only(growing),
    lines: only(lines),
    surfaces: only(surfaces),
    // The twin's coarse look is along the directions before, whatever was changed.
    preview: null,
  };
}

/** The same weights, on another device or other samples. */
export function withoutResults({ stamp, opened, training, way, ready, sharpness, dinh }: State): Partial<State> {
  const { decades, powersOfTwo } = dinh;
  return {
    ...CLEARED,
    stamp,
    opened,
    training,
    way,
    ready,
    sharpness,
    dinh: { ...NO_DINH, decades, powersOfTwo },
  };
}

/**
 * What is shown of a network, with what has been computed since and is so there too: tables, which are of no network; of the same weights
 * what is of the trained point. Nobody has taken that back.
 */
export function knownSince(shown: Snapshot, now: State, isSame: boolean): Snapshot {
  const tables = { table2: now.table2 ?? shown.table2, table3: now.table3 ?? shown.table3 };
  const isMeasuredSo =
    isSame && shown.backend === now.backend && shown.model?.measuredSamples === now.model?.measuredSamples;
  if (!isMeasuredSo) return { ...shown, ...tables };
  const later = <T>(before: PerPoint<T>, { trained }: PerPoint<T>): PerPoint<T> =>
    trained === undefined ? before : { trained, ...before };
  const along = ({ landscapeChoice: { atBent: _, ...choice } }: Snapshot) => choice;
  const isAlong = same(along(shown), along(now));
  const isOf = same(shown.spectrumChoice, now.spectrumChoice);
  return {
    ...shown,
    ...tables,
    accuracy: later(shown.accuracy, now.accuracy),
    layers: later(shown.layers, now.layers),
    measures: {
      trained: new Map([...now.measures.trained, ...shown.measures.trained]),
      bent: shown.measures.bent,
    },
    ...(isAlong && { lines: later(shown.lines, now.lines), surfaces: later(shown.surfaces, now.surfaces) }),
    ...(isOf && { spectra: later(shown.spectra, now.spectra), densities: later(shown.densities, now.densities) }),
    dinh: { ...shown.dinh, valley: shown.dinh.valley ?? now.dinh.valley, boxes: shown.dinh.boxes ?? now.dinh.boxes },
  };
}

/** The page as it opens. */
export function arrivedWith(arrival: Arrival): Partial<State> {
  const { modelChoice, trainChoice, model, training, descriptions, operators } = arrival;
  const { line, surface, examples, measures, layers, accuracy } = arrival;
  return {
    ...CLEARED,
    descriptions,
    operators,
    model,
    modelChoice,
    trainChoice,
    training,
    bend: noBend(model.depth),
    lines: { trained: line },
    surfaces: { trained: surface },
    examples,
    measures: { ...NO_VALUES, trained: new Map(measures.map((value) => [value.key, value])) },
    layers: { trained: layers },
    accuracy: { trained: accuracy },
    ready: true,
  };
}

/** Of the trained point alone. */
export function only<T>(values: PerPoint<T>): PerPoint<T> {
  return values.trained ? { trained: values.trained } : {};
}
