/** What a figure's caption says, so that the picture alone can be understood: network, data, bend, device. */

import type { BackendInfo } from "isoflat";
import { integer, number } from "../format";
import type { Bend, State } from "../store";
import type { LandscapeChoice, ModelInfo, TrainChoice } from "../worker/protocol";

type Captioned = Pick<State, "model" | "modelChoice" | "trainChoice" | "training" | "engine" | "bend">;

/** Sentences' parts, of which the empty ones say nothing. */
export const joined = (...parts: (string | null | undefined | false)[]): string => {
  const said = parts.filter(Boolean).join("; ");
  return said === "" ? "" : `${said}.`;
};

/** `784-100-10 on MNIST, 500 samples, CPU f64`. */
export function captionOf(state: Captioned, info: BackendInfo | undefined = state.engine?.info): string {
  const { model } = state;
  return model ? [subject(model, state.modelChoice === null), info && deviceOf(info)].filter(Boolean).join(", ") : "";
}

function subject({ summary, data, measuredSamples }: ModelInfo, isFile: boolean): string {
  // Random data have their number in their name.
  const of = /^\d+ random samples$/.test(data) ? "random samples" : isFile ? `the file “${data}”` : data;
  return `${summary} on ${of}, ${integer(measuredSamples)} samples`;
}

export function deviceOf({ backend, adapter, precision }: BackendInfo): string {
  return backend === "cpu" ? `CPU ${precision}` : `WebGPU${adapter ? ` (${adapter})` : ""} ${precision}`;
}

const OPTIMIZERS: Record<TrainChoice["optimizer"], string> = {
  sgd: "SGD",
  momentum: "SGD with momentum 0.9",
  adam: "Adam",
};

export function trainedBy({ trainChoice, training }: Pick<State, "trainChoice" | "training">): string {
  if (!trainChoice || !training) return "";
  const { optimizer, learningRate, batchSize, epochs, seed } = trainChoice;
  const stopped = training.stopped ? ", stopped before their end" : "";
  return `${epochs} epochs of ${OPTIMIZERS[optimizer]}${stopped}, learning rate ${learningRate}, batches of ${batchSize}, seed ${seed}`;
}

/** `bent by λ = 0.0316, 31.6`; nothing where the weights are as trained. */
export function bentBy({ lambda, nodewise, permutation }: Bend): string {
  const parts = [
    lambda.some((factor) => factor !== 1) ? `by λ = ${lambda.map((factor) => number(factor)).join(", ")}` : "",
    nodewise ? `every hidden unit by its own factor up to × ${nodewise.range} (seed ${nodewise.seed})` : "",
    permutation ? `hidden units in another order (seed ${permutation.seed})` : "",
  ].filter(Boolean);
  return parts.length === 0 ? "" : `bent ${parts.join(", ")}`;
}

const NORMALISED: Record<LandscapeChoice["normalization"], string> = {
  filter: "filter-normalised",
  layer: "layer-normalised",
  none: "unnormalised",
};

/** `filter-normalised random directions, seed 1`. */
export function directionsOf({ directions, normalization, seed }: LandscapeChoice): string {
  switch (directions) {
    case "random":
      return `${NORMALISED[normalization]} random directions, seed ${seed}`;
    case "eigenvectors":
      return `along the top two Hessian eigenvectors, ${NORMALISED[normalization]}`;
    case "way":
      // Their lengths are their own.
      return "along the principal components of the training’s way";
  }
}
