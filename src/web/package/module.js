/**
 * A WebAssembly module's instance: entering it, and noticing when it has crashed.
 *
 * Rust cannot go on after a panic or a failed allocation: the call never returns, and what it had borrowed stays borrowed. So
 * every way into the module is guarded. The first exception that comes out of it ends the instance: all calls that are
 * under way reject with the code `crashed`, and so do later ones.
 */

import { described, fault } from "./errors.js";
import { TextDecoder } from "./text.js";

/** What a call comes to that does not take place: the glue reads results of several values from an array. */
const NOTHING = Object.freeze([]);

export class Instance {
  /** The error that ended it. */
  crash;
  /** How to reject the calls that are under way. */
  pending = new Set();
  /** Calls from outside that are on the stack. */
  #depth = 0;
  #exports;
  #advice;

  /** `createGlue` makes the glue of its module; `advice` says what is left to do after a crash. */
  constructor(createGlue, advice) {
    this.#advice = advice;
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
    const message = `isoflat has crashed: ${this.#lastWords() || described(error)}. ${this.#advice}`;
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
