/** The module for files: where it comes from, and a new one where the last has crashed. */

import { described, fault } from "./errors.js";
import { createGlue } from "./isoflat_files_glue.js";
import { Instance } from "./module.js";

let current;
let starting;

/** Its bytes where `fetch` takes no addresses of files, in Node; elsewhere it is fetched. */
function source() {
  const address = new URL("isoflat_files_bg.wasm", import.meta.url);
  const node = globalThis.process?.getBuiltinModule?.("node:fs");
  return node && address.protocol === "file:" ? node.readFileSync(address) : address;
}

async function made() {
  try {
    const fresh = new Instance(createGlue, "What is opened or saved next is done by a new one");
    await fresh.glue.init({ module_or_path: source() });
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
