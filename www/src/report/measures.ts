/** The measures of a report, wherever it has their numbers. */

import type { MeasureDescription, ReportValues } from "isoflat";
import { columnsOf } from "../figures/columns";
import { number } from "../format";
import { inCamelCase, pathOf } from "./names";
import type { Part } from "./part";
import type { Spectrum } from "./spectra";

/** A measure's number, wherever a report has it; and what says how far to trust it. */
export function measureIn(
  values: ReportValues,
  key: string,
): { value: number; trust: string; converged: boolean } | null {
  const { sharpness, petzka } = values;
  const average =
    key === "average_sharpness" || key === "average_sharpness_scaled" ? sharpness?.[inCamelCase(key)] : undefined;
  if (average) {
    const { value, standardError, resolved } = average;
    return { value, trust: `± ${number(standardError, 1)}`, converged: resolved };
  }
  const searched =
    {
      "riemannian_sharpness.layerwise": "riemannian_sharpness_layerwise",
      "riemannian_sharpness.nodewise": "riemannian_sharpness_nodewise",
    }[key] ?? key;
  if (
    sharpness &&
    (searched === "epsilon_sharpness" ||
      searched === "epsilon_sharpness_box" ||
      searched === "riemannian_sharpness_layerwise" ||
      searched === "riemannian_sharpness_nodewise")
  ) {
    const { value, error, converged } = sharpness[inCamelCase(searched)];
    return { value, trust: `± ${number(error, 1)}`, converged };
  }
  if (key === "epsilon_sharpness_quadratic") {
    const value = sharpness?.epsilonSharpness.quadratic;
    return value === undefined ? null : { value, trust: "", converged: true };
  }
  if (key === "petzka.relative_flatness_sum") {
    // A report has it of dense layers, the measure's sum convolutions too.
    if (!petzka || petzka.relativeFlatness.includes(null)) return null;
    return {
      value: petzka.relativeFlatness.reduce<number>((sum, value) => sum + (value ?? 0), 0),
      trust: "",
      converged: true,
    };
  }
  const path = pathOf(key);
  const last = path.at(-1) ?? "";
  const parent = path.slice(0, -1).reduce<unknown>((found, name) => fieldOf(found, name), values);
  const value = fieldOf(parent, last);
  if (typeof value !== "number") return null;
  const error = fieldOf(parent, `${last}StandardError`);
  // An end of a spectrum has its own.
  const residual = last === "spectralNorm" ? residualOf(parent as Spectrum) : fieldOf(parent, `${last}Residual`);
  const isEnd = typeof residual === "number";
  const trust = typeof error === "number" ? `± ${number(error, 1)}` : isEnd ? `residual ${number(residual, 1)}` : "";
  return { value, trust, converged: !isEnd || (parent as Spectrum).converged !== false };
}

/** Of the end that is farther from 0. */
const residualOf = (found: Spectrum): number =>
  Math.abs(found.maxEigenvalue) >= Math.abs(found.minEigenvalue)
    ? found.maxEigenvalueResidual
    : found.minEigenvalueResidual;

export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;

export function measuresPart(values: ReportValues, descriptions: MeasureDescription[]): Part | null {
  const rows = descriptions.flatMap(({ key, title, invariant, paper }) => {
    const found = measureIn(values, key);
    return found ? [{ key, title, paper: paper === "—" ? "" : paper, ...found, stands: standing(invariant) }] : [];
  });
  if (rows.length === 0) return null;
  return {
    id: "measures",
    title: "The measures",
    about:
      "Each measure’s value at the trained weights, and under which maps of the weights it should stand still: those that say something of the function, and not of how its weights happen to be scaled.",
    plots: [],
    tables: [
      {
        name: "measures",
        title: "Measures, and the rescalings that leave them as they are",
        head: ["measure", "value", "trust", "stands still under", "paper"],
        rows: rows.map(({ title, value, trust, converged, stands, paper }) => [
          title,
          number(value, 5),
          `${trust}${converged ? "" : `${trust && ", "}not converged`}`,
          stands,
          paper,
        ]),
        measures: rows.map(({ key }) => key),
        columns: columnsOf(
          ["key", "measure", "value", "converged", "stands_still_under", "paper"],
          rows.map(({ key, title, value, converged, stands, paper }) => [key, title, value, converged, stands, paper]),
        ),
      },
    ],
  };
}

const standing = ({ layerwise, nodewise }: MeasureDescription["invariant"]): string =>
  nodewise ? "every map" : layerwise ? "layer-wise maps" : "no rescaling";
