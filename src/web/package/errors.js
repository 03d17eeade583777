/** The one error that isoflat throws and rejects with. */

/** May a constructor of this package run? A caller's `new` may not: what it would make is behind no module. */
const permit = Symbol("isoflat");

/** As by an assignment, which fails where somebody has frozen what stands behind. */
const own = (object, name, value) =>
  Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });

/**
 * An `Error` by its prototypes, and an object like any other by its nature: of a native error `structuredClone` and `postMessage` keep
 * neither name nor code, of such an object they keep all four of these. `cause` is no part of that, since it may be anything.
 */
export class IsoflatError {
  constructor(key, code, message, cause) {
    const ours = key === permit;
    own(this, "name", "IsoflatError");
    own(this, "message", ours ? message : "an IsoflatError is made by isoflat alone");
    own(this, "code", ours ? code : "invalid_handle");
    own(this, "stack", `${this}\n${framesOf(withDepth(() => stackBelow(ours ? fault : IsoflatError)))}`);
    if (cause !== undefined) Object.defineProperty(this, "cause", { value: cause, configurable: true, writable: true });
  }

  get [Symbol.toStringTag]() {
    return "Error";
  }
}

Object.setPrototypeOf(IsoflatError, Error);
Object.setPrototypeOf(IsoflatError.prototype, Error.prototype);

/** V8 shows ten calls of a stack, and those inside the package are as many. */
const DEPTH = 40;

/** Runs `body` with so many calls to be shown; where that is nobody's to set it is as it is. */
function withDepth(body) {
  const { stackTraceLimit } = Error;
  if (typeof stackTraceLimit !== "number" || !Reflect.set(Error, "stackTraceLimit", DEPTH)) return body();
  try {
    return body();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The stack from the caller of `callee` on. V8 makes a text of it when that is read, and not before. */
function stackBelow(callee) {
  const here = new Error();
  Error.captureStackTrace?.(here, callee);
  return here;
}

/** Its calls, as the engine puts them; V8 puts the error's name in front. */
const framesOf = (here) => String(here.stack ?? "").replace(/^Error\n/, "");

/**
 * Remembers who called: what goes wrong later is thrown from nowhere, as far as the engine sees. The function that it gives takes an error
 * and returns it, with the calls that led to its cause. What has crashed has crashed for everybody, and stays as it is.
 */
export function calledFrom(callee) {
  const here = stackBelow(callee);
  return (error) => {
    if (error instanceof IsoflatError && error.code !== "crashed") error.stack = `${error}\n${framesOf(here)}`;
    return error;
  };
}

/** Most characters of a message: one that quotes what is of any length does not become as long. */
const LONGEST = 1800;

/** An error of this code. */
export function fault(code, message, cause) {
  const text = message.length > LONGEST ? `${message.slice(0, LONGEST)} …` : message;
  return new IsoflatError(permit, code, text, cause);
}

/** What the module threw, as the package's error. */
export function adopted(thrown) {
  if (thrown instanceof IsoflatError) return thrown;
  if (typeof thrown?.code === "string") return fault(thrown.code, thrown.message);
  return fault("crashed", `isoflat failed where it should not: ${described(thrown)}. Please report it`, thrown);
}

/** What an exception says, whatever it is. */
export function described(thrown) {
  try {
    return thrown instanceof Error ? `${thrown.message}` : String(thrown);
  } catch {
    return "an exception that cannot be read";
  }
}
