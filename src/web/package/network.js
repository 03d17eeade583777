/** `Network`: what a network is, and what follows from it without data. */

import { atOnce, options, promised, run, withOptions } from "./call.js";
import { fault } from "./errors.js";
import { Handle, of, wrap } from "./handle.js";
import { instance } from "./instance.js";
import { isAbsent, named, numbers, object, plain, plainObject, reading, text } from "./read.js";
import { ParameterSpace } from "./space.js";

const INVALID = "invalid_network";

/** A network's JSON as a text. */
function jsonOf(value) {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) {
    throw fault("parse", `network must be an object or a JSON text, not ${named(value)}`);
  }
  return JSON.stringify(value instanceof Network ? objectOf(value, "network") : plain(value, "network", INVALID)) ?? "";
}

/** A handle's JSON, for what takes either; `what` names it in the error. */
export function objectOf(network, what) {
  Handle.raw(network, Network, what);
  return network.toJSON();
}

const vector = (value) => numbers(value, "parameters", "invalid_parameters");

/** A training's snapshots: parameters stay typed arrays. */
function trajectoryOf(value) {
  const entry = (of, path) => (/^trajectory\[\d+\]$/.test(path) ? numbers(of, path, "invalid_parameters") : undefined);
  const list = plain(value, "trajectory", "invalid_parameters", entry);
  if (Array.isArray(list)) return list;
  throw fault("invalid_parameters", `trajectory must be an array of parameter vectors, not ${named(value)}`);
}

const transformation = (value) => plainObject(value, "transformation", "invalid_transformation");

/** Whether dense layers have biases: a boolean, or an object with one. */
function biasOf(value) {
  if (isAbsent(value) || typeof value === "boolean") return value ?? true;
  const { bias = true, ...rest } = object(value, "dense: bias, when it is not true or false,", "invalid_option");
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw fault("invalid_option", `dense: there is no option ${unknown}; there is bias`);
  if (typeof bias === "boolean") return bias;
  throw fault("invalid_option", `dense: bias must be true or false, not ${named(bias)}`);
}

export class Network extends Handle {
  // Messages say it; a minifier would take another.
  static name = "Network";

  static #wrap(raw) {
    return wrap(Network, instance(), raw);
  }

  static fromJSON(json) {
    const given = jsonOf(json);
    return Network.#wrap(atOnce((glue) => glue.Network.fromJSON(given)));
  }

  static foldBatchNorm(json, parameters) {
    const [given, theta] = [jsonOf(json), vector(parameters)];
    const folded = atOnce((glue) => glue.Network.foldBatchNorm(given, theta));
    return { network: Network.#wrap(folded.network), parameters: folded.parameters };
  }

  static dense(widths, bias) {
    const given = numbers(widths, "widths", INVALID);
    const hasBias = reading("dense: options", "invalid_option", () => biasOf(bias));
    return Network.#wrap(atOnce((glue) => glue.Network.dense(given, hasBias)));
  }

  static preset(name) {
    const given = text(name, "the preset's name", "invalid_option");
    return Network.#wrap(atOnce((glue) => glue.Network.preset(given)));
  }

  toJSON() {
    return of(this, Network, "toJSON", (raw) => raw.toJSON());
  }

  get inputShape() {
    return of(this, Network, "inputShape", (raw) => raw.inputShape);
  }

  get inputLength() {
    return of(this, Network, "inputLength", (raw) => raw.inputLength);
  }

  get outputLength() {
    return of(this, Network, "outputLength", (raw) => raw.outputLength);
  }

  get parameterCount() {
    return of(this, Network, "parameterCount", (raw) => raw.parameterCount);
  }

  get depth() {
    return of(this, Network, "depth", (raw) => raw.depth);
  }

  get summary() {
    return of(this, Network, "summary", (raw) => raw.summary);
  }

  get homogeneous() {
    return of(this, Network, "homogeneous", (raw) => raw.homogeneous);
  }

  get piecewiseLinear() {
    return of(this, Network, "piecewiseLinear", (raw) => raw.piecewiseLinear);
  }

  blocks() {
    return of(this, Network, "blocks", (raw) => raw.blocks());
  }

  freeTensors() {
    return of(this, Network, "freeTensors", (raw) => raw.freeTensors());
  }

  initialize(options) {
    const given = plainObject(options, "initialize: options", "invalid_option");
    return of(this, Network, "initialize", (raw) => raw.initialize(given));
  }

  transform(parameters, map) {
    const [theta, given] = [vector(parameters), transformation(map)];
    return of(this, Network, "transform", (raw) => raw.transform(theta, given));
  }

  equivalence(a, b, options) {
    const [one, other] = [vector(a), vector(b)];
    const given = plainObject(options, "equivalence: options", "invalid_option");
    return of(this, Network, "equivalence", (raw) => raw.equivalence(one, other, given));
  }

  invert(map) {
    const given = transformation(map);
    return of(this, Network, "invert", (raw) => raw.invert(given));
  }

  space(parameters, spec) {
    const [theta, given] = [vector(parameters), plainObject(spec, "space", "invalid_option")];
    const raw = of(this, Network, "space", (raw) => raw.space(theta, given));
    return wrap(ParameterSpace, Handle.home(this), raw);
  }

  principalComponents(trajectory, given) {
    return promised(() => {
      const raw = Handle.raw(this, Network, "principalComponents: this Network");
      const snapshots = trajectoryOf(trajectory);
      const { rest, watch } = options(given, "principalComponents");
      const settings = plain(rest, "principalComponents", "invalid_option");
      const work = (_, controls) => raw.principalComponents(snapshots, { ...settings, ...controls });
      return run(Handle.home(this), watch, work);
    }, withOptions("principalComponents"));
  }

  balance(parameters, given) {
    return promised(() => {
      const raw = Handle.raw(this, Network, "balance: this Network");
      const theta = vector(parameters);
      const { rest, watch } = options(given, "balance");
      const settings = plain(rest, "balance", "invalid_option");
      return run(Handle.home(this), watch, (_, controls) => raw.balance(theta, { ...settings, ...controls }));
    }, withOptions("balance"));
  }
}
