/** One call: its arguments, what the caller's own code throws into it, its signal, and what it came to. */

import { faultOf, faultOfProgress, notFinite } from "./oracle.mjs";
import { decode } from "./values.mjs";

/** A browser does not say how much of the time a case had a processor: its limits are wider. */
export const IN_BROWSER = globalThis.process === undefined;

/** A promise that has not settled after this is taken for one that never will. */
const NEVER = IN_BROWSER ? 20_000 : 8_000;
/** A slow call that nobody stops is stopped by us after this. */
const GUARD = 1200;

const cpu = () => (typeof process === "object" ? process.cpuUsage() : undefined);
const cpuSince = (start) => {
  if (start === undefined) return Number.POSITIVE_INFINITY;
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
};

/** What an options object has, wrapped or not, that takes one more property; undefined of all else. */
function writable(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  const { $: wrapped, of, trap } = value;
  if (wrapped === undefined) return value;
  const takes = ["inherited", "bare", "instance"].includes(wrapped) || (wrapped === "proxy" && trap === "none");
  return takes ? of : undefined;
}

export class Call {
  /** Errors that the caller's own code has thrown, and whether it was `onProgress` that did. */
  own = [];
  thrownByProgress = undefined;
  faults = [];
  reports = 0;
  #controller;
  #abortedAt;
  #abortedCpu;

  constructor(world, step) {
    this.world = world;
    this.step = step;
    this.isoflat = world.isoflat;
  }

  throwOwn(text) {
    const error = new RangeError(`the caller's own: ${text}`);
    this.own.push(error);
    throw error;
  }

  handle(name) {
    return this.world.handles[name];
  }

  freed(name) {
    const handle = this.world.handle(name, true);
    handle.free();
    return handle;
  }

  construct(name) {
    const call = new Call(this.world, { call: `new ${name}` });
    try {
      return new this.isoflat[name]();
    } catch (error) {
      this.faults.push(...call.judgeError(error));
      return Object.create(this.isoflat[name].prototype);
    }
  }

  /** `spec.abort`: "before" the call, "at" the n-th report, or "after" some milliseconds; `reason` undefined is the platform's. */
  signal(spec) {
    this.#controller ??= new AbortController();
    this.abortSpec = spec;
    if (spec.abort === "before") this.abort();
    if (spec.abort === "after") setTimeout(() => this.abort(), spec.ms);
    return this.#controller.signal;
  }

