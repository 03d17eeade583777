/** A full report: what the worker computed, with what it is of, as it is saved, kept and opened again. */

import type { BackendInfo, Report, ReportSection } from "isoflat";
import { transaction } from "../database";
import { LabError } from "../errors";
import { VERSION } from "../figures/version";
import { integer } from "../format";
import type { Piece } from "../plan";
import { same } from "../same";
import type { State } from "../store";
import type { TrainChoice } from "../worker/protocol";
import { withCamelCase } from "./names";

export interface FullReport extends Report {
  /** What it is of. */
  network: string;
  data: string;
  samples: number;
  backend: BackendInfo;
  /** What older ones do not say. */
  date?: string;
  isoflatVersion?: string;
  training?: { choice: TrainChoice; stopped: boolean } | null;
}

/** With what the page knows of the network beside it. */
export function withOrigin(text: string, origin: Pick<FullReport, "date" | "isoflatVersion" | "training">): FullReport {
  // Its name is the first that its file says.
  return { isoflat: "report", ...origin, ...(JSON.parse(text) as FullReport) } as FullReport;
}

export const textOf = (report: FullReport): string => `${JSON.stringify(report, null, 1)}\n`;

/** Larger than any that is shown; a model may be larger still, and is not read for this. */
const MOST_BYTES = 256e6;
/** Those of before they had a name of their own begin with their data. */
const MARK = /^\s*{\s*("isoflat":\s*"report"|"data":\s*"[^"]*",\s*"network":)/;

/** The text of a report; null where the files are something else. */
export async function reportTextOf(files: File[]): Promise<string | null> {
  const [file] = files;
  if (!file || files.length > 1 || !file.name.endsWith(".json") || file.size > MOST_BYTES) return null;
  if (!MARK.test(await file.slice(0, 2000).text())) return null;
  const text = await file.text();
  readReport(file.name, text);
  return text;
}

export function readReport(name: string, text: string): FullReport {
  let report: Partial<FullReport>;
  try {
    report = JSON.parse(text) as Partial<FullReport>;
  } catch (error) {
    throw new LabError("invalid_problem", `${name} is a report, but no JSON: ${(error as Error).message}`);
  }
  const { network, data, samples, backend, values, sections } = report;
  if (typeof network !== "string" || typeof data !== "string" || typeof samples !== "number") {
    throw new LabError("invalid_problem", `${name} is a report that does not say what it is of`);
  }
  if (!backend || typeof values !== "object" || values === null || !Array.isArray(sections)) {
    throw new LabError("invalid_problem", `${name} is a report without its values and sections`);
  }
  return { ...report, values: withCamelCase(values) } as FullReport;
}

/** What one that was stopped is of: more than that it says of itself. */
export interface Kept {
  text: string;
  /** Of the weights; null for a file, and where the browser keeps nothing. */
  stamp: string | null;
}

/** The last one, across a reload; undefined where there is none. */
export const keptReport = (): Promise<Kept | undefined> =>
  transaction<Kept | undefined>("readonly", (store) => store("last").get("report"));

export async function keepReport(kept: Kept): Promise<void> {
  await transaction("readwrite", (store) => store("last").put(kept, "report"));
}

/** What the engine computes of one that nobody has asked a part of, in its order. */
const ALL: readonly ReportSection[] = [
  "point",
  "norms",
  "petzka",
  "orbit",
  "gauss_newton",
  "hessian",
  "riemannian",
  "density",
  "sharpness",
  "spaces",
];

/** A report of the network that there is, or what is missing of the one `before`. */
export function reportPiece({ model }: State, before: FullReport | null): Piece & { what: "report" } {
  const isHomogeneous = model?.homogeneous !== false;
  const isDefined = { petzka: model?.piecewiseLinear !== false, orbit: isHomogeneous, spaces: isHomogeneous };
  const sections = ALL.filter((section) => isDefined[section as keyof typeof isDefined] !== false);
  return { what: "report", sections: before ? missingSections(before) : sections };
}

export const missingSections = ({ sections }: Report): ReportSection[] =>
  sections.flatMap(({ section, finished }) => (finished ? [] : [section]));

/** Can what is missing of it be computed at the weights that there are, as the rest of it was? */
export function goesOn({ report, stamp }: { report: FullReport; stamp: string | null }, state: State): boolean {
  const { ready, model, engine } = state;
  return (
    missingSections(report).length > 0 &&
    report.isoflatVersion === VERSION &&
    ready &&
    stamp !== null &&
    stamp === state.stamp &&
    report.samples === model?.measuredSamples &&
    same(report.backend, engine?.info)
  );
}

/** `784-64-10 on MNIST, 500 samples`. */
const subject = (network: string, data: string, samples: number): string =>
  `${network} on ${data}, ${integer(samples)} samples`;

export const subjectOf = ({ network, data, samples }: FullReport): string => subject(network, data, samples);

/** In words: in what it is not of what the stage has now; null where it is, and where nobody can tell. */
export function strangerOf(
  { report, stamp }: { report: FullReport; stamp: string | null },
  state: State,
): string | null {
  const { ready, model } = state;
  if (!ready || !model) return null;
  const here = subject(model.summary, model.data, model.measuredSamples);
  if (here !== subjectOf(report)) return `not of what is on the stage now: ${here}`;
  // A file says nothing of its weights.
  const isOther = stamp !== null && state.stamp !== null && stamp !== state.stamp;
  return isOther ? "of other weights than those on the stage now" : null;
}

/** One report of what was there and of the sections that have been computed since. */
export function joined(before: FullReport, found: FullReport): FullReport {
  const later = new Map(found.sections.map((run) => [run.section, run]));
  return {
    ...found,
    sections: before.sections.map((run) => later.get(run.section) ?? run),
    values: { ...before.values, ...found.values },
  };
}
