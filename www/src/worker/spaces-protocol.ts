/** What the part on parameter spaces and its own worker say to each other. */

import type { Optimizer, SpaceSpec } from "isoflat";
import type { Outcome } from "./protocol";

/** How every run of an experiment trains. */
export interface Setting {
  /** The first of MNIST's training images. */
  images: number;
  /** Of its test images, for the validation loss. */
  testImages: number;
  batch: number;
  epochs: number;
  seed: number;
  /** Runs of each kind, from as many initialisations; their losses are averaged. */
  repeats: number;
}

/** One run: where it trains and how. All runs of one seed begin at the same weights. */
export interface RunOrder {
  key: string;
  space: SpaceSpec;
  optimizer: Optimizer;
}

/** News of a run: the loss over its last steps, or the validation loss after an epoch. `epoch` counts what is done, in parts. */
export interface RunPoint {
  key: string;
  epoch: number;
  loss: number;
  validationLoss?: number;
  validationAccuracy?: number;
}

export interface RunEnd {
  key: string;
  end: "done" | "stopped" | "diverged";
}

/** One optimiser from two starting points that are the same function. */
export interface RescalingRow {
  space: SpaceSpec["type"];
  /** Losses after training. */
  losses: [number, number];
  /** Largest difference between path values after training, relative to the largest path value. */
  difference: number;
  /** How far training moved them, relative likewise. */
  moved: number;
}

export interface Rescaling {
  summary: string;
  parameterCount: number;
  dimension: number;
  steps: number;
  learningRate: number;
  /** Between the two starting points, before training: outputs, and path values, relative as above. */
  outputDifference: number;
  pathDifference: number;
  weightDifference: number;
  rows: RescalingRow[];
}

export interface Curvature {
  value: number;
  residual: number;
  converged: boolean;
  products: number;
  /** Where the factors between coordinates and weights are numerically dangerous. */
  warning?: string;
}

/** What one step takes, and the loss of one sample. */
export interface Speed {
  stepSeconds: number;
  evaluationSeconds: number;
}

export type SpacesEvent =
  | { type: "points"; points: RunPoint[] }
  /** Of the curvature: products so far. */
  | { type: "products"; products: number };

export interface SpacesApi {
  connect(mnistFolder: string, listener: (event: SpacesEvent) => void): void;
  /** A trial of well under a second, without MNIST. */
  speed(batch: number): Promise<Outcome<Speed>>;
  /** Side by side, an epoch of each in turn. The weights reached stay in the worker under the runs' keys. */
  train(setting: Setting, runs: RunOrder[]): Promise<Outcome<RunEnd[]>>;
  /** Forgets the weights of all runs. */
  forget(): void;
  rescaling(seed: number): Promise<Outcome<Rescaling>>;
  /** The Hessian's largest eigenvalue in a space, where a run has ended, or at the same function with its units rescaled. */
  curvature(run: string, space: SpaceSpec, rescaled: boolean): Promise<Outcome<Curvature>>;
  stop(): void;
}
