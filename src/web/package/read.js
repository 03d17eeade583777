/**
 * Reading what a caller gave. All of it is read before the module is entered, into plain values of our own: a getter that
 * throws, a proxy or an array without its memory is then an error with a name, and cannot end a call halfway.
 */

import { described, fault, IsoflatError } from "./errors.js";

/** Deeper objects are refused: those who read them further on would run out of stack. */
const DEPTH = 64;

const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
const getter = (prototype, key) => Object.getOwnPropertyDescriptor(prototype, key).get;
/** "Float64Array" and so on of a real one, undefined of everything else: it asks the array, not its prototypes. */
const kindOf = getter(typedArray, Symbol.toStringTag);
const bufferOf = getter(typedArray, "buffer");
const lengthOf = getter(typedArray, "length");
const offsetOf = getter(typedArray, "byteOffset");
const byteLengthOf = getter(ArrayBuffer.prototype, "byteLength");
/** Not in every engine. */
const isResizableOf = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "resizable")?.get;

/** Runs what reads a caller's values. */
export function reading(what, code, body) {
  try {
    return body();
  } catch (error) {
    if (error instanceof IsoflatError) throw error;
    throw fault(code, `${what} cannot be read: ${described(error)}`, error);
  }
}

/** "Object", "Map" and so on. A value's own code may stand behind its name, and may throw. */
export function className(value) {
  try {
    return Object.prototype.toString.call(value).slice(8, -1);
  } catch {
    return "object that cannot be read";
  }
}

/** What a value is, in words. */
export function named(value) {
  if (value === null) return "null";
  if (typeof value === "string")
    return value.length > 40 ? `the string "${value.slice(0, 40)}…"` : `the string "${value}"`;
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "object") {
    const name = className(value);
    if (name === "Promise") return "a Promise: await it first";
    return /^[AEIO]/.test(name) ? `an ${name}` : `a ${name}`;
  }
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  return String(value);
}

/** The kind of a real typed array whose memory is there; undefined of what is none. */
export function arrayKind(value, what, code) {
  const kind = Reflect.apply(kindOf, value, []);
  if (kind === undefined) return undefined;
  const buffer = Reflect.apply(bufferOf, value, []);
  if (isDetached(buffer)) {
    throw fault(code, `${what} has lost its memory: its ArrayBuffer was transferred, to a worker perhaps`);
  }
  return kind;
}

