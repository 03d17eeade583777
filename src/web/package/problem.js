/** `Problem`: network, loss and data. */

import { entered } from "./call.js";
import { fault, IsoflatError } from "./errors.js";
import { Handle, isWrapped, of, owned, wrap } from "./handle.js";
import { instance } from "./instance.js";
import { Network } from "./network.js";
import { classes, named, numbers, object, optionalText, plainObject, reading, text, whole } from "./read.js";
import { TextEncoder } from "./text.js";

const INVALID = "invalid_problem";
const KEYS = ["loss", "inputs", "targets"];
/** What `openData` says of data beside them: its result is data as it is. */
const BESIDE = ["shape", "samples", "classes", "normalization", "notes", "overview"];

/** Problems that are alive: each holds data, and a module that runs out of memory says how many there are. */
let alive = 0;
const release = () => {
  alive--;
};

/** What the module needs of `ProblemData`. */
function dataOf(value) {
  return reading("data", INVALID, () => {
    const data = object(value, "data", INVALID);
    const unknown = Object.keys(data).find((key) => !KEYS.includes(key) && !BESIDE.includes(key));
    if (unknown !== undefined) throw fault(INVALID, `data has no key ${unknown}; there are ${KEYS.join(", ")}`);
    const { loss } = data;
    if (loss !== "cross_entropy" && loss !== "squared_error") {
      throw fault(INVALID, `data.loss must be "cross_entropy" or "squared_error", not ${named(loss)}`);
    }
    const targetsOf = loss === "cross_entropy" ? classes : numbers;
    return {
      loss,
      inputs: numbers(data.inputs, "data.inputs", INVALID),
      targets: targetsOf(data.targets, "data.targets", INVALID),
    };
  });
}

/** Makes a problem's data in the module, or shares those there are. A lack of memory is told with what else is there. */
function made(home, body, isShared = false) {
  try {
    const raw = entered(home, body);
    alive++;
    return owned(home, raw, release, isShared ? 0 : raw.__bytes);
  } catch (error) {
    if (!(error instanceof IsoflatError) || error.code !== "too_large" || alive === 0) throw error;
    const others = alive === 1 ? "Another problem is alive: free()" : `${alive} other problems are alive: free() those`;
    throw fault(error.code, `${error.message}. ${others} what is no longer needed`);
  }
}

/** Of problems that share another one's data: whose. */
const wholes = new WeakMap();

export const wholeOf = (problem) => wholes.get(problem);

export class Problem extends Handle {
  // Messages say it; a minifier would take another.
  static name = "Problem";

  constructor(...given) {
    super(...(isWrapped(given) ? given : Problem.#from(...given)));
  }

  static #from(network, data) {
    const raw = Handle.raw(network, Network, "network");
    const given = dataOf(data);
    return made(Handle.home(network), (glue) => new glue.Problem(raw, given));
  }

  static synthetic(network, options) {
    const raw = Handle.raw(network, Network, "network");
    const given = plainObject(options, "synthetic: options", "invalid_option");
    return new Problem(...made(Handle.home(network), (glue) => glue.Problem.synthetic(raw, given)));
  }

  static open(json) {
    const bytes = new TextEncoder().encode(text(json, "a problem file's content", "parse"));
    let opened;
    const given = made(instance(), (glue) => {
      opened = glue.Problem.open(bytes);
      return opened.problem;
    });
    return { ...opened, problem: new Problem(...given) };
  }

  save(parameters, name) {
    const theta = numbers(parameters, "parameters", "invalid_parameters");
    const title = optionalText(name, "the name", "invalid_option");
    return of(this, Problem, "save", (raw) => raw.save(theta, title));
  }

  get data() {
    return of(this, Problem, "data", (raw) => ({ loss: raw.loss, ...raw.data() }));
  }

  get samples() {
    return of(this, Problem, "samples", (raw) => raw.samples);
  }

  get loss() {
    return of(this, Problem, "loss", (raw) => raw.loss);
  }

  get network() {
    return wrap(
      Network,
      Handle.home(this),
      of(this, Problem, "network", (raw) => raw.network),
    );
  }

  first(samples) {
    const raw = Handle.raw(this, Problem, "first: this Problem");
    const count = Math.min(whole(samples, "first: samples", 1), this.samples);
    const part = new Problem(...made(Handle.home(this), () => raw.first(count), true));
    wholes.set(part, this);
    return part;
  }
}
