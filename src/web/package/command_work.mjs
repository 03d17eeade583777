/**
 * What the command `isoflat` does, in a thread of its own: the door around the module that has the command line (src/web/command.rs). It
 * reads and writes files, and lends the module Node's threads. The terminal is command.mjs'.
 */

import { resolveObjectURL } from "node:buffer";
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import { parentPort, Worker as Thread, workerData } from "node:worker_threads";
import { adopted, IsoflatError } from "./errors.js";
import { createGlue } from "./isoflat_command_glue.js";
import { Instance } from "./module.js";

const [FAILED, USAGE] = [1, 2];
/** Folders within folders that are looked into. */
const DEEPEST = 16;
/** Milliseconds between two lines of progress. */
const EVERY = 100;

/** A browser's worker on Node's threads, as far as the module's helpers go: a program at the address of a blob, and messages. */
class Worker {
  onmessage = null;
  onerror = null;
  #thread;

  constructor(address) {
    this.#thread = resolveObjectURL(String(address))
      .text()
      .then((program) => {
        const thread = new Thread(`${WORKER}\n${program}`, { eval: true });
        thread.on("message", (data) => this.onmessage?.({ data }));
        thread.on("error", (error) => this.onerror?.({ message: error.message, preventDefault() {} }));
        // The program ends when its work does, whether helpers wait or not.
        thread.unref();
        return thread;
      });
  }

  postMessage(data) {
    void this.#thread.then((thread) => thread.postMessage(data));
  }

  terminate() {
    void this.#thread.then((thread) => thread.terminate());
  }
}

/** What a helper's program takes for granted. */
const WORKER = `
const { parentPort } = require("node:worker_threads");
globalThis.postMessage = (data) => parentPort.postMessage(data);
globalThis.close = () => parentPort.close();
parentPort.on("message", (data) => onmessage({ data }));
var onmessage;`;

