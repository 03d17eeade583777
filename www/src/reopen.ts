/** A file that *Save the result* has written, opened again. */

import { LabError } from "./errors";
import type { Bend } from "./store";
import type { LandscapeChoice, ModelChoice, TrainChoice } from "./worker/protocol";

/** What makes the numbers: the same again give the same. */
export interface Settings {
  model: ModelChoice;
  training: TrainChoice | null;
  bend: Bend;
  landscape: LandscapeChoice;
}

/** Larger than any that is written; a model may be larger still, and is not read for this. */
const MOST_BYTES = 64e6;
const MARK = /^\s*{\s*"isoflat":\s*"result"/;

/** The settings of a result; null where the files are something else. */
export async function settingsOf(files: File[]): Promise<Settings | null> {
  const [file] = files;
  if (!file || files.length > 1 || !file.name.endsWith(".json") || file.size > MOST_BYTES) return null;
  const text = await file.text();
  return MARK.test(text) ? readSettings(file.name, text) : null;
}

export function readSettings(name: string, text: string): Settings {
  let result: { settings?: Partial<Settings>; training?: { stopped?: boolean } | null };
  try {
    result = JSON.parse(text) as typeof result;
  } catch (error) {
    throw new LabError("invalid_problem", `${name} is a result, but no JSON: ${(error as Error).message}`);
  }
  const { model, training, bend, landscape } = result.settings ?? {};
  if (!model) {
    throw new LabError("not_possible", `${name} is a result of files that were opened: open those files`);
  }
  if (!model.network || !model.data || !model.init || !bend || !landscape) {
    throw new LabError("invalid_problem", `${name} is a result without all of its settings`);
  }
  if (result.training?.stopped) {
    throw new LabError(
      "not_possible",
      `${name} is a result of a training that was stopped, which settings do not tell`,
    );
  }
  return { model, training: training ?? null, bend, landscape };
}
