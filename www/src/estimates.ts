/** What work will take, in seconds and bytes: what its pieces are made of, times what that costs on this device. */

import type { ReportSection } from "isoflat";
import { rowsOf } from "./charts/heights";
import { isConstruction, takesOf, wantsValley } from "./constructions";
import { growingOf, type Piece, tablePieces } from "./plan";
import {
  isWhole,
  PRODUCTS,
  productsOfCheck,
  productsOfMeasures,
  productsOfSection,
  REPORT_DENSITY,
  spectraOf,
} from "./products";
import { type FullReport, reportPiece } from "./report/report";
import { FEW_SEEDS, keptOf, SAMPLES, type TableName } from "./seeds";
import { type KnownCosts, measuresOf, type State } from "./store";
import { checkUnits, measureUnits } from "./units";
import type { AskedWith, Construction, ModelInfo, TrainChoice } from "./worker/protocol";

const LINE_POINTS = 41;
/** Of each table's network: what it keeps of a sample, and how many multiplications one takes in a dense network's time. */
const NETWORKS = {
  table2: { parameters: 266_610, multiplications: 266_200, values: 784 + 2 * 410 },
  // Small convolutions take longer for each than a dense layer, as they have been timed.
  table3: { parameters: 54_814, multiplications: 2.4 * 512_880, values: 784 + 2 * 9004 },
} as const;
/** Vectors of parameters that a spectral norm keeps: the basis of Lanczos, and some. */
const VECTORS = 48;

/** Above this the page advises fewer samples. */
const LONG_SECONDS = 180;
/** Wasm addresses 4 GB, and the data are there twice for a moment. */
const MUCH_BYTES = 2e9;

export type Work = "training" | "landscape" | "measures" | "spectrum" | "check" | "report" | TableName | Construction;

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
  costs: KnownCosts;
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
    case "inputs":
      return `${piece.what} ${piece.asked}`;
    default:
      return piece.what;
  }
}

/** Entries of a matrix that is made tridiagonal, and then diagonal, in a second: the one thing here that no device helps with. */
const ENTRIES_A_SECOND = 1.5e9;

/** Products with as many directions as there are parameters, and what is made of the matrix. */
const wholeSpectrum = (n: number, product: number): number => PRODUCTS.column * n * product + n ** 3 / ENTRIES_A_SECOND;

/** Arithmetic on vectors beside a product, such as a basis that is kept orthogonal: as much as so many samples more. */
const ARITHMETIC = 80;
/** Of a density, whose bases are kept whole, for each of its steps. */
const DENSITY_ARITHMETIC = 3.5;

const productOf = ({ product }: KnownCosts, { measuredSamples }: ModelInfo): number =>
  product.call + measuredSamples * product.sample;

/** As samples are counted; where no dense network has been seen, nothing is known of it. */
const arithmetic = ({ weight }: KnownCosts, { parameterCount }: ModelInfo, samples: number): number =>
  samples * parameterCount * (weight ?? 0);

function densitySeconds({ costs, model }: Known, { probes, steps }: { probes: number; steps: number }): number {
  const step = PRODUCTS.column * productOf(costs, model) + arithmetic(costs, model, DENSITY_ARITHMETIC * steps);
  return probes * steps * step;
}

function sectionSeconds(section: ReportSection, found: Known, product: number): number {
  const spectra = spectraOf(section);
  if (isWhole(found.model) && spectra > 0) return spectra * wholeSpectrum(found.model.parameterCount, product);
  // A density is read off the spectrum then.
  if (section === "density") return isWhole(found.model) ? 0 : densitySeconds(found, REPORT_DENSITY);
  return productsOfSection(section, found.model) * product;
}

