/**
 * What a case holds that JSON does not know. A case is plain JSON, so that it can be written to a file, made smaller and run
 * again; `{"$": name, …}` in it stands for a value of this list.
 */

const typed = { f64: Float64Array, f32: Float32Array, u8: Uint8Array, u32: Uint32Array, i32: Int32Array };

const array = (name) => (spec, decode) => {
  if (spec.length === undefined) return typed[name].from(spec.values, (value) => decode(value));
  return new typed[name](spec.length).fill(spec.fill ?? 0);
};

function nested(depth, shape) {
  let value = shape === "array" ? [] : {};
  for (let i = 0; i < depth; i++) value = shape === "array" ? [value] : { of: value };
  return value;
}

/** Over a buffer of some odd kind. */
function overBuffer({ values, how }) {
  const bytes = 8 * values.length;
  if (how === "shared") {
    const array = new Float64Array(new SharedArrayBuffer(bytes));
    array.set(values);
    return array;
  }
  // What an older engine knows as an ordinary buffer is no fault of ours.
  const buffer = new ArrayBuffer(bytes, { maxByteLength: 2 * bytes + 8 });
  const array = new Float64Array(buffer);
  array.set(values);
  if (how === "shrunk") buffer.resize?.(8 * Math.floor(values.length / 2));
  if (how === "grown") buffer.resize?.(2 * bytes);
  return array;
}

function detached(values) {
  const array = Float64Array.from(values);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

function proxy({ of, trap }, decode, call) {
  const target = decode(of);
  if (trap === "none") return new Proxy(target, {});
  if (trap === "revoked") {
    const { proxy, revoke } = Proxy.revocable(target, {});
    revoke();
    return proxy;
  }
  return new Proxy(target, { [trap]: () => call.throwOwn(`trap ${trap}`) });
}

function withGetter({ key, rest }, decode, call) {
  const object = decode(rest ?? {});
  Object.defineProperty(object, key, {
    enumerable: true,
    configurable: true,
    get: () => call.throwOwn(`getter ${key}`),
  });
  return object;
}

/** A getter that says something else the second time, and frees a handle on the way. */
function shifty({ key, first, second, frees }, decode, call) {
  let reads = 0;
  return {
    get [key]() {
      if (frees !== undefined) call.handle(frees)?.free?.();
      return decode(reads++ === 0 ? first : second);
    },
  };
}

function cyclic(shape) {
  const value = shape === "array" ? [] : {};
  if (shape === "array") value.push(value);
  else value.self = value;
  return value;
}

function fakeSignal(shape, call) {
  const fake = { aborted: false, reason: undefined, addEventListener() {}, removeEventListener() {} };
  if (shape === "prototype") return Object.create(AbortSignal.prototype);
  if (shape === "throws")
    return {
      get aborted() {
        return call.throwOwn("aborted");
      },
    };
  if (shape === "assigned") return Object.assign(Object.create(AbortSignal.prototype), {});
  return fake;
}

/** A thenable on purpose. */
const THEN = "then";

const makers = {
  undefined: () => undefined,
  NaN: () => Number.NaN,
  Infinity: () => Number.POSITIVE_INFINITY,
  "-Infinity": () => Number.NEGATIVE_INFINITY,
  "-0": () => -0,
  bigint: ({ value }) => BigInt(value),
  symbol: () => Symbol("fuzz"),
  function: () => () => 1,
  date: () => new Date(0),
  f64: array("f64"),
  f32: array("f32"),
  u8: array("u8"),
  u32: array("u32"),
  i32: array("i32"),
  view: ({ bytes }) => new DataView(new ArrayBuffer(bytes)),
  buffer: ({ bytes }) => new ArrayBuffer(bytes),
  map: ({ entries }, decode) => new Map(entries.map(([key, value]) => [key, decode(value)])),
  set: ({ values }) => new Set(values),
  instance: ({ of }, decode) => Object.assign(new (class Options {})(), decode(of)),
  inherited: ({ of }, decode) => Object.create(decode(of)),
  bare: ({ of }, decode) => Object.assign(Object.create(null), decode(of)),
  text: ({ length, of = "x" }) => of.repeat(length),
  json: ({ of }, decode) => JSON.stringify(decode(of)),
  sparse: ({ length }) => new Array(length),
  filled: ({ length, of }) => new Array(length).fill(of),
  deep: ({ depth, shape }) => nested(depth, shape),
  deepText: ({ depth, open, close, core = "" }) => open.repeat(depth) + core + close.repeat(depth),
  composition: ({ depth, core }) => {
    let map = core;
    for (let i = 0; i < depth; i++) map = { type: "composition", of: [map] };
    return map;
  },
  cyclic: ({ shape }) => cyclic(shape),
  prototype: ({ of }) => Object.create(of === "f32" ? Float32Array.prototype : Float64Array.prototype),
  detached: ({ values }) => detached(values),
  over: overBuffer,
  subclass: ({ values }) => class Weights extends Float64Array {}.from(values),
  speciesThrows: ({ values }, _decode, call) => {
    const array = Float64Array.from(values);
    Object.defineProperty(array, "length", { get: () => call.throwOwn("length") });
    Object.defineProperty(array, "constructor", { get: () => call.throwOwn("constructor") });
    return array;
  },
  proxy,
  getter: withGetter,
  shifty,
  throwsAsPrimitive: (_spec, _decode, call) => ({
    [Symbol.toPrimitive]: () => call.throwOwn("toPrimitive"),
    toString: () => call.throwOwn("toString"),
    valueOf: () => call.throwOwn("valueOf"),
    toJSON: () => call.throwOwn("toJSON"),
  }),
  thenable: (_spec, _decode, call) => ({ [THEN]: () => call.throwOwn("then") }),
  throwsIterating: (_spec, _decode, call) => ({ length: 2, [Symbol.iterator]: () => call.throwOwn("iterator") }),
  ref: ({ name }, _decode, call) => call.handle(name),
  freed: ({ name }, _decode, call) => call.freed(name),
  made: ({ of }, _decode, call) => call.construct(of),
  pretend: ({ of }, _decode, call) => Object.create(call.isoflat[of].prototype),
  signal: (spec, _decode, call) => call.signal(spec),
  fakeSignal: ({ shape }, _decode, call) => fakeSignal(shape, call),
  progress: (spec, _decode, call) => call.progress(spec),
};

/** The value that part of a case stands for. `call` keeps what the call must be judged by: see `call.mjs`. */
export function decode(spec, call) {
  const inner = (value) => decode(value, call);
  if (Array.isArray(spec)) return spec.map(inner);
  if (spec === null || typeof spec !== "object") return spec;
  const name = spec.$;
  if (name === undefined) return Object.fromEntries(Object.entries(spec).map(([key, value]) => [key, inner(value)]));
  const make = makers[name];
  if (make === undefined) throw new Error(`no value is named ${name}`);
  return make(spec, inner, call);
}

/** Text with numbers that JSON has not: what is tagged becomes what a careless program would write. */
export const rawText = (value) =>
  JSON.stringify(value)
    .replaceAll(/\{"\$":"(NaN|-?Infinity)"\}/g, "$1")
    .replaceAll(/\{"\$":"raw","text":"([^"]*)"\}/g, "$1");

export const $ = (name, rest = {}) => ({ $: name, ...rest });
