/** The plots and tables of a report as figures. */

import { densityPlot, endsPlot } from "../charts/spectrum";
import { deviceOf, joined } from "../figures/caption";
import { columnsOf } from "../figures/columns";
import type { Figure } from "../figures/figure";
import { plotted } from "../figures/plots";
import { densityColumns } from "../figures/spectrum";
import { integer, number } from "../format";
import type { ReportTable } from "./part";
import type { FullReport } from "./report";
import type { Spectrum } from "./spectra";

const about = ({ network, data, samples, backend }: FullReport): string =>
  `${network} on ${data}, ${integer(samples)} samples, ${deviceOf(backend)}`;

export const tableFigure = (report: FullReport, { name, title, columns }: ReportTable): Figure => ({
  name: `report-${name}`,
  title,
  caption: joined(about(report)),
  columns: () => columns,
});

export function plotFigure(report: FullReport, name: "eigenvalues" | "density"): Figure | null {
  return name === "eigenvalues" ? eigenvaluesFigure(report) : densityFigure(report);
}

/** Of a small network all, else the largest and the smallest. */
function eigenvaluesFigure(report: FullReport): Figure | null {
  const { hessian } = report.values;
  if (!hessian) return null;
  const value = endsOf(hessian);
  return {
    name: "report-eigenvalues",
    title: hessian.eigenvalues ? "The Hessian’s eigenvalues" : "The Hessian’s largest eigenvalues, and the smallest",
    caption: joined(about(report), "bars: ± residual"),
    columns: () =>
      columnsOf(
        ["end", "rank", "eigenvalue", "residual"],
        [
          ...value.top.map((pair, index) => ["largest", index + 1, pair.value, pair.residual]),
          ...value.bottom.map((pair, index) => ["smallest", index + 1, pair.value, pair.residual]),
        ],
      ),
    drawing: plotted(endsPlot([{ point: "trained", value }]), [], { width: 640, height: 300 }),
  };
}

function endsOf({ eigenvalues, topEigenvalues, topResiduals, minEigenvalue, minEigenvalueResidual }: Spectrum) {
  const pair = (value: number, residual: number) => ({ value, residual, converged: true });
  if (eigenvalues) return { top: [...eigenvalues].reverse().map((value) => pair(value, 0)), bottom: [] };
  return {
    top: topEigenvalues.map((value, index) => pair(value, topResiduals?.[index] ?? 0)),
    bottom: [pair(minEigenvalue, minEigenvalueResidual)],
  };
}

function densityFigure(report: FullReport): Figure | null {
  const density = report.values.density?.hessian;
  if (!density) return null;
  const { grid, probes, steps, width } = density;
  return {
    name: "report-density",
    title: "Density of the Hessian’s spectrum",
    caption: joined(
      about(report),
      `${integer(probes)} probes of ${integer(steps)} Lanczos steps, broadened by ${number(width)}`,
      "band: ± 2 standard errors",
    ),
    columns: () => densityColumns(density),
    drawing: plotted(densityPlot(density, "trained", [grid[0] ?? 0, grid.at(-1) ?? 1]), [], {
      width: 640,
      height: 300,
    }),
  };
}
