/**
 * The WebAssembly module's instance: making it, and making it again after a crash. Handles of the old instance stay with the old
 * instance, its finalizers too.
 */

import { described, fault } from "./errors.js";
import { createGlue } from "./isoflat_glue.js";
import { Instance } from "./module.js";
import { sourceOf } from "./sources.js";

/** The instance that there is, if any. */
let current;
/** The `init` under way. */
let starting;
/** What the instance was made of, so that it can be made again without being fetched. */
let compiled;

const made = () => new Instance(createGlue, "Call init() to make it anew; handles that were made before are lost");

/** The instance, or an error that says why there is none. */
export function instance() {
  if (!current) throw fault("not_initialized", "isoflat is not initialized: await init() first");
  if (current.crash) throw current.crash;
  return current;
}

/** Is there an instance that works? */
const works = () => current !== undefined && !current.crash;

const failed = (error) => fault("not_initialized", `isoflat's module could not be loaded: ${described(error)}`, error);

/** What callers get of a module's exports; the others are the glue's. */
const visible = ({ memory }) => Object.freeze({ memory });

function adopt(made) {
  compiled = made.glue.compiled();
  current = made;
  return made.exports;
}

/**
 * Loads the module: from where the package's entry has it, or from what is given, an address, a response, bytes or a
 * compiled module. Does nothing where it is loaded; after a crash it makes the module anew.
 */
export async function init(given) {
  if (works()) return current.exports;
  starting ??= load(given).finally(() => {
    starting = undefined;
  });
  return starting;
}

async function load(given) {
  const fresh = made();
  try {
    const source = given === undefined ? (compiled ?? (await sourceOf("whole"))) : given;
    fresh.exports = visible(await fresh.glue.init(named(source, "module_or_path")));
  } catch (error) {
    throw failed(error);
  }
  return adopt(fresh);
}

/** The same from bytes or a compiled module, at once. */
export function initSync(given) {
  if (works()) return current.exports;
  const fresh = made();
  try {
    fresh.exports = visible(fresh.glue.initSync(named(given === undefined ? compiled : given, "module")));
  } catch (error) {
    throw failed(error);
  }
  return adopt(fresh);
}

/** `{ [key]: value }`, also of a value that is in such an object already. */
function named(value, key) {
  const isBag = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return { [key]: isBag ? value[key] : value };
}
