/**
 * The WebAssembly module's instance: making it, and making it again after a crash. Handles of the old instance stay with the old
 * instance, its finalizers too.
 */

import { calledFrom, described, fault, IsoflatError } from "./errors.js";
import { createGlue } from "./isoflat_glue.js";
import { ofFile } from "./load.js";
import { Instance } from "./module.js";
import { className, named } from "./read.js";
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

function failed(error) {
  if (error instanceof IsoflatError) return error;
  return fault("not_initialized", `isoflat's module could not be loaded: ${described(error)}`, error);
}

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
export function init(given) {
  const traced = calledFrom(init);
  starting ??= load(given).finally(() => {
    starting = undefined;
  });
  return starting.catch((error) => {
    throw traced(error);
  });
}

async function load(given) {
  if (works()) return current.exports;
  const fresh = made();
  try {
    const source = await unwrapped(given, ["module", "module_or_path"], "init");
    const module_or_path =
      source === undefined ? (compiled ?? (await sourceOf("whole"))) : await atHand(ensureLoadable(source));
    fresh.exports = visible(await fresh.glue.init({ module_or_path }));
  } catch (error) {
    throw failed(error);
  }
  // `initSync` may have been called meanwhile, and what was made since is that one's.
  return works() ? current.exports : adopt(fresh);
}

/** The same from bytes or a compiled module, at once. */
export function initSync(given) {
  if (works()) return current.exports;
  const fresh = made();
  try {
    const module = ensureReady(unwrapped(given, ["module"], "initSync") ?? compiled);
    fresh.exports = visible(fresh.glue.initSync({ module }));
  } catch (error) {
    throw failed(error);
  }
  return adopt(fresh);
}

/** What was given, also where it was given as `{ [key]: value }`; the first key is the one that messages name. */
function unwrapped(given, keys, method) {
  const isBag = typeof given === "object" && given !== null && Object.getPrototypeOf(given) === Object.prototype;
  if (!isBag) return given;
  const unknown = Object.keys(given).find((name) => !keys.includes(name));
  if (unknown !== undefined) {
    throw fault("not_initialized", `${method} has no key ${unknown}; there is ${keys[0]}, where the module comes from`);
  }
  return keys.map((key) => given[key]).find((value) => value !== undefined);
}

const isCompiled = (value) => value instanceof WebAssembly.Module;

const isBytes = (value) => ArrayBuffer.isView(value) || Object.prototype.toString.call(value).endsWith("Buffer]");

/** What `init` can load: what has an address, a body, bytes, or is compiled. */
function ensureLoadable(value) {
  const isOther = ["URL", "Request", "Response"].some((name) => className(value) === name);
  if (typeof value === "string" || isOther || isBytes(value) || isCompiled(value)) return value;
  const wanted =
    "an address, a Response, bytes or a WebAssembly.Module, or nothing: then it finds the module by itself";
  throw fault("not_initialized", `init takes ${wanted}; not ${named(value)}`);
}

/** A file is read here, since `fetch` of Node and others does not. */
const atHand = async (source) =>
  (typeof source === "string" || className(source) === "URL" ? await ofFile(source) : undefined) ?? source;

function ensureReady(value) {
  if (isBytes(value) || isCompiled(value)) return value;
  const wanted = "the bytes of isoflat/isoflat_bg.wasm or a WebAssembly.Module; init() finds the module by itself";
  throw fault("not_initialized", `initSync takes ${wanted}. It was given ${named(value)}`);
}
