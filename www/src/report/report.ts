/** A full report: what the worker computed, with what it is of, as it is saved, kept and opened again. */

import type { BackendInfo, Report } from "isoflat";
import { transaction } from "../database";
import { LabError } from "../errors";
import type { TrainChoice } from "../worker/protocol";

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

/** With what the page knows of the network beside it, as text of a file. */
export function withOrigin(
  text: string,
  origin: Pick<FullReport, "date" | "isoflatVersion" | "training">,
): { text: string; report: FullReport } {
  const report = { isoflat: "report", ...origin, ...(JSON.parse(text) as FullReport) };
  return { text: `${JSON.stringify(report, null, 1)}\n`, report };
}

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
  return report as FullReport;
}

/** The last one, across a reload; undefined where there is none. */
export const keptReport = (): Promise<string | undefined> =>
  transaction<string | undefined>("readonly", (store) => store("last").get("report"));

export async function keepReport(text: string): Promise<void> {
  await transaction("readwrite", (store) => store("last").put(text, "report"));
}
