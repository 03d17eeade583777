/**
 * Opening and saving models: what a caller gives becomes names and bytes, and what the module for files says becomes handles.
 * That module is another than the one that computes, and is loaded when a file is opened or saved for the first time.
 */

import { promised } from "./call.js";
import { adopted, described, fault } from "./errors.js";
import { files } from "./files_module.js";
import { Handle } from "./handle.js";
import { Network, objectOf } from "./network.js";
import { Problem } from "./problem.js";
import {
  arrayKind,
  bytes,
  className,
  isAbsent,
  isBuffer,
  kept,
  named,
  numbers,
  object,
  optionalText,
  plain,
  reading,
  text,
} from "./read.js";

const OPTION = "invalid_option";

/** Which files a model was opened from, and how: they are read again when it is saved. */
const sources = new WeakMap();

/** A call into the module for files, which is loaded first. */
async function inModule(body) {
  const home = await files();
  try {
    return home.enter(body);
  } catch (error) {
    throw adopted(error);
  }
}

/** One of another window is as good. */
function isBlob(value) {
  if (typeof Blob !== "undefined" && value instanceof Blob) return true;
  try {
    return /^(Blob|File)$/.test(className(value)) && typeof value.arrayBuffer === "function";
  } catch {
    return false;
  }
}

/** What a File or Blob holds; it may have been moved or changed on the disk since it was chosen. */
async function contentOf(blob, what) {
  let name;
  try {
    name = String(blob.webkitRelativePath || blob.name || what);
    return { name, bytes: new Uint8Array(await blob.arrayBuffer()) };
  } catch (error) {
    throw fault(OPTION, `${name ?? what} cannot be read: ${described(error)}`, error);
  }
}

/** A copy of bytes, or of a buffer's. */
const copied = (value, what) =>
  reading(what, OPTION, () => kept(bytes(isBuffer(value) ? new Uint8Array(value) : value, what, OPTION)));

/** One file: a File or Blob, bytes, or `{ name, bytes }`. Bytes are copied before anything is waited for. */
async function fileOf(value, what) {
  if (isBlob(value)) return contentOf(value, what);
  const isArray = typeof value === "object" && value !== null && arrayKind(value, what, OPTION) !== undefined;
  if (isArray || isBuffer(value)) return { name: what, bytes: copied(value, what) };
  if (typeof value !== "object" || value === null || className(value) === "Promise") {
    throw fault(OPTION, `${what} must be a File, a Blob, bytes or { name, bytes }, not ${named(value)}`);
  }
  const given = reading(what, OPTION, () => object(value, what, OPTION));
  const unknown = Object.keys(given).find((key) => key !== "name" && key !== "bytes");
  if (unknown !== undefined) throw fault(OPTION, `${what} has no key ${unknown}; there are name and bytes`);
  const name = isAbsent(given.name) ? what : text(given.name, `${what}: its name`, OPTION);
  return { name, bytes: copied(given.bytes, `${what}: its bytes`) };
}

/** Is it several files: an array, a FileList, or what else has a length and numbers as keys? */
function isList(value) {
  if (Array.isArray(value) || (typeof FileList !== "undefined" && value instanceof FileList)) return true;
  if (typeof value !== "object" || isBlob(value) || isBuffer(value) || arrayKind(value, "the file", OPTION))
    return false;
  return reading("the files", OPTION, () => Number.isSafeInteger(value.length) && !("bytes" in value));
}

/** All files: one, or an array or FileList of several. */
async function filesOf(value) {
  if (isAbsent(value) || typeof value === "string") {
    throw fault(OPTION, `a file must be given as a File, a Blob, bytes or { name, bytes }, not ${named(value)}`);
  }
  const list = isList(value) ? reading("the files", OPTION, () => Array.from(value)) : [value];
  return Promise.all(list.map((file, i) => fileOf(file, list.length === 1 ? "the file" : `file ${i + 1}`)));
}

/** Options with a network's handle as its JSON. */
function optionsOf(value, method) {
  const handle = (entry, path) => (entry instanceof Network ? objectOf(entry, path.replace(".", ": ")) : undefined);
  return isAbsent(value) ? {} : plain(value, method, OPTION, handle);
}

export function openModel(files, options) {
  return promised(async () => {
    const given = optionsOf(options, "openModel");
    const read = await filesOf(files);
    const found = await inModule((glue) => glue.openModel(read, given));
    const network = Network.fromJSON(found.network);
    const { parameters, notes, format, statistics } = found;
    const model = { network, parameters, notes, format, statistics };
    if (found.problem) {
      const { loss, inputs, targets, name, direction, transformations } = found.problem;
      model.problem = new Problem(network, { loss, inputs, targets });
      model.transformations = transformations;
      if (name) model.name = name;
      if (direction) model.direction = direction;
    }
    sources.set(model, { read, given });
    return model;
  });
}

export function proposeNetwork(files, options) {
  return promised(async () => {
    const given = optionsOf(options, "proposeNetwork");
    const read = await filesOf(files);
    return JSON.parse(await inModule((glue) => glue.proposeNetwork(read, given)));
  });
}

export function sortFiles(files) {
  return promised(async () => {
    const read = await filesOf(files);
    return inModule((glue) => glue.sortFiles(read));
  });
}

export function openData(files, options) {
  return promised(async () => {
    const given = optionsOf(options, "openData");
    const read = await filesOf(files);
    return inModule((glue) => glue.openData(read, given));
  });
}

export function saveModel(model, parameters, options) {
  return promised(async () => {
    const { format = "safetensors", name, ...rest } = optionsOf(options, "saveModel");
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined)
      throw fault(OPTION, `saveModel: there is no option ${unknown}; there are format and name`);
    if (!(isAbsent(name) || model instanceof Problem))
      throw fault(OPTION, "saveModel: name is a problem's; a file of weights alone has none");
    const theta = kept(numbers(parameters, "parameters", "invalid_parameters"));
    const source = typeof model === "object" && model !== null ? sources.get(model) : undefined;
    if (source) return inModule((glue) => glue.saveModel(source.read, source.given, theta, format));
    if (model instanceof Problem) {
      Handle.raw(model, Problem, "saveModel: this Problem");
      if (format !== "safetensors") throw fault(OPTION, "saveModel: a problem with its data is saved as safetensors");
      const [network, data] = [JSON.stringify(model.network.toJSON()), model.data];
      const title = optionalText(name, "saveModel: name", OPTION);
      return inModule((glue) => glue.saveProblem(network, data, theta, title));
    }
    Handle.raw(model, Network, "saveModel: a model that openModel gave, a Problem or a Network; this");
    const network = JSON.stringify(model.toJSON());
    return inModule((glue) => glue.saveParameters(network, theta, format));
  });
}
