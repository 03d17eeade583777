/** Curvature layer by layer, and the spectrum of an operator: its ends and its density. */

import type { EigenResult, Engine, OperatorName, PetzkaReport, RunOptions, SpectralDensity } from "isoflat";
import { type FlattestBend, LabFailure, type Point, type SpectrumChoice } from "./protocol";
import type { Model } from "./session";

const TOP = 10;
const BOTTOM = 5;
/** Relative to the spectral norm. The smallest eigenvalues crowd together: more digits of them would take very long. */
const TOLERANCE = { f64: 1e-6, f32: 1e-4 } as const;
const MAX_PRODUCTS = 600;

const operatorOf = ({ operator, part }: SpectrumChoice): OperatorName =>
  part === "all" ? operator : `${operator}.${part}`;

/**
 * Gauss–Newton matrices are never negative, nor is a layer's block of the Hessian where the network is piecewise linear: their
 * smallest eigenvalues are a crowd at 0, which tells nothing and takes long to tell apart.
 */
const isSemidefinite = ({ operator, part }: SpectrumChoice, { network }: Model): boolean =>
  operator.endsWith("gauss_newton") ||
  (part.startsWith("layer_") && !operator.endsWith("levi_civita") && network.piecewiseLinear);

export function layers(engine: Engine, options: RunOptions, model: Model, point: Point): Promise<PetzkaReport> {
  return engine.petzka(model.measured, model[point], options);
}

export async function flattest(engine: Engine, options: RunOptions, model: Model): Promise<FlattestBend> {
  const found = await engine.leastTrace(model.measured, model.trained, { ...options, group: "layerwise" });
  const { transformation, before, after, attained } = found;
  if (transformation.type !== "layerwise") throw new LabFailure("not_possible", "the flattest bend is none of layers");
  return { lambda: [...transformation.lambda], before, after, attained };
}

export function spectrum(
  engine: Engine,
  options: RunOptions,
  model: Model,
  point: Point,
  choice: SpectrumChoice,
): Promise<EigenResult> {
  return engine.eigenvalues(model.measured, model[point], {
    ...options,
    operator: operatorOf(choice),
    top: TOP,
    bottom: isSemidefinite(choice, model) ? 0 : BOTTOM,
    tolerance: TOLERANCE[engine.info.precision],
    maxProducts: MAX_PRODUCTS,
  });
}

export function density(
  engine: Engine,
  options: RunOptions,
  model: Model,
  point: Point,
  choice: SpectrumChoice,
): Promise<SpectralDensity> {
  const { probes, steps } = choice;
  return engine.density(model.measured, model[point], { ...options, operator: operatorOf(choice), probes, steps });
}
