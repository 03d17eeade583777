/**
 * An engine in a worker, as this side has it: a home like the module's instance, whose glue sends calls to the worker's (worker.js). So
 * `Engine` reads arguments, watches and stops work in one way wherever it computes, and no method is named here.
 *
 * Data of problems cross once, when they are first used, and are shared there as they are here. What is computed is given away by the worker; what a caller gave is copied.
 */

import { entered } from "./call.js";
import { described, fault } from "./errors.js";
import { ADVICE, forwarded } from "./forward.js";
import { Handle } from "./handle.js";
import { Problem, wholeOf } from "./problem.js";
import { neverStarted, spawned } from "./spawn.js";

/** What a call's caller may wish while it is under way: functions among its options. */
const WISHES = ["stopped", "finishing"];

/** Between two questions whether the worker hears; so many in a row without an answer, and it never will. */
const QUESTION_MS = 1000;
const UNHEARD = 4;

/** What a problem is made of: its network as a text, and copies of its data. */
function contentOf(problem) {
  const raw = Handle.raw(problem, Problem, "problem");
  return entered(Handle.home(problem), () => {
    const { network } = raw;
    try {
      return { network: JSON.stringify(network.toJSON()), data: { loss: raw.loss, ...raw.data() } };
    } finally {
      network.free();
    }
  });
}

export class Remote {
  /** The error that ended it, and how to reject calls that are under way: as an instance has them. */
  crash;
  pending = new Set();
  glue = {
    Engine: { create: async (options) => this.#local(await this.#send("create", [options])) },
    crash: () => this.#post(["crash"]),
  };
  #worker;
  #isStarted = false;
  #isOver = false;
  /** Calls that the worker has not answered. */
  #calls = new Map();
  /** Problems that have crossed: their numbers by their handles, and by number how to stop waiting for the end of one. */
  #crossed = new WeakMap();
  #problems = new Map();
  #last = 0;
  /** Questions in a row, whether it hears, that it has not answered. */
  #unheard = 0;

  /** A worker of this module. */
  constructor(module) {
    this.#worker = spawned(
      module,
      (message) => this.#hear(message),
      (why) => this.#lose(why),
    );
    try {
      this.#post(["start", module]);
    } catch (error) {
      this.end();
      throw neverStarted(described(error));
    }
  }

  enter(body) {
    if (this.crash) throw this.crash;
    return body(this.glue);
  }

  /** Tells the worker what is wished by now of calls under way; `run` calls it where that may have changed. */
  heed() {
    for (const [number, call] of this.#calls) {
      for (const name of WISHES) {
        if (call.told.has(name) || !call[name]?.()) continue;
        call.told.add(name);
        this.#post(["wish", number, { name }]);
      }
    }
  }

  /**
   * Has the worker stopped hearing, before `work` is over? In Firefox `new Worker` may never return inside a worker, where it starts
   * threads (153: after one reload in some twenty of a page that has them); nothing in there can tell of it.
   */
  async isDeaf(work) {
    const isOver = work.then(
      () => true,
      () => true,
    );
    for (this.#unheard = 1; this.#unheard <= UNHEARD; this.#unheard++) {
      this.#post(["hear"]);
      let timer;
      const later = new Promise((resolve) => {
        timer = setTimeout(resolve, QUESTION_MS);
      });
      const over = await Promise.race([isOver, later]);
      clearTimeout(timer);
      if (over) return false;
    }
    return true;
  }