  abort() {
    if (this.#abortedAt !== undefined || this.isSettled) return;
    this.#abortedAt = performance.now();
    this.#abortedCpu = cpu();
    const { reason } = this.abortSpec ?? {};
    if (reason === "platform") this.#controller.abort();
    else if (reason === "undefined") this.#controller.abort(undefined);
    else {
      this.reason = new Error("the caller's reason");
      this.#controller.abort(this.reason);
    }
  }

  progress(spec) {
    return (report) => {
      const n = ++this.reports;
      const fault = faultOfProgress(report);
      if (fault !== undefined && this.faults.length < 5) this.faults.push(fault);
      if (this.abortSpec?.abort === "at" && this.abortSpec.n === n) this.abort();
      if (spec.frees !== undefined && n === (spec.at ?? 1)) this.world.free(spec.frees);
      if (spec.reenter !== undefined && n === (spec.at ?? 1)) this.world.later(spec.reenter);
      if (spec.loses && n === (spec.at ?? 1)) this.world.handles.engine.loseDevice();
      if (spec.throws && n >= (spec.at ?? 1)) {
        this.thrownByProgress ??= new RangeError("the caller's own: onProgress");
        throw this.thrownByProgress;
      }
    };
  }

  /** Arguments with a guard in each options object of a slow method that one can be put in, so that no count keeps it for ever. */
  arguments() {
    const args = (this.step.args ?? []).map((arg) => decode(arg, this));
    const last = this.step.args?.at(-1);
    const options = this.step.guard ? writable(last) : undefined;
    if (options && !("signal" in options)) {
      args[args.length - 1].signal = this.signal({ abort: "never" });
      this.guard = setTimeout(() => this.abort(), this.step.guard === true ? GUARD : this.step.guard);
    }
    return args;
  }

  /** Calls `work`, waits for what it promises, and judges. Resolves with the value, or undefined. */
  async settle(work) {
    const { promise: promises = false } = this.step;
    let value;
    const start = performance.now();
    try {
      value = work();
    } catch (error) {
      if (promises)
        this.faults.push({ failure: "sync-throw", detail: `${error?.constructor?.name}: ${error?.message}` });
      this.faults.push(...this.judgeError(error));
      return this.end(undefined, start);
    }
    if (!promises || typeof value?.then !== "function") return this.end(this.judgeValue(value), start);
    let timer;
    const never = new Promise((resolve) => {
      timer = setTimeout(() => resolve(this), NEVER);
    });
    try {
      value = await Promise.race([value, never]);
      // To look at millions of numbers takes its time, which is not the call's.
      this.onAnswer?.();
      this.answered();
      if (value === this)
        this.faults.push({ failure: "never-settled", detail: this.#abortedAt ? "although it was stopped" : "" });
      else this.judgeValue(value);
    } catch (error) {
      value = undefined;
      this.faults.push(...this.judgeError(error));
    }
    clearTimeout(timer);
    return this.end(value, start);
  }

  end(value, start) {
    this.answered();
    clearTimeout(this.guard);
    this.ms = performance.now() - start;
    return value;
  }

  /** How long after the stop, the first time it is asked. */
  answered() {
    if (this.isSettled) return;
    this.isSettled = true;
    if (this.#abortedAt !== undefined) {
      // A computer that does other things too is not the call's fault: the lesser of the two clocks counts.
      this.lateMs = Math.min(performance.now() - this.#abortedAt, cpuSince(this.#abortedCpu));
      const allowed = this.world.stopLimit();
      if (this.lateMs > allowed) {
        const text = `heard ${this.lateMs.toFixed(0)} ms after the stop, allowed are ${allowed.toFixed(0)}`;
        this.faults.push({ failure: "late-stop", detail: text });
      }
    }
  }

  judgeValue(value) {
    this.resolved = true;
    if (this.step.expect === "refused")
      this.faults.push({
        failure: "accepted",
        detail: `what should be refused in: ${JSON.stringify(this.step.args)?.slice(0, 300)}`,
      });
    if (this.thrownByProgress !== undefined)
      this.faults.push({ failure: "swallowed", detail: "what onProgress threw" });
    const method = this.step.call?.split(".").at(-1);
    const detail = this.step.raw ? undefined : notFinite(value, method);
    if (detail !== undefined) this.faults.push({ failure: "not-finite", detail });
    return value;
  }

  judgeError(error) {
    this.error = error;
    if (error !== undefined && (error === this.thrownByProgress || error === this.reason)) return [];
    if (this.#abortedAt !== undefined && error === this.#controller.signal.reason) return [];
    if (this.thrownByProgress !== undefined)
      return [{ failure: "replaced", detail: `what onProgress threw, by ${error?.message}` }];
    // A callback that throws rejects with what it threw.
    if (this.own.includes(error) && this.step.args?.at(-1)?.onProgress?.trap === "apply") return [];
    if (this.own.includes(error))
      return [{ failure: "foreign-error", detail: "the error of an argument's own code, as it was" }];
    const fault = faultOf(error, this.isoflat);
    if (fault !== undefined) return [fault];
    if (error.code === "aborted") {
      return [
        {
          failure: "stop-reason",
          detail: this.#abortedAt
            ? "code aborted instead of the signal's reason"
            : "code aborted, but nobody stopped it",
        },
      ];
    }
    if (this.step.expect === "accepted") return [{ failure: "refused", detail: `${error.code}: ${error.message}` }];
    return [];
  }
}
