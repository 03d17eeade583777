/** The module for files: where it comes from, and a new one where the last has crashed. */

import { described, fault } from "./errors.js";
import { createGlue } from "./isoflat_files_glue.js";
import { Instance } from "./module.js";
import { sourceOf } from "./sources.js";

let current;
let starting;

async function made() {
  try {
    const fresh = new Instance(createGlue, "What is opened or saved next is done by a new one");
    await fresh.glue.init({ module_or_path: await sourceOf("files") });
    current = fresh;
    return fresh;
  } catch (error) {
    throw fault("not_initialized", `isoflat's module for files could not be loaded: ${described(error)}`, error);
  } finally {
    starting = undefined;
  }
}

/** The instance that there is, or a new one. */
export async function files() {
  if (current && !current.crash) return current;
  starting ??= made();
  return starting;
}
