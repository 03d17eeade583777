/** What a report says, part by part, what is missing, and what is not as sure as the rest. */

import type { MeasureDescription, OperatorDescription, ReportSection } from "isoflat";
import { deviceOf, trainedBy } from "../figures/caption";
import { integer, number } from "../format";
import { measuresPart } from "./measures";
import { inCamelCase } from "./names";
import type { Part } from "./part";
import { petzkaPart, REGIONS, sharpnessPart, spacesPart } from "./parts";
import type { FullReport } from "./report";
import { densityPart, spectraOf, spectraPart } from "./spectra";

export const SECTIONS: Record<ReportSection, string> = {
  point: "the point",
  norms: "norms",
  petzka: "Petzka’s measures",
  orbit: "least traces and normalised sharpness",
  gauss_newton: "spectrum of the Gauss–Newton matrix",
  hessian: "spectrum of the Hessian",
  riemannian: "spectra of the Riemannian Hessians",
  density: "density of the spectrum",
  sharpness: "sharpness",
  spaces: "parameter spaces",
};

interface Descriptions {
  descriptions: MeasureDescription[];
  operators: OperatorDescription[];
}

export function missingOf({ sections }: FullReport): string[] {
  return sections.filter(({ finished }) => !finished).map(({ section }) => SECTIONS[section] ?? section);
}

/** Name and value of what it is of. */
export function factsOf(report: FullReport): [string, string][] {
  const { network, data, samples, backend, date, training, isoflatVersion, sections } = report;
  const seconds = sections.reduce((sum, section) => sum + section.seconds, 0);
  const trained = training
    ? trainedBy({
        trainChoice: training.choice,
        training: { stopped: training.stopped, epochs: training.choice.epochs, loss: 0, accuracy: 0 },
      })
    : "";
  const facts: [string, string][] = [
    ["Network", network],
    ["Data", `${data}, ${integer(samples)} samples`],
    ["Trained", trained],
    [
      "Computed on",
      `${deviceOf(backend)}${backend.backend === "cpu" && backend.adapter ? ` (${backend.adapter})` : ""}`,
    ],
    ["Computed in", seconds < 1 ? `${number(seconds, 2)} s` : `${Math.round(seconds)} s`],
    ["Date", date === undefined ? "" : date.replace("T", ", ").replace(/:\d\d\.\d+Z$/, " UTC")],
    ["By", isoflatVersion === undefined ? "" : `isoflat ${isoflatVersion}`],
  ];
  return facts.filter(([, value]) => value !== "");
}

export function partsOf(report: FullReport, { descriptions, operators }: Descriptions): Part[] {
  const { values } = report;
  const parts: (Part | null)[] = [
    measuresPart(values, descriptions),
    spectraPart(values, operators),
    densityPart(values),
    petzkaPart(values),
    sharpnessPart(values),
    spacesPart(values),
  ];
  return parts.filter((part) => part !== null);
}

/** What is not as sure as the rest, in words; none where all is well. */
export function doubtsOf(report: FullReport, operators: OperatorDescription[]): string[] {
  const { values } = report;
  const doubts: string[] = [];
  for (const { title, spectrum } of spectraOf(values, operators)) {
    if (spectrum.converged === false)
      doubts.push(`${title}: not all eigenvalues converged; their residuals say how far they are known.`);
    if (spectrum.verified === false)
      doubts.push(`${title}: some eigenvalues may be missing; a random vector did not show that none is.`);
  }
  const { sharpness } = values;
  if (sharpness) {
    for (const [key, title] of REGIONS) {
      const { converged, fellBack, precision } = sharpness[inCamelCase(key)];
      if (!converged)
        doubts.push(`Sharpness ${title}: the ascents did not converge, so that the highest point may be higher.`);
      if (fellBack)
        doubts.push(
          `Sharpness ${title}: computed on the CPU in ${precision}, since the device’s precision was too coarse.`,
        );
    }
    for (const key of ["average_sharpness", "average_sharpness_scaled"] as const) {
      if (!sharpness[inCamelCase(key)].resolved)
        doubts.push("The average sharpness is no more than rounding, to three digits.");
    }
  }
  return doubts;
}
