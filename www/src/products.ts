/** What iterations take: products with a matrix, as they have been counted, by what is known of a network before. */

import type { ReportSection } from "isoflat";
import type { Unit } from "./units";
import type { ModelInfo } from "./worker/protocol";

/** Up to so many parameters a spectrum is computed whole. */
const WHOLE = 1024;

/**
 * Products that a piece takes, about, or as much time as so many of them. How many iterations take is a matter of the network and
 * its data, so that what a piece really took counts for more as soon as that is known.
 */
export const PRODUCTS = {
  sweep: 7,
  hessian: 95,
  spectralNorm: 22,
  eigenvalues: 15,
  probes: 100,
  search: 35,
  layers: 21,
  spectrum: 330,
  directions: 60,
  valley: 48,
  sharpen: 200,
  /** One of many that go through together. */
  column: 0.9,
  /** A seed: the largest eigenvalue at three places, and the norm at one of them. */
  table2: 66,
  table3: 49,
  /** Algorithm 1. */
  power: 55,
} as const;

const SEARCHES: Readonly<Record<string, number>> = {
  epsilon_sharpness: 28,
  epsilon_sharpness_subspace: 105,
  epsilon_sharpness_box: 46,
};

/** The check draws fewer subspaces and pairs of noise. */
const SEARCHES_IN_CHECK: typeof SEARCHES = {
  ...SEARCHES,
  epsilon_sharpness_subspace: 63,
  average_sharpness: 11,
  average_sharpness_scaled: 11,
};

const isSearch = (key: string): boolean =>
  /^epsilon_sharpness(_subspace|_box)?$|^riemannian_sharpness|^average_/.test(key);

/** The check has fewer probes, and an estimate is the cheaper for what is known of the spectrum's ends. */
const PROBES_IN_CHECK = 0.1;

/** Of measures at one point. */
export function productsOfMeasures({ name, keys, cost }: Unit): number {
  if (cost === "search") return SEARCHES[name] ?? PRODUCTS.search;
  if (cost === "probes") return PRODUCTS.probes;
  if (name === "sweep") return PRODUCTS.sweep;
  if (name !== "hessian") return PRODUCTS.eigenvalues;
  return keys.length === 1 ? PRODUCTS.spectralNorm : PRODUCTS.hessian;
}

/** Of the check, at each of its points. */
export function productsOfCheck({ name, keys, cost }: Unit): number {
  if (name === "sweep") return PRODUCTS.sweep;
  const [searches, others] = [keys.filter(isSearch), keys.filter((key) => !isSearch(key))];
  const found = searches.reduce((sum, key) => sum + (SEARCHES_IN_CHECK[key] ?? PRODUCTS.search), 0);
  const probes = cost === "probes" || others.some((key) => key.endsWith("frobenius_norm"));
  const ends = name === "hessian" ? PRODUCTS.hessian : PRODUCTS.eigenvalues;
  return found + (others.length > 0 ? ends : 0) + (probes ? PROBES_IN_CHECK * PRODUCTS.probes : 0);
}

/** Of a report's density. */
export const REPORT_DENSITY = { probes: 10, steps: 80 };

/** Is a spectrum computed whole, so that what else is asked of it is read off? */
export const isWhole = ({ parameterCount }: ModelInfo): boolean => parameterCount <= WHOLE;

/** Of how many operators a report's section has the spectra. */
export function spectraOf(section: ReportSection): number {
  if (section === "riemannian") return 4;
  return section === "hessian" || section === "gauss_newton" ? 1 : 0;
}

/** Of a report's section: of a spectrum both ends and the norm. A density is counted by its columns. */
export function productsOfSection(section: Exclude<ReportSection, "density">, { depth }: ModelInfo): number {
  const spectra = { gauss_newton: 65, hessian: 150, riemannian: 520 };
  return { ...spectra, point: 1, norms: 1, petzka: 10 * depth, orbit: 7, sharpness: 130, spaces: 1 }[section];
}
