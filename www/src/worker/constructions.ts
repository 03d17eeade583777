/** Dinh et al. 2017, at the trained point: what a person asks for beyond sharpening. Each is a row, by what it is asked with. */

import type { Engine, RunOptions } from "isoflat";
import { ALPHAS, samplesSeen } from "../constructions";
import { firstSamples } from "./options";
import {
  type AnyFound,
  type AskedWith,
  type Constructed,
  type Construction,
  type InputMap,
  type InputsFinding,
  LabFailure,
  type NormalizedFinding,
  type RadialFinding,
  type SharpenChoice,
} from "./protocol";
import type { Model } from "./session";

/** Where and how a construction is made. */
export interface Site {
  engine: Engine;
  options: RunOptions;
  model: Model;
  /** Theorem 5's M; null where nobody has asked for it. */
  target: SharpenChoice | null;
}

const CONSTRUCT: {
  [K in Construction]: (site: Site, asked: Constructed[K]["asked"]) => Promise<Constructed[K]["found"]>;
} = {
  boxes: ({ engine, options, model }) => engine.volumeFlatness(model.measured, model.trained, options),
  ball: async ({ engine, options, model }, epsilon) =>
    shown(await engine.constantInBall(model.measured, model.trained, { ...options, epsilon })),
  many: async ({ engine, options, model, target }) => {
    if (!target) throw new LabFailure("not_possible", "the valley is to be looked at first");
    return shown(await engine.manyLargeEigenvalues(model.measured, model.trained, { ...options, ...target }));
  },
  radial,
  normalized,
  inputs,
};

export const construct = (site: Site, what: Construction, asked: AskedWith): Promise<AnyFound> =>
  (CONSTRUCT[what] as (site: Site, asked: AskedWith) => Promise<AnyFound>)(site, asked);

/** Without what is as long as the parameters and not shown. The types are open, and `Omit` would lose their keys. */
function shown<T>(found: { parameters: Float64Array }): T {
  const { parameters: _, ...rest } = found;
  return rest as T;
}

/** Of the ball that the map touches. Where ψ bends does not matter at its centre: the ratio of r̂ and ρ does. */
const DELTA = 1;
const WIDER = DELTA / 2;

async function radial({ engine, options, model }: Site, flatter: number): Promise<RadialFinding> {
  const { measured, trained } = model;
  // Curvature is multiplied by (r̂/ρ)²; the larger of the two stays well within δ.
  const stretch = Math.sqrt(flatter);
  const [inner, rho] = stretch > 1 ? [WIDER / stretch, WIDER] : [WIDER, WIDER * stretch];
  const { top, converged } = await engine.eigenvalues(measured, trained, { ...options, top: 1, bottom: 0 });
  const [largest] = top;
  if (!largest || !(largest.value > 0)) {
    throw new LabFailure(
      "not_possible",
      "the Hessian has no positive eigenvalue here, which could be made smaller or larger",
    );
  }
  const map = { type: "radial", delta: DELTA, inner, rho } as const;
  const { full, relativeTerm } = await engine.reparametrizedHessian(measured, trained, { ...options, map });
  const { value, residual } = largest;
  const after = full.at(-1) ?? Number.NaN;
  return { flatter, delta: DELTA, inner, rho, before: { value, residual, converged }, after, relativeTerm };
}

const [BALL, BOXES] = [0.01, 5];

async function normalized({ engine, options, model }: Site): Promise<NormalizedFinding> {
  const { measured, trained } = model;
  const scales = await engine.normalizedSharpness(measured, trained, { ...options, alphas: ALPHAS, epsilon: BALL });
  const volume = await engine.volumeFlatness(measured, trained, {
    ...options,
    coordinates: "weight_normalization",
    boxes: BOXES,
  });
  const { alpha, epsilon, radius, disjoint, boxes } = volume;
  const climbed = ({ value, converged }: { value: number; converged: boolean }) => ({ value, converged });
  return {
    epsilon: BALL,
    scales: scales.map(({ alpha, directions, whole, outputs }) => ({
      alpha,
      directions: climbed(directions),
      whole: climbed(whole),
      outputs,
    })),
    volumes: boxes.map(({ power, logVolume }) => ({ alpha: alpha ** power, logVolume })),
    boxes: {
      epsilon,
      radius,
      disjoint,
      largestDifference: Math.max(...boxes.map(({ largestDifference }) => largestDifference)),
    },
  };
}

async function inputs({ engine, options, model }: Site, map: InputMap): Promise<InputsFinding> {
  const { measured, trained, network } = model;
  const seen = firstSamples(measured, samplesSeen(map, network.inputLength, measured.samples));
  try {
    const found = await engine.inputRepresentation(seen, trained, { ...options, map });
    const { predictionGradients, lossGradients, chainRuleError, outputs } = found;
    return { map, samples: seen.samples, predictionGradients, lossGradients, chainRuleError, outputs };
  } finally {
    if (seen !== measured) seen.free();
  }
}
