/**
 * The WebAssembly module's instance: making it, entering it, and noticing when it has crashed.
 *
 * Rust cannot go on after a panic or a failed allocation: the call never returns, and what it had borrowed stays borrowed. So
 * every way into the module is guarded. The first exception that comes out of it ends the instance: all calls that are
 * under way reject with the code `crashed`, so do later ones, and `init` makes the module anew. Handles of the old instance stay
 * with the old instance, its finalizers too.
 */

import { described, fault } from "./errors.js";
import { createGlue } from "./isoflat_glue.js";

/** What a call comes to that does not take place: the glue reads results of several values from an array. */
const NOTHING = Object.freeze([]);

/** The instance that there is, if any. */
let current;
/** The `init` under way. */
let starting;
/** What the instance was made of, so that it can be made again without being fetched. */
let compiled;

class Instance {
  /** The error that ended it. */
  crash;
  /** How to reject the calls that are under way. */
  pending = new Set();
  /** Calls from outside that are on the stack. */
  #depth = 0;
  #exports;

  constructor() {
    this.glue = createGlue((exports) => this.#guarded(exports));
  }

  /** Calls into the module. What it throws is the caller's; what it crashes with is everybody's. */
  enter(body) {
    if (this.crash) throw this.crash;
    this.#depth++;
    try {
      return body(this.glue);
    } catch (error) {
      throw this.crash ?? error;
    } finally {
      this.#depth--;
    }
  }

  /** The module's exports, each of which notices a crash. Nothing enters an instance that has crashed. */
  #guarded(exports) {
    this.#exports = exports;
    const guarded = {};
    for (const [name, value] of Object.entries(exports)) {
      guarded[name] = typeof value === "function" ? this.#guard(value) : value;
    }
    return guarded;
  }

  #guard(enter) {
    return (...values) => {
      if (this.crash) return NOTHING;
      try {
        return enter(...values);
      } catch (error) {
        this.#end(error);
        // From a task or a message nobody would catch it, and those who wait have been told.
        if (this.#depth > 0) throw error;
        return NOTHING;
      }
    };
  }

  #end(error) {
    const message = `isoflat has crashed: ${this.#lastWords() || described(error)}. Call init() to make it anew; handles that were made before are lost`;
    this.crash = fault("crashed", message, error);
    const pending = [...this.pending];
    this.pending.clear();
    for (const reject of pending) reject(this.crash);
  }

  /** What the module said before. Its memory can be read still. */
  #lastWords() {
    try {
      const { isoflat_failed_allocation, isoflat_last_panic, memory } = this.#exports;
      const bytes = new Uint8Array(memory.buffer).subarray(isoflat_last_panic() >>> 0);
      const panic = new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
      if (panic !== "") return panic;
      const size = isoflat_failed_allocation() >>> 0;
      return size > 0 ? `${size} bytes more were needed, and there is no memory for them` : "";
    } catch {
      return "";
    }
  }
}

/** The instance, or an error that says why there is none. */
export function instance() {
  if (!current) throw fault("not_initialized", "isoflat is not initialized: await init() first");
  if (current.crash) throw current.crash;
  return current;
}

/** Is there an instance that works? */
const works = () => current !== undefined && !current.crash;

const failed = (error) => fault("not_initialized", `isoflat's module could not be loaded: ${described(error)}`, error);

function adopt(made) {
  compiled = made.glue.compiled();
  current = made;
  return made.exports;
}

/**
 * Loads the module: from the address of the file beside this one, or from what is given, an address, a response, bytes or a
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
  const made = new Instance();
  try {
    const source = given === undefined ? compiled : given;
    made.exports = await made.glue.init(source === undefined ? undefined : named(source, "module_or_path"));
  } catch (error) {
    throw failed(error);
  }
  return adopt(made);
}

/** The same from bytes or a compiled module, at once. */
export function initSync(given) {
  if (works()) return current.exports;
  const made = new Instance();
  try {
    made.exports = made.glue.initSync(named(given === undefined ? compiled : given, "module"));
  } catch (error) {
    throw failed(error);
  }
  return adopt(made);
}

/** `{ [key]: value }`, also of a value that is in such an object already. */
function named(value, key) {
  const isBag = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return { [key]: isBag ? value[key] : value };
}
