/** Errors as values: on their way between threads they would lose their code. */

import { IsoflatError } from "isoflat";
import { LabFailure, type Outcome } from "./protocol";

export async function outcome<T>(body: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await body() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const known = error instanceof IsoflatError || error instanceof LabFailure;
    return { ok: false, failure: { code: known ? error.code : "unexpected", message } };
  }
}