  /** Ends the worker when calls that were made before have ended. */
  free() {
    this.#isOver = true;
    if (this.#calls.size === 0) this.end();
  }

  /** Ends it at once. */
  end() {
    this.#isOver = true;
    const worker = this.#worker;
    // First: Deno's tells that it has ended before `terminate` returns, and an end that is wanted loses nothing.
    this.#worker = undefined;
    worker?.end();
    this.#calls.clear();
    for (const forget of this.#problems.values()) forget();
    this.#problems.clear();
  }

  #post(message, buffers = []) {
    this.#worker?.post(message, buffers);
  }

  /** An object as the module's engine is one: its values as they were when it was made, its methods sent. */
  #local({ values, methods }) {
    // The worker is ended by whoever sees that the handle is freed, or gone.
    const local = { free() {} };
    for (const name of methods) local[name] ??= (...given) => this.#send(name, given);
    for (const [name, value] of Object.entries(values)) {
      // A copy each time: a caller may write to it.
      Object.defineProperty(local, name, { get: () => forwarded(value, [], () => undefined) });
    }
    return local;
  }

  #send(method, given) {
    const [last] = given.slice(-1);
    const isOption = typeof last === "object" && last !== null && "stopped" in last;
    const { stopped, finishing, onProgress, ...options } = isOption ? last : {};
    const values = isOption ? given.slice(0, -1) : given;
    const buffers = [];
    const special = (value) => (value instanceof Problem ? this.#numberOf(value) : undefined);
    const message = { values: forwarded(values, buffers, special), method, isWatched: onProgress !== undefined };
    if (isOption) message.options = forwarded(options, buffers, special);
    const call = ++this.#last;
    message.call = call;
    // What is wished already goes with the call, which may be over before it heard of it.
    const wishes = { stopped, finishing };
    message.wished = WISHES.filter((name) => wishes[name]?.());
    return new Promise((resolve, reject) => {
      this.#post(["call", call, message], buffers);
      this.#calls.set(call, { resolve, reject, onProgress, ...wishes, told: new Set(message.wished) });
      this.#worker?.keep(true);
    });
  }

  /** The number of a problem in the worker, where its data are from here on. */
  #numberOf(problem) {
    const known = this.#crossed.get(problem);
    if (this.#problems.has(known)) return known;
    const number = BigInt(++this.#last);
    const whole = this.#wholeOf(problem);
    if (whole === undefined) {
      const content = contentOf(problem);
      const buffers = Object.values(content.data).flatMap((value) => (ArrayBuffer.isView(value) ? [value.buffer] : []));
      this.#post(["problem", number, content], buffers);
    } else {
      this.#post(["first", number, { whole, samples: problem.samples }]);
    }
    this.#crossed.set(problem, number);
    this.#problems.set(
      number,
      Handle.whenGone(problem, () => this.#release(number)),
    );
    return number;
  }

  /** The number of one there whose first samples these are. */
  #wholeOf(problem) {
    for (let whole = wholeOf(problem); whole; whole = wholeOf(whole)) {
      const number = this.#crossed.get(whole);
      if (this.#problems.has(number)) return number;
    }
    return undefined;
  }

  #release(number) {
    this.#problems.get(number)?.();
    this.#problems.delete(number);
    this.#post(["release", number]);
  }

  #hear({ call: number, result, error, progress, missing, crashed, hears }) {
    this.#isStarted = true;
    this.#unheard = 0;
    if (hears) return undefined;
    if (crashed !== undefined) return this.#end(fault("crashed", crashed));
    const call = this.#calls.get(number);
    if (progress !== undefined) return call?.onProgress(progress);
    this.#calls.delete(number);
    // There was no room for them; there may be when they are used again.
    for (const problem of missing ?? []) this.#release(problem);
    if (error) call?.reject(error);
    else call?.resolve(result);
    if (this.#calls.size > 0) return undefined;
    this.#worker?.keep(false);
    if (this.#isOver) this.end();
    return undefined;
  }

  /** The worker is gone, or has not come. */
  #lose(why) {
    const gone = () => fault("crashed", `isoflat's worker is gone: ${why}. ${ADVICE}`);
    this.#end(this.#isStarted ? gone() : neverStarted(why));
  }

  #end(error) {
    if (this.#worker === undefined) return;
    this.crash = error;
    this.end();
    const pending = [...this.pending];
    this.pending.clear();
    for (const reject of pending) reject(this.crash);
  }
}