/** Before what this device has shown of such work; null where nothing is known. */
export function secondsOf(piece: Piece, found: Known): number | null {
  const { state, costs, model, training } = found;
  const { measuredSamples: measured, samples, validationSamples } = model;
  const { landscapeChoice, spectrumChoice, checkChoice } = state;
  const product = productOf(costs, model) + arithmetic(costs, model, ARITHMETIC);
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
      return productsOfMeasures(piece.unit) * product;
    case "check":
      return (1 + (checkChoice?.transformations.length ?? 4)) * productsOfCheck(piece.unit) * product;
    case "report":
      return piece.sections.reduce((sum, section) => sum + sectionSeconds(section, found, product), 0);
    case "density":
      return densitySeconds(found, spectrumChoice);
    case "bend":
      return 2 * measured * costs.evaluation;
    case "examples":
      return 10 * costs.evaluation;
    case "accuracy":
      return (validationSamples || samples) * costs.evaluation;
    case "table2":
    case "table3":
    case "power": {
      if (costs.weight === null) return null;
      const { parameters, multiplications } = NETWORKS[piece.what === "table3" ? "table3" : "table2"];
      return PRODUCTS[piece.what] * (SAMPLES * multiplications + ARITHMETIC * parameters) * costs.weight;
    }
    default:
      return "asked" in piece ? constructionSeconds(piece, found, product) : PRODUCTS[piece.what] * product;
  }
}

function constructionSeconds(
  { what, asked }: Extract<Piece, { asked: AskedWith }>,
  { costs, model }: Known,
  product: number,
): number | null {
  const { products = 0, columns = 0, spectra = 0, multiplied = 0, seconds = 0 } = takesOf(what, model, asked);
  if (multiplied > 0 && costs.weight === null) return null;
  const together = PRODUCTS.column * columns * productOf(costs, model);
  const whole = (spectra * model.parameterCount ** 3) / ENTRIES_A_SECOND;
  return products * product + together + whole + multiplied * (costs.weight ?? 0) + seconds;
}

/** What of it is wanted. */
interface Asked {
  searches?: boolean;
  before?: FullReport | null;
  asked?: AskedWith;
  seeds?: number;
}

/** All pieces of such work at the trained point, as if nothing were there yet; of a table those that a press of its button begins. */
export function piecesOf(
  work: Work,
  state: State,
  { searches = false, before = null, asked = true, seeds = FEW_SEEDS }: Asked = {},
): Piece[] {
  const point = "trained";
  if (isConstruction(work)) {
    const piece: Piece = { what: work, asked };
    return wantsValley(work) && !state.dinh.valley ? [{ what: "valley" }, piece] : [piece];
  }
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
    case "report":
      return [reportPiece(state, before)];
    case "table2":
    case "table3":
      return tablePieces(work, keptOf(state[work], seeds, state.engine?.info), seeds);
    case "check": {
      const measures = measuresOf(state).filter(({ cost }) => searches || cost !== "search");
      return checkUnits(measures, state.model?.piecewiseLinear !== false).map((unit) => ({ what: "check", unit }));
    }
  }
}

export function bytesOf(work: Work, { costs, model, state, training }: Known): Pick<WorkEstimate, "bytes" | "vectors"> {
  const { measuredSamples, samples, validationSamples } = model;
  const { dataBytes, pointBytes, vectorBytes } = costs;
  if (work === "table2" || work === "table3") {
    const { parameters, values } = NETWORKS[work];
    const number = vectorBytes / model.parameterCount;
    const vectors = VECTORS * parameters * number;
    return { bytes: SAMPLES * values * number + vectors, vectors };
  }
  const iterates = work !== "training" && (work !== "landscape" || state.landscapeChoice.directions === "eigenvectors");
  const vectors = (iterates ? VECTORS : 4) * vectorBytes;
  if (work !== "training") return { bytes: measuredSamples * (dataBytes + pointBytes) + vectors, vectors };
  const batch = Math.max(1, Math.min(training.batchSize, samples));
  return { bytes: (samples + validationSamples) * dataBytes + batch * pointBytes + vectors, vectors };
}

/** What to do about work that is too much; empty where it is not. */
export function hint(work: Work, { seconds, bytes, vectors }: WorkEstimate): string {
  // Network and data are the table's own; how many seeds it takes is chosen beside it.
  if (work === "table2" || work === "table3") return "";
  if (vectors > MUCH_BYTES) return "That may not fit in memory, however few the samples: it takes a smaller network.";
  if (bytes > MUCH_BYTES) return "That may not fit in memory: choose fewer samples under Train’s options.";
  if (seconds <= LONG_SECONDS) return "";
  if (work === "training") return "That is long: choose fewer training samples or epochs under Options.";
  if (work === "many" || work === "radial") return "That is long: it takes a smaller network.";
  if (work === "landscape")
    return "That is long: choose fewer points, or fewer measured samples under Train’s options.";
  return "That is long: choose fewer measured samples under Train’s options.";
}
