/** All that the package exports: how flat a neural network's minimum is, in a way that rescaling the weights cannot fake. */

import { atOnce } from "./call.js";
import { Engine } from "./engine.js";
import { Handle } from "./handle.js";
import { instance } from "./instance.js";
import { bytes, plain } from "./read.js";

export { IsoflatError } from "./errors.js";
export { openData, openModel, proposeNetwork, saveModel, sortFiles } from "./files.js";
export { init as default, initSync } from "./instance.js";
export { Network } from "./network.js";
export { Problem } from "./problem.js";
export { ParameterSpace } from "./space.js";

export { Engine };

/** All measures with their meaning. */
export function describeMeasures() {
  return atOnce((glue) => glue.describeMeasures());
}

/** All operators over all parameters. */
export function describeOperators() {
  return atOnce((glue) => glue.describeOperators());
}

/** Ends the module, that of an engine if one is given, as a fault of isoflat would, so that a program can see how it takes that. */
export function crash(engine) {
  if (engine !== undefined) Handle.raw(engine, Engine, "crash: what is to crash");
  try {
    const home = engine === undefined ? instance() : Handle.home(engine);
    home.enter((glue) => glue.crash());
  } catch {
    // All that follows says so.
  }
}

/** A loss in one dimension in coordinates that Dinh's power map gives it. */
export function powerMap(given) {
  const options = plain(given, "powerMap", "invalid_option");
  return atOnce((glue) => glue.powerMap(options));
}

/** An IDX file of unsigned bytes. */
export function parseIdx(given) {
  const file = bytes(given, "an IDX file", "parse");
  return atOnce((glue) => glue.parseIdx(file));
}
