/** What work will take, in seconds and bytes: what its pieces are made of, times what that costs on this device. */

import { rowsOf } from "./charts/heights";
import { growingOf, type Piece } from "./plan";
import { measuresOf, type State } from "./store";
import { checkUnits, measureUnits } from "./units";
import type { ModelInfo, SampleCosts, TrainChoice } from "./worker/protocol";

/**
 * Products that a piece takes, about, or as much time as so many of them. Counted for the network that the page opens with;
 * how many iterations take is a matter of the network, so that what a piece really took counts for more as soon as that is known.
 */
const PRODUCTS = {
  sweep: 8,
  hessian: 90,
  spectralNorm: 60,
  eigenvalues: 11,
  probes: 70,
  search: 60,
  layers: 23,
  spectrum: 220,
  /** For each of probes × steps. */
  density: 0.8,
  directions: 60,
  valley: 60,
  sharpen: 200,
  boxes: 100,
  many: 500,
  ball: 200,
  report: 900,
  table2: 80,
} as const;

const SEARCHES: Readonly<Record<string, number>> = {
  epsilon_sharpness: 27,
  epsilon_sharpness_subspace: 110,
  average_sharpness: 22,
  average_sharpness_scaled: 22,
};

/** The check has fewer probes, and an estimate is the cheaper for what is known of the spectrum's ends. */
const PROBES_IN_CHECK = 0.25;

const LINE_POINTS = 41;
/** Of Table 2's network. */
const TABLE2_PARAMETERS = 266_610;
/** Vectors of parameters that a spectral norm keeps: the basis of Lanczos, and some. */
const VECTORS = 48;

/** Above this the page advises fewer samples. */
const LONG_SECONDS = 180;
/** Wasm addresses 4 GB, and the data are there twice for a moment. */
const MUCH_BYTES = 2e9;

export type Work = "training" | "landscape" | "measures" | "spectrum" | "check";

export interface WorkEstimate {
  seconds: number;
  bytes: number;
  /** The part of `bytes` that does not depend on the samples. */
  vectors: number;
}

/** What is trained: of the options, or of what runs. */
export type Training = Pick<TrainChoice, "epochs" | "batchSize">;

/** What an estimate is made of. */
export interface Known {
  state: State;
  costs: SampleCosts;
  model: ModelInfo;
  training: Training;
}

/** Null while costs are not known. */
export function known(state: State, training: Training | null): Known | null {
  const { costs, model } = state;
  return costs && model ? { state, costs, model, training: training ?? { epochs: 1, batchSize: 64 } } : null;
}

/** By what real and estimated time are compared: work of one kind is off by the same factor. */
export function kindOf(piece: Piece, { spectrumChoice, landscapeChoice }: State): string {
  switch (piece.what) {
    case "measures":
      return `measures ${piece.unit.keys.length === 1 ? piece.unit.keys[0] : piece.unit.name}`;
    case "check":
      return `check ${piece.unit.name} ${piece.unit.cost}`;
    case "spectrum":
    case "density":
      return `${piece.what} ${spectrumChoice.operator} ${spectrumChoice.part}`;
    case "line":
    case "surface":
      return `${piece.what} ${landscapeChoice.directions}`;
    default:
      return piece.what;
  }
}

function productsOf(piece: Piece & { what: "measures" | "check" }): number {
  const { unit } = piece;
  if (piece.what === "measures") {
    if (unit.cost === "search") return SEARCHES[unit.name] ?? PRODUCTS.search;
    if (unit.cost === "probes") return PRODUCTS.probes;
    if (unit.name === "sweep") return PRODUCTS.sweep;
    if (unit.name !== "hessian") return PRODUCTS.eigenvalues;
    return unit.keys.length === 1 ? PRODUCTS.spectralNorm : PRODUCTS.hessian;
  }
  const [searches, others] = [unit.keys.filter(isSearch), unit.keys.filter((key) => !isSearch(key))];
  const found = searches.reduce((sum, key) => sum + (SEARCHES[key] ?? PRODUCTS.search), 0);
  if (unit.name === "sweep") return PRODUCTS.sweep;
  const probes = unit.cost === "probes" || others.some((key) => key.endsWith("frobenius_norm"));
  const ends = unit.name === "hessian" ? PRODUCTS.hessian : PRODUCTS.eigenvalues;
  return found + (others.length > 0 ? ends : 0) + (probes ? PROBES_IN_CHECK * PRODUCTS.probes : 0);
}

