/** Work that takes time: its options, how it is watched, stopped and ended. */

import { adopted, calledFrom, fault, IsoflatError } from "./errors.js";
import { instance } from "./instance.js";
import { isAbsent, named, object, reading } from "./read.js";

const OPTION = "invalid_option";

/** Options that are no plain data, taken out of the rest. */
const watchers = ["onProgress", "signal", "finish"];

/** Options that the module, or this package, takes out before it looks for unknown ones, and whose they are; nobody's are between the two. */
const OWNERS = {
  stopped: [],
  finishing: [],
  validation: ["train", "trainSideBySide"],
  checkpoint: ["train"],
  directions: ["landscape"],
  trajectory: ["landscape"],
  transformations: ["invariance"],
  worker: ["Engine.create"],
  tunings: [],
};

/**
 * An options object in two parts: what watches and stops the work, and the rest, whose values are as they were given.
 * `canFinish` says whether the work hands over what it has when it is asked to.
 */
export function options(value, method, canFinish = false) {
  const found = isAbsent(value)
    ? {}
    : reading(`${method}: options`, OPTION, () => object(value, `${method}: options`, OPTION));
  const watch = {
    onProgress: callback(found.onProgress, method),
    signal: signal(found.signal, `${method}: signal`),
    finish: signal(found.finish, `${method}: finish`),
  };
  if (watch.finish && !canFinish) {
    throw fault(
      OPTION,
      `${method}: there is no option finish, since ${method} has nothing to hand over before its end; use signal`,
    );
  }
  for (const key of watchers) delete found[key];
  for (const [key, owners] of Object.entries(OWNERS)) {
    if (!isAbsent(found[key]) && !owners.includes(method)) throw fault(OPTION, `${method}: there is no option ${key}`);
  }
  return { rest: found, watch };
}

function callback(value, method) {
  if (isAbsent(value)) return undefined;
  if (typeof value === "function") return value;
  throw fault(OPTION, `${method}: onProgress must be a function, not ${named(value)}`);
}

/**
 * An AbortSignal, read by its prototype's own getters and methods: they throw for what only looks like one. Where that is of another
 * library's making, as in a test's document (happy-dom, or Node's own signal in jsdom), what looks like one is read as such.
 */
function signal(value, what) {
  if (isAbsent(value)) return undefined;
  const { prototype } = AbortSignal;
  const read = (key) => Reflect.apply(Object.getOwnPropertyDescriptor(prototype, key).get, value, []);
  try {
    read("aborted");
  } catch (error) {
    const alike = likeSignal(value);
    if (alike) return alike;
    throw fault(OPTION, `${what} must be an AbortSignal, not ${named(value)}`, error);
  }
  return {
    aborted: () => read("aborted"),
    reason: () => read("reason"),
    listen: (listener) => Reflect.apply(prototype.addEventListener, value, ["abort", listener]),
    forget: (listener) => Reflect.apply(prototype.removeEventListener, value, ["abort", listener]),
  };
}

/** What has a boolean `aborted` and can be listened to; undefined for anything else, also for what throws when it is looked at. */
function likeSignal(value) {
  try {
    const { aborted, addEventListener, removeEventListener } = value;
    const has = typeof addEventListener === "function" && typeof removeEventListener === "function";
    if (typeof aborted !== "boolean" || !has) return undefined;
    // The module asks while it computes, and must not meet an error of somebody else's.
    const quietly = (read) => {
      try {
        return read();
      } catch {
        return undefined;
      }
    };
    return {
      aborted: () => quietly(() => value.aborted) === true,
      reason: () => quietly(() => value.reason),
      listen: (listener) => quietly(() => Reflect.apply(addEventListener, value, ["abort", listener])),
      forget: (listener) => quietly(() => Reflect.apply(removeEventListener, value, ["abort", listener])),
    };
  } catch {
    return undefined;
  }
}

/**
 * A promise of what `prepare` leads to: all that is wrong with a call's arguments rejects it, with the caller's stack. `told` may put what
 * the module says into other words.
 */
export function promised(prepare, told = (error) => error) {
  const traced = calledFrom(promised);
  return new Promise((resolve) => resolve(prepare())).catch((error) => {
    throw traced(told(error));
  });
}

/**
 * Where an option is unknown the module lists its own: puts those beside them that never come to it, and leaves out what is between it and
 * this package.
 */
export const withOptions = (method, canFinish) => (error) => {
  const [, begin, list] = /^([^:]*: there is no key .*; there are )([^;]*)$/.exec(error?.message ?? "") ?? [];
  if (!(error instanceof IsoflatError) || !begin?.startsWith(`${method}: `)) return error;
  const own = Object.keys(OWNERS).filter((key) => OWNERS[key].includes(method));
  const isKnown = (key) => key !== "none" && (OWNERS[key] === undefined || own.includes(key));
  const watching = watchers.filter((key) => key !== "finish" || canFinish);
  error.message = begin + [...new Set([...list.split(", ").filter(isKnown), ...own, ...watching])].join(", ");
  return error;
};

/**
 * Runs work in the module. `start(glue, controls)` enters it and returns its promise. An aborted signal rejects at once with the
 * signal's reason, an `onProgress` that throws with what it threw; the work behind it ends at its next step.
 */
export function run(home, watch, start) {
  return new Promise((resolve, reject) => {
    const { onProgress, signal, finish } = watch;
    // What rejected the call before the module did.
    let over = false;
    // A module asks what is wished, a worker has to be told.
    const heed = () => home.heed?.();
    const give = (settle) => (value) => {
      over = true;
      home.pending.delete(crashed);
      signal?.forget(aborted);
      finish?.forget(heed);
      settle(value);
      heed();
    };
    const crashed = give(reject);
    const aborted = () => give(reject)(signal.reason());
    if (signal?.aborted()) {
      reject(signal.reason());
      return;
    }
    const controls = {
      stopped: () => over || (signal?.aborted() ?? false),
      finishing: finish && (() => finish.aborted()),
      onProgress:
        onProgress &&
        ((progress) => {
          if (over) return;
          try {
            onProgress(progress);
          } catch (error) {
            give(reject)(error);
          }
        }),
    };
    home.pending.add(crashed);
    signal?.listen(aborted);
    finish?.listen(heed);
    try {
      const answer = home.enter((glue) => start(glue, controls));
      answer.then(give(resolve), (error) => {
        if (over) return;
        if (signal?.aborted()) aborted();
        else give(reject)(home.crash ?? adopted(error));
      });
    } catch (error) {
      crashed(adopted(error));
    }
  });
}

/** What a promise leads to, unless the signal is aborted before: nobody says that it leads anywhere. */
export function unlessAborted({ signal }, promise) {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason());
    if (signal?.aborted()) return aborted();
    signal?.listen(aborted);
    promise.then(resolve, reject).finally(() => signal?.forget(aborted));
  });
}

/** Enters the module for something that takes no time. */
export function entered(home, body) {
  try {
    return home.enter(body);
  } catch (error) {
    throw adopted(error);
  }
}

/** The same in the instance there is. */
export const atOnce = (body) => entered(instance(), body);
