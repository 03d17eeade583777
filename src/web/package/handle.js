/** Handles: objects of the module's, with their memory there. */

import { entered } from "./call.js";
import { fault } from "./errors.js";
import { named } from "./read.js";

const key = Symbol("isoflat");

/** Runs when a handle that nobody has freed is collected; the module's own memory is freed by the module's finalizers. */
const forgotten = new FinalizationRegistry((ends) => ended(ends));

function ended(ends) {
  for (const end of ends) end();
}

/** What to write instead of `new`. */
const MAKERS = {
  Engine: "await Engine.create(…)",
  Network: "Network.dense(…), Network.preset(…) or Network.fromJSON(…)",
  ParameterSpace: "network.space(…)",
};

const article = (name) => (/^[AEIO]/.test(name) ? `an ${name}` : `a ${name}`);

/** Data below this are nothing to speak of. */
const LIGHT = 1 << 20;

/**
 * JavaScript's collector sees a handle as a few bytes, and lets thousands that nobody has freed lie about while the module's memory
 * fills. So a handle with data holds an array as large, which is never touched and takes no memory, but counts.
 */
function weightOf(bytes) {
  try {
    return bytes > LIGHT ? new ArrayBuffer(bytes) : undefined;
  } catch {
    return undefined;
  }
}

/** What every handle has. A handle is made by this package alone, never by `new`. */
export class Handle {
  #home;
  #raw;
  /** What it was made as: its prototype is anybody's to set. */
  #type;
  /** What is to be called when it ends. */
  #ends = new Set();
  // biome-ignore lint/correctness/noUnusedPrivateClassMembers: it is there to be held.
  #weight;

  constructor(given, home, raw, released, bytes = 0) {
    if (given !== key) {
      throw fault(
        "invalid_handle",
        `${new.target?.name ?? "a handle"} has no public constructor: use ${MAKERS[new.target?.name] ?? "its static methods"}`,
      );
    }
    this.#home = home;
    this.#raw = raw;
    this.#type = new.target;
    this.#weight = weightOf(bytes);
    if (released) this.#ends.add(released);
    forgotten.register(this, this.#ends, this);
  }

  static #is(value) {
    return typeof value === "object" && value !== null && #raw in value;
  }

  static #named(value) {
    return Handle.#is(value) ? article(value.#type.name) : named(value);
  }

  /** The instance that a handle lives in. */
  static home(value) {
    if (!Handle.#is(value)) throw fault("invalid_handle", "a method was called on something that is no handle");
    return value.#home;
  }

  /** Ends the handle; what is under way with it goes on. A second time does nothing. */
  free() {
    if (!Handle.#is(this)) throw fault("invalid_handle", "free() was called on something that is no handle");
    const raw = this.#raw;
    this.#raw = undefined;
    this.#weight = undefined;
    if (raw === undefined) return;
    forgotten.unregister(this);
    ended(this.#ends);
    if (!this.#home.crash) entered(this.#home, () => raw.free());
  }

  /** Has `end` called when this handle is freed, or collected, until what is returned is called. `end` must not hold the handle. */
  static whenGone(value, end) {
    const ends = value.#ends;
    ends.add(end);
    return () => ends.delete(end);
  }

  /** The module's object behind a value that should be a handle of this class. */
  static raw(value, type, what) {
    if (!Handle.#is(value) || !(value.#type === type || value.#type.prototype instanceof type))
      throw fault(
        "invalid_handle",
        `${what} must be ${article(type.name)} that isoflat has made, not ${Handle.#named(value)}`,
      );
    if (value.#raw === undefined)
      throw fault("invalid_handle", `${what} has been freed, by free() or at the end of the block of its using`);
    if (value.#home.crash) throw value.#home.crash;
    return value.#raw;
  }
}

/** What `using` calls; where an engine has not it, what compilers look for in its place. */
Handle.prototype[Symbol.dispose ?? Symbol.for("Symbol.dispose")] = Handle.prototype.free;

/** A handle of this class for a module's object. */
export const wrap = (type, home, raw) => new type(key, home, raw);

/** Is this how `wrap` calls a constructor? */
export const isWrapped = (given) => given[0] === key;

/** What a constructor that a caller may call hands on; `bytes` is what the handle holds in the module. */
export const owned = (home, raw, released, bytes) => [key, home, raw, released, bytes];

/** A value of a handle's, at once: `of(this, Network, "depth", (raw) => raw.depth)`. */
export function of(value, type, what, body) {
  const raw = Handle.raw(value, type, `${what}: this ${type.name}`);
  return entered(Handle.home(value), (glue) => body(raw, glue));
}
