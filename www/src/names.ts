/** The measures' names as people read them; the keys stay what programs read. */

import type { MeasureKey } from "isoflat";

const NAMES: Partial<Record<MeasureKey, string>> = {
  loss: "Loss",
  gradient_norm: "Gradient norm",
  "hessian.max_eigenvalue": "Hessian, largest eigenvalue",
  "hessian.min_eigenvalue": "Hessian, smallest eigenvalue",
  "hessian.spectral_norm": "Hessian, spectral norm",
  "hessian.trace": "Hessian, trace",
  "hessian.frobenius_norm": "Hessian, Frobenius norm",
  "gauss_newton.max_eigenvalue": "Gauss–Newton, largest eigenvalue",
  "gauss_newton.trace": "Gauss–Newton, trace",
  "gauss_newton.frobenius_norm": "Gauss–Newton, Frobenius norm",
  epsilon_sharpness_quadratic: "ε-sharpness, quadratic",
  epsilon_sharpness: "ε-sharpness, ball",
  epsilon_sharpness_subspace: "ε-sharpness, random subspaces",
  epsilon_sharpness_box: "ε-sharpness, Keskar’s box",
  "riemannian_sharpness.layerwise": "Riemannian sharpness, layer-wise",
  "riemannian_sharpness.nodewise": "Riemannian sharpness, node-wise",
  average_sharpness: "Average sharpness, equal noise",
  average_sharpness_scaled: "Average sharpness, noise in proportion",
  "riemannian.layerwise_flat.spectral_norm": "Riemannian spectral norm, layer-wise",
  "riemannian.layerwise_levi_civita.spectral_norm": "Riemannian spectral norm, layer-wise, Levi-Civita",
  "riemannian.nodewise_flat.spectral_norm": "Riemannian spectral norm, node-wise",
  "riemannian.nodewise_levi_civita.spectral_norm": "Riemannian spectral norm, node-wise, Levi-Civita",
  "riemannian.layerwise_flat.trace": "Riemannian trace, layer-wise",
  "riemannian.layerwise_levi_civita.trace": "Riemannian trace, layer-wise, Levi-Civita",
  "riemannian.nodewise_flat.trace": "Riemannian trace, node-wise",
  "riemannian.nodewise_levi_civita.trace": "Riemannian trace, node-wise, Levi-Civita",
  "riemannian.layerwise_gradient_norm": "Riemannian gradient norm, layer-wise",
  "riemannian.nodewise_gradient_norm": "Riemannian gradient norm, node-wise",
  "petzka.kappa_max": "Petzka’s κ, largest layer",
  "petzka.kappa_sum": "Petzka’s κ, sum",
  "petzka.kappa_trace_max": "Petzka’s κ_τ (trace), largest layer",
  "petzka.kappa_trace_sum": "Petzka’s κ_τ (trace), sum",
  "petzka.rho_max": "Petzka’s ρ, largest neuron",
  "petzka.rho_sum": "Petzka’s ρ, sum",
  "petzka.relative_flatness_sum": "Relative flatness, sum",
  fisher_rao_norm: "Fisher–Rao norm",
  path_norm_squared: "Path norm, squared",
};

export function measureName(key: MeasureKey | "outputs"): string {
  return key === "outputs" ? "Outputs" : (NAMES[key] ?? key);
}