function isDetached(buffer) {
  try {
    // Fails for memory that is not there, and makes no copy.
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

/** Is nothing given? */
export const isAbsent = (value) => value === undefined || value === null;

const REALS = "a Float64Array, a Float32Array";

/** A Float64Array or Float32Array as it is, an array of numbers as a Float64Array. `valid`: the typed arrays that the caller takes. */
export function numbers(value, what, code, valid = REALS) {
  return reading(what, code, () => {
    const kind = arrayKind(value, what, code);
    if (kind === "Float64Array" || kind === "Float32Array") return unshared(value);
    if (!Array.isArray(value)) {
      throw fault(code, `${what} must be ${valid} or an array of numbers, not ${named(value)}`);
    }
    return elements(value, what, code);
  });
}

/** The same in memory of our own: for what is read when the call has returned, and a caller may have written to its own or given it away. */
export const kept = (array) => new globalThis[Reflect.apply(kindOf, array, [])](array);

/** Is it an ArrayBuffer, of whichever window? */
export function isBuffer(value) {
  try {
    Reflect.apply(byteLengthOf, value, []);
    return true;
  } catch {
    return false;
  }
}

/** Class numbers: a Uint8Array or Uint32Array as it is, others as a Float64Array. */
export function classes(value, what, code) {
  return reading(what, code, () => {
    const kind = arrayKind(value, what, code);
    if (kind === "Uint8Array" || kind === "Uint32Array") return unshared(value);
    if (/^(Int(8|16|32)|Uint16|Uint8Clamped)Array$/.test(kind)) return new Float64Array(unshared(value));
    return numbers(value, what, code, `${REALS}, a typed array of integers of up to 32 bits`);
  });
}

/** Bytes. */
export function bytes(value, what, code) {
  return reading(what, code, () => {
    if (arrayKind(value, what, code) === "Uint8Array") return unshared(value);
    throw fault(code, `${what} must be a Uint8Array, not ${named(value)}`);
  });
}

/**
 * The same numbers in an array of our own, which has no properties and no prototype that anybody has changed. Memory that
 * another thread may write to, or that may shrink, is copied: it must not change while it is read.
 */
function unshared(array) {
  const [kind, buffer, offset, length] = [kindOf, bufferOf, offsetOf, lengthOf].map((get) =>
    Reflect.apply(get, array, []),
  );
  const TypedArray = globalThis[kind];
  if (isFixed(buffer)) return new TypedArray(buffer, offset, length);
  const copy = new TypedArray(length);
  Reflect.apply(typedArray.set, copy, [array]);
  return copy;
}

function isFixed(buffer) {
  try {
    return Reflect.apply(isResizableOf ?? byteLengthOf, buffer, []) !== true;
  } catch {
    // Shared memory, which the getters of ArrayBuffer refuse.
    return false;
  }
}

function elements(array, what, code) {
  const { length } = array;
  // What an array of a proxy's says of itself must not decide how much memory is taken: it grows as numbers come.
  let found = new Float64Array(Math.min(length, 1024));
  for (let i = 0; i < length; i++) {
    const value = array[i];
    if (typeof value !== "number") throw fault(code, `${what}[${i}] is ${named(value)}, not a number`);
    if (i === found.length) {
      const larger = new Float64Array(Math.min(length, 2 * i));
      larger.set(found);
      found = larger;
    }
    found[i] = value;
  }
  return found;
}

/** The same of an object or nothing: a list would be taken for one whose entries are in order. */
export function plainObject(value, what, code) {
  const entry = (of, key) => copy(of, `${what}.${key}`, code, undefined, [value]);
  return isAbsent(value) ? value : reading(what, code, () => object(value, what, code, entry));
}

/** A text. */
export function text(value, what, code) {
  if (typeof value === "string") return value;
  throw fault(code, `${what} must be a string, not ${named(value)}`);
}

/** A text, or nothing. */
export const optionalText = (value, what, code) => (isAbsent(value) ? undefined : text(value, what, code));

/** A whole number of at least `least`. */
export function whole(value, what, least = 0) {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw fault("invalid_option", `${what} must be a whole number of at least ${least}, not ${named(value)}`);
}

/**
 * A copy in plain values: objects, arrays, finite numbers, strings, booleans; typed arrays stay as they are. `extra` may
 * take a value of an object, named by its path, out of this by returning something else than undefined.
 */
export function plain(value, what, code, extra) {
  return reading(what, code, () => copy(value, what, code, extra, []));
}

function copy(value, what, code, extra, above) {
  const special = extra?.(value, what);
  if (special !== undefined) return special;
  if (isAbsent(value) || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value;
    throw fault(code, `${what} is ${value}, but must be a finite number`);
  }
  if (typeof value !== "object") throw fault(code, `${what} is ${named(value)}, which is no plain value`);
  if (above.includes(value)) throw fault(code, `${what} contains itself`);
  if (above.length === DEPTH) throw fault(code, `${what.slice(0, 60)}… is nested more than ${DEPTH} deep`);
  const inner = [...above, value];
  if (arrayKind(value, what, code) !== undefined)
    return Array.from({ length: Reflect.apply(lengthOf, value, []) }, (_, i) =>
      copy(value[i], `${what}[${i}]`, code, extra, inner),
    );
  if (Array.isArray(value)) {
    const list = [];
    const { length } = value;
    for (let i = 0; i < length; i++) {
      // Four thousand million holes would take minutes to read, and stand for nothing.
      if (!(i in value)) throw fault(code, `${what}[${i}] is missing: the array has a hole there`);
      list.push(copy(value[i], `${what}[${i}]`, code, extra, inner));
    }
    return list;
  }
  return object(value, what, code, (entry, key) => copy(entry, `${what}.${key}`, code, extra, inner));
}

/**
 * The keys of an object's own entries and of those that it has from its prototypes: defaults that `Object.create` put behind it, and getters
 * of its class. Of a class's methods there are those alone that stand for an option.
 */
function keysOf(value, what, code) {
  const found = new Set(Object.keys(value));
  let prototype = Object.getPrototypeOf(value);
  for (let depth = 0; prototype !== null; depth++) {
    if (depth === DEPTH) throw fault(code, `${what} cannot be read: there are more than ${DEPTH} prototypes behind it`);
    // What is read through its prototypes would be asked of what is no array.
    if (prototype === typedArray) throw fault(code, `${what} must be an object, not one with a typed array behind it`);
    const next = Object.getPrototypeOf(prototype);
    // Every object has what the last one has, of whichever window.
    if (next === null && Object.hasOwn(prototype, "hasOwnProperty")) break;
    for (const [key, entry] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (entry.enumerable || entry.get || METHODS.has(key)) found.add(key);
    }
    prototype = next;
  }
  return found;
}

/** Options that are functions. */
const METHODS = new Set(["onProgress"]);

/** The entries of an object that is one of a literal, a class or another window: no Map, no array, no wrapped value. */
export function object(value, what, code, of = (entry) => entry) {
  if (typeof value !== "object" || value === null || Object.prototype.toString.call(value) !== "[object Object]") {
    throw fault(code, `${what} must be an object, not ${named(value)}`);
  }
  const found = {};
  for (const key of keysOf(value, what, code)) {
    // A key of this name would set the copy's prototype.
    if (key === "__proto__") throw fault(code, `${what} has a key named __proto__`);
    const entry = of(value[key], key);
    if (entry !== undefined) found[key] = entry;
  }
  return found;
}
