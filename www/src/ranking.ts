/**
 * The ranking that flips: of several minima the flattest by the Hessian is rescaled, which changes no function, and each measure says
 * again which of them is flatter.
 */

import type { MeasureDescription, MeasureKey } from "isoflat";
import type { Known } from "./networks-beside";

/** What ranks them as trained. */
export const BY: MeasureKey = "hessian.spectral_norm";
/** Those of the picture, as far as they are known: what rescaling moves, then what each paper offers instead. */
const SHOWN: readonly MeasureKey[] = [
  BY,
  "hessian.trace",
  "riemannian.layerwise_flat.spectral_norm",
  "riemannian.nodewise_flat.spectral_norm",
  "petzka.kappa_sum",
  "petzka.kappa_trace_sum",
  "petzka.rho_sum",
  "least_trace.layerwise",
  "least_trace.nodewise",
];
/** Values of one size: rounding does not decide who is flatter. */
const NOTICEABLE = 1e-4;

export interface Contender {
  name: string;
  known: Known | null;
}

export interface RankingRow {
  key: MeasureKey;
  title: string;
  /** Each network's as trained, the one that is bent among them. */
  trained: number[];
  bent: number;
  /** Of the one that is bent, among all: 1 for the flattest. */
  rank: { trained: number; bent: number };
}

export interface Ranking {
  names: string[];
  /** Which of them is bent. */
  focus: number;
  rows: RankingRow[];
}

const measureOf = ({ known }: Contender, key: MeasureKey, point: "trained" | "bent"): number =>
  known?.measures[point].get(key)?.value ?? Number.NaN;

/** The flattest by the Hessian, as trained; -1 where fewer than two are known. */
export function flattestOf(contenders: readonly Contender[]): number {
  const norms = contenders.map((one) => measureOf(one, BY, "trained"));
  const there = norms.filter(Number.isFinite);
  return there.length < 2 ? -1 : norms.indexOf(Math.min(...there));
}

/** Null before there are two to compare, or while the flattest is not bent. */
export function rankingOf(
  contenders: readonly Contender[],
  descriptions: readonly MeasureDescription[],
): Ranking | null {
  const first = contenders[flattestOf(contenders)];
  if (!first || !Number.isFinite(measureOf(first, BY, "bent"))) return null;
  const known = contenders.filter((one) => Number.isFinite(measureOf(one, BY, "trained")));
  const focus = known.indexOf(first);
  const titles = new Map(descriptions.map(({ key, title }) => [key, title]));
  const rows = SHOWN.map((key): RankingRow => {
    const trained = known.map((one) => measureOf(one, key, "trained"));
    const bent = measureOf(first, key, "bent");
    const rank = (own: number): number =>
      1 + trained.filter((other, index) => index !== focus && other < own * (1 - NOTICEABLE)).length;
    return {
      key,
      title: titles.get(key) ?? key,
      trained,
      bent,
      rank: { trained: rank(trained[focus] ?? Number.NaN), bent: rank(bent) },
    };
  });
  // A logarithmic axis has no place for the others.
  const isShown = ({ trained, bent }: RankingRow): boolean =>
    [...trained, bent].every((value) => Number.isFinite(value) && value > 0);
  return { names: known.map(({ name }) => name), focus, rows: rows.filter(isShown) };
}

/** One sentence on what the picture shows, by its numbers alone. */
export function saidOf({ names, focus, rows }: Ranking): string {
  const flips = rows.filter(({ rank }) => rank.trained !== rank.bent);
  const stands = rows.filter(({ rank }) => rank.trained === rank.bent);
  const titles = (of: RankingRow[]): string => of.map(({ title }) => title).join("; ");
  const name = `“${names[focus]}”`;
  if (flips.length === 0) return `Rescaled so far, ${name} keeps its place by every measure.`;
  const others = stands.length === 0 ? "" : ` Its place stays by ${titles(stands)}.`;
  return `Rescaled, ${name} is the same function, and no longer where it was by ${titles(flips)}.${others}`;
}