/** What the module looks for where threads may be had. */
function lendThreads() {
  const lent = { Worker, crossOriginIsolated: true, navigator: { hardwareConcurrency: availableParallelism() } };
  for (const [name, value] of Object.entries(lent)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
}

async function module() {
  lendThreads();
  const made = new Instance(createGlue, "This is a fault of isoflat, please report it");
  await made.glue.init({ module_or_path: readFileSync(new URL("isoflat_command_bg.wasm", import.meta.url)) });
  return made;
}

/** A file, or all files of a folder, hidden ones left out, each with the folder's name as it was given before its own. */
function read(name, depth = 0) {
  const path = name.replace(/(?<=.)[/\\]+$/, "");
  if (!statSync(path).isDirectory()) return [{ name: path, bytes: new Uint8Array(readFileSync(path)) }];
  if (depth === DEEPEST) throw new Error(`${name}: folders are nested more than ${DEEPEST} deep`);
  const entries = readdirSync(path).filter((entry) => !entry.startsWith("."));
  const files = entries.sort().flatMap((entry) => read(`${path}/${entry}`, depth + 1));
  if (depth === 0 && files.length === 0) throw new Error(`${name}: there is no file in this folder`);
  return files;
}

/** Whole or not at all: what was there before stays until the new one is complete. Links and devices are written through. */
function write(name, bytes) {
  if (isNoFile(name)) return saying(name, () => writeFileSync(name, bytes));
  const aside = `${name}.part`;
  saying(name, () => {
    try {
      writeFileSync(aside, bytes);
      renameSync(aside, name);
    } catch (error) {
      rmSync(aside, { force: true });
      throw error;
    }
  });
}

/** Is there something of this name that is no file of its own: a link, a device, a pipe? */
const isNoFile = (name) => lstatSync(name, { throwIfNoEntry: false })?.isFile() === false;

function saying(name, write) {
  try {
    write();
  } catch (error) {
    throw new Error(`${name} cannot be written: ${inWords(error)}`);
  }
}

/** Before the work: results that cannot be written after it would be lost, and so would what they take the place of. */
function ensureWritable(name, reads) {
  const folder = dirname(name);
  const own = whole(name);
  const read = reads.find((path) => isWithin(own, whole(path)));
  if (read !== undefined && statSync(own).isFile()) {
    throw new Error(`${name} cannot be written: ${read} is read, and would be lost; name another file`);
  }
  if (!existsSync(folder)) throw new Error(`${name} cannot be written: there is no folder ${folder}`);
  if (existsSync(name) && statSync(name).isDirectory()) throw new Error(`${name} cannot be written: it is a folder`);
  // A file is made anew in its folder; what is no file is written where it is.
  saying(name, () => accessSync(isNoFile(name) ? (whole(name) ?? folder) : folder, constants.W_OK));
}

/** Nor may results take each other's place. What is no file, such as a terminal, takes more than one. */
function ensureApart(names) {
  const places = new Map();
  for (const name of names) {
    const own = whole(name) ?? join(whole(dirname(name)), basename(name));
    if (existsSync(own) && !statSync(own).isFile()) continue;
    if (places.has(own)) throw new Error(`${places.get(own)} and ${name} are one file: each result has its own`);
    places.set(own, name);
  }
}

/** What a path leads to, by its one name. */
const whole = (path) => (existsSync(path) ? realpathSync(path) : null);

function isWithin(path, folder) {
  return path !== null && folder !== null && (path === folder || path.startsWith(`${folder}${sep}`));
}

function inWords(error) {
  if (error.code === "ENOENT") return "there is no such file";
  if (error.code === "EACCES") return "permission is denied";
  return error.message;
}

function readAll(names) {
  return names.flatMap((name) => {
    try {
      return read(name);
    } catch (error) {
      throw error.code ? new Error(`${error.path ?? name}: ${inWords(error)}`) : error;
    }
  });
}

/** What command.mjs has to do: show a `line`, `print`, say a `fault`, hear Ctrl-C once the work `begins`, and `end`. */
const tell = (message) => parentPort.postMessage(message);

/** No more of it than anybody reads. */
function progressLine(isWanted) {
  let last = 0;
  return (line) => {
    const now = performance.now();
    if (!isWanted || (last > 0 && now - last < EVERY)) return;
    last = now;
    tell({ line });
  };
}

async function work(words) {
  const lossy = words.find((word) => word.includes("\uFFFD"));
  if (lossy !== undefined)
    return fail(`${lossy} is no UTF-8, and Node does not hand over what it is: rename the file`, USAGE);
  const home = await module();
  const enter = (body) => {
    try {
      return home.enter(body);
    } catch (error) {
      throw adopted(error);
    }
  };
  let asked;
  try {
    asked = enter((glue) => glue.commandReads(words));
  } catch (error) {
    return fail(error.message, home.crash ? FAILED : USAGE);
  }
  if (asked.text !== undefined) {
    tell({ print: asked.text });
    return 0;
  }
  for (const name of asked.writes) ensureWritable(name, asked.reads);
  ensureApart(asked.writes);
  const { own } = asked;
  if (own !== undefined && existsSync(own)) {
    throw new Error(`${own} is there already: --out ${own} replaces it, and another --out leaves it`);
  }
  const files = readAll(asked.reads);
  const terminal = {
    line: progressLine(!asked.quiet && workerData.showsLines),
    finishing: () => Atomics.load(workerData.pressed, 0) > 0,
    colour: workerData.colour,
  };
  const crashed = new Promise((_, reject) => home.pending.add(reject));
  tell({ begins: true });
  const done = enter((glue) => glue.commandWork(words, files, terminal));
  const found = await Promise.race([done, crashed]);
  for (const { name, bytes } of found.weights) write(name, bytes);
  // What was found is said whether it can be kept or not, and kept whether somebody reads it or not.
  const faults = found.files.flatMap(({ name, bytes }) => {
    try {
      write(name, bytes);
      return [];
    } catch (error) {
      return [error];
    }
  });
  tell({ print: found.text });
  if (faults.length > 0) throw faults[0];
  return found.status;
}

function fail(message, status = FAILED) {
  tell({ fault: message });
  return status;
}

// Helpers do not keep Node waiting, but what they work on does.
setInterval(() => {}, 1 << 30);
const status = await work(workerData.words).catch((error) => {
  const known = error instanceof IsoflatError || typeof error?.code === "string" ? adopted(error) : error;
  return fail(known.message);
});
tell({ end: status });