const isSearch = (key: string): boolean =>
  /^epsilon_sharpness(_subspace|_box)?$|^riemannian_sharpness|^average_/.test(key);

/** Before what this device has shown of such work. */
export function secondsOf(piece: Piece, { state, costs, model, training }: Known): number {
  const { measuredSamples: measured, samples, validationSamples } = model;
  const { landscapeChoice, spectrumChoice, checkChoice } = state;
  const product = costs.product.call + measured * costs.product.sample;
  const plane = (points: number): number => measured * (costs.plane.begin + points * costs.plane.point);
  switch (piece.what) {
    case "training": {
      const { epochs, batchSize } = training;
      const batch = Math.max(1, Math.min(batchSize, samples));
      const steps = Math.ceil(samples / batch) * costs.step.call + samples * costs.step.sample;
      return epochs * (steps + validationSamples * costs.evaluation);
    }
    case "line": {
      // Whichever comes first draws them.
      const directions = landscapeChoice.directions === "eigenvectors" ? PRODUCTS.directions : 0;
      return plane(LINE_POINTS) + (piece.point === "trained" ? directions * product : 0);
    }
    case "surface": {
      const { points } = landscapeChoice;
      const growing = growingOf(state, piece.point);
      return plane(points * (points - (growing ? rowsOf(growing) : 0)));
    }
    case "measures":
      return productsOf(piece) * product;
    case "check":
      return (1 + (checkChoice?.transformations.length ?? 4)) * productsOf(piece) * product;
    case "density":
      return spectrumChoice.probes * spectrumChoice.steps * PRODUCTS.density * product;
    case "bend":
      return 2 * measured * costs.evaluation;
    case "examples":
      return 10 * costs.evaluation;
    case "accuracy":
      return (validationSamples || samples) * costs.evaluation;
    case "table2":
      return (PRODUCTS.table2 * product * TABLE2_PARAMETERS) / model.parameterCount;
    default:
      return PRODUCTS[piece.what] * product;
  }
}

/** All pieces of such work at the trained point, as if nothing were there yet. */
export function piecesOf(work: Work, state: State, searches = false): Piece[] {
  const point = "trained";
  switch (work) {
    case "training":
      return [{ what: "training" }];
    case "landscape":
      return [
        { what: "line", point },
        { what: "surface", point },
      ];
    case "measures":
      return measureUnits(measuresOf(state)).map((unit) => ({ what: "measures", point, unit }));
    case "spectrum":
      return [
        { what: "spectrum", point },
        { what: "density", point },
      ];
    case "check": {
      const measures = measuresOf(state).filter(({ cost }) => searches || cost !== "search");
      return checkUnits(measures, state.model?.piecewiseLinear !== false).map((unit) => ({ what: "check", unit }));
    }
  }
}

export function bytesOf(work: Work, { costs, model, state, training }: Known): Pick<WorkEstimate, "bytes" | "vectors"> {
  const { measuredSamples, samples, validationSamples } = model;
  const { dataBytes, pointBytes, vectorBytes } = costs;
  const iterates = work !== "training" && (work !== "landscape" || state.landscapeChoice.directions === "eigenvectors");
  const vectors = (iterates ? VECTORS : 4) * vectorBytes;
  if (work !== "training") return { bytes: measuredSamples * (dataBytes + pointBytes) + vectors, vectors };
  const batch = Math.max(1, Math.min(training.batchSize, samples));
  return { bytes: (samples + validationSamples) * dataBytes + batch * pointBytes + vectors, vectors };
}

/** What to do about work that is too much; empty where it is not. */
export function hint(work: Work, { seconds, bytes, vectors }: WorkEstimate): string {
  if (vectors > MUCH_BYTES) return "That may not fit in memory, however few the samples: it takes a smaller network.";
  if (bytes > MUCH_BYTES) return "That may not fit in memory: choose fewer samples under Train’s options.";
  if (seconds <= LONG_SECONDS) return "";
  if (work === "training") return "That is long: choose fewer training samples or epochs under Options.";
  if (work === "landscape")
    return "That is long: choose fewer points, or fewer measured samples under Train’s options.";
  return "That is long: choose fewer measured samples under Train’s options.";
}
