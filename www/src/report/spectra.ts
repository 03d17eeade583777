/** The spectra of a report, and the density of the Hessian's. */

import type { OperatorDescription, ReportValues } from "isoflat";
import { columnsOf } from "../figures/columns";
import { integer, number } from "../format";
import { fieldOf } from "./measures";
import { pathOf } from "./names";
import type { Part } from "./part";

export type Spectrum = NonNullable<ReportValues["hessian"]>;

/** Every operator's spectrum, by its name. */
export function spectraOf(
  values: ReportValues,
  operators: OperatorDescription[],
): { name: string; title: string; spectrum: Spectrum }[] {
  return operators.flatMap(({ name, title }) => {
    const found = pathOf(name).reduce<unknown>((value, key) => fieldOf(value, key), values);
    return typeof fieldOf(found, "maxEigenvalue") === "number" ? [{ name, title, spectrum: found as Spectrum }] : [];
  });
}

export function spectraPart(values: ReportValues, operators: OperatorDescription[]): Part | null {
  const found = spectraOf(values, operators);
  if (found.length === 0) return null;
  const more = (value: number, error: number | undefined) =>
    error === undefined ? number(value, 5) : `${number(value, 5)} ± ${number(error, 1)}`;
  return {
    id: "spectra",
    title: "Spectra",
    about:
      "The ends of each operator’s spectrum, its trace and its Frobenius norm. A residual is ‖A v − λ v‖: an eigenvalue lies within it of the number shown. What has ± behind it is estimated, with its standard error.",
    plots: values.hessian ? ["eigenvalues"] : [],
    tables: [
      {
        name: "spectra",
        title: "Spectra",
        head: ["operator", "largest", "residual", "smallest", "trace", "Frobenius norm", "products", "trust"],
        rows: found.map(({ title, spectrum }) => [
          title,
          number(spectrum.maxEigenvalue, 5),
          number(spectrum.maxEigenvalueResidual, 1),
          number(spectrum.minEigenvalue, 5),
          more(spectrum.trace, spectrum.traceStandardError),
          more(spectrum.frobeniusNorm, spectrum.frobeniusNormStandardError),
          integer(spectrum.products),
          verdictOf(spectrum),
        ]),
        columns: columnsOf(
          [
            "operator",
            "max_eigenvalue",
            "max_residual",
            "min_eigenvalue",
            "min_residual",
            "trace",
            "trace_standard_error",
            "frobenius_norm",
            "frobenius_norm_standard_error",
            "products",
            "converged",
            "verified",
          ],
          found.map(({ name, spectrum: s }) => [
            name,
            s.maxEigenvalue,
            s.maxEigenvalueResidual,
            s.minEigenvalue,
            s.minEigenvalueResidual,
            s.trace,
            s.traceStandardError,
            s.frobeniusNorm,
            s.frobeniusNormStandardError,
            s.products,
            s.converged,
            s.verified,
          ]),
        ),
      },
    ],
  };
}

/** All of a small spectrum is known exactly: it says nothing of convergence. */
function verdictOf({ converged, verified }: Spectrum): string {
  if (converged === undefined) return "exact";
  return [converged ? "converged" : "✗ not converged", verified ? "verified" : verified === false ? "not verified" : ""]
    .filter(Boolean)
    .join(", ");
}

export function densityPart({ density }: ReportValues): Part | null {
  if (!density) return null;
  const { hessian } = density;
  const { moments, probes, steps, width, dimension, quadratureError } = hessian;
  return {
    id: "density",
    title: "Density of the Hessian’s spectrum",
    about: `How its ${integer(dimension)} eigenvalues are spread: the mean over ${integer(probes)} random vectors of ${integer(steps)} Lanczos steps each, broadened by ${number(width)}; the band is two standard errors on either side. Without the last quarter of the steps it changes by ${number(quadratureError, 1)} at most.`,
    plots: ["density"],
    tables: [
      {
        name: "moments",
        title: "Means of the eigenvalues’ powers",
        head: ["mean of", "value", "standard error"],
        rows: moments.map(({ order, value, standardError }) => [
          `λ${["", "", "²", "³", "⁴"][order] ?? `^${order}`}`,
          number(value, 5),
          number(standardError, 1),
        ]),
        columns: columnsOf(
          ["order", "value", "standard_error"],
          moments.map(({ order, value, standardError }) => [order, value, standardError]),
        ),
      },
    ],
  };
}
