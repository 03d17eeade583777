/** What work will take, in seconds and bytes, from what one sample costs on this device. */

import type { DirectionKind, ModelInfo, SampleCosts, TrainChoice } from "./worker/protocol";

/** Products with operators that one point's measures take, about, and as many for the searches' gradients. */
const PRODUCTS_A_POINT = 300 + 500;
/** The check leaves the searches out and has fewer probes, before and after each of four maps. */
const PRODUCTS_A_CHECK = 5 * 250;
/** Products for the ten largest and the five smallest eigenvalues, about. */
const PRODUCTS_FOR_ENDS = 250;
/** Products for two eigenvectors as directions. */
const PRODUCTS_FOR_DIRECTIONS = 60;
const LINE_POINTS = 41;
/** Vectors of parameters that a spectral norm keeps: the basis of Lanczos, and some. */
const VECTORS = 48;

/** Samples that a thread has at least. */
const SHARE = 8;

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

export interface Settings {
  /** Threads of the CPU; 1 on a GPU. */
  threads: number;
  points: number;
  directions: DirectionKind;
  /** Products for a density: probes × steps. */
  density: number;
  training: Pick<TrainChoice, "epochs" | "batchSize">;
}

export function estimateOf(work: Work, costs: SampleCosts, model: ModelInfo, settings: Settings): WorkEstimate {
  const { measuredSamples: measured, samples, validationSamples } = model;
  const { dataBytes, pointBytes, vectorBytes, callSeconds, gradientSeconds, productSeconds, evaluationSeconds } = costs;
  // Training's batches may be too small to be shared out, so its time may come out too long; the others' passes are shared.
  const shared = (samples: number): number => samples / Math.max(1, Math.min(settings.threads, samples / SHARE));
  const product = shared(measured) * productSeconds + callSeconds * (productSeconds / gradientSeconds);
  const needs = (seconds: number, sampleBytes: number, count: number): WorkEstimate => {
    const vectors = count * vectorBytes;
    return { seconds, bytes: sampleBytes + vectors, vectors };
  };
  const point = measured * (dataBytes + pointBytes);
  switch (work) {
    case "training": {
      const { epochs, batchSize } = settings.training;
      const batch = Math.max(1, Math.min(batchSize, samples));
      const epoch = samples * gradientSeconds + Math.ceil(samples / batch) * callSeconds;
      const seconds = epochs * (epoch + validationSamples * evaluationSeconds);
      return needs(seconds, (samples + validationSamples) * dataBytes + batch * pointBytes, 4);
    }
    case "landscape": {
      const products = settings.directions === "eigenvectors" ? PRODUCTS_FOR_DIRECTIONS : 0;
      const evaluations = LINE_POINTS + settings.points ** 2;
      // Points go through together, a row at most.
      const seconds =
        evaluations * shared(measured) * evaluationSeconds + (settings.points + 1) * callSeconds + products * product;
      return needs(seconds, point, products > 0 ? VECTORS : 4);
    }
    case "measures":
      return needs(PRODUCTS_A_POINT * product, point, VECTORS);
    case "spectrum":
      return needs((PRODUCTS_FOR_ENDS + settings.density) * product, point, VECTORS);
    case "check":
      return needs(PRODUCTS_A_CHECK * product, point, VECTORS);
  }
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
