/** What the package says of files, for the page: its advice for the same codes is about the options of training. */

import { LabFailure } from "./protocol";

/** Codes whose advice names widths, samples and options: in a file there are none to be set. */
const OF_OPTIONS: ReadonlySet<string> = new Set(["invalid_network", "invalid_option", "too_large"]);

/** The same error, as one of a file. */
export function ofFile(error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code !== "string" || typeof message !== "string" || !OF_OPTIONS.has(code)) return error;
  return new LabFailure("not_possible", forPage(message));
}

const NORM = /\(batch_norm\)/;

/** Without what is for programs: on the page nobody calls a function. */
export function forPage(message: string): string {
  if (!NORM.test(message)) return message;
  const [what = message] = message.split("; fold it into");
  return (
    `${what}. Leave the batch_norm layers out of the network’s JSON: those of a file of weights are folded when it is opened. ` +
    "Or put network, parameters and data into one problem file: its batch normalisations are folded, too"
  );
}
