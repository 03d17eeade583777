/**
 * Starting a worker: a browser's, or Node's. Its program is a text inside the WebAssembly module, where the build has put it (worker.js, in
 * one piece): whoever has the module has the program, and no bundler has to find another file.
 */

import { builtin } from "./builtin.js";
import { described, fault } from "./errors.js";
import { TextDecoder } from "./text.js";

/** The name of the module's section, as scripts/lib/section.mjs has it. */
const SECTION = "isoflat worker";

const NAME = "isoflat";

const unavailable = (why, cause) =>
  fault("worker_unavailable", `the engine cannot have a worker of its own: ${why}`, cause);

function programOf(module) {
  const [section] = WebAssembly.Module.customSections(module, SECTION);
  if (section) return new TextDecoder().decode(section);
  throw unavailable(
    "this WebAssembly module was stripped of the worker's program; load the one that isoflat's package has",
  );
}

/** A worker in a browser. */
function ofBrowser(program, heard, lost) {
  const address = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
  const worker = new Worker(address, { name: NAME });
  const started = () => URL.revokeObjectURL(address);
  worker.onmessage = ({ data }) => {
    started();
    heard(data);
  };
  worker.onerror = (event) => {
    // Told to whoever waits for the worker, and so nothing that a page's own handler of uncaught errors should hear.
    event.preventDefault?.();
    started();
    lost(event.message || "the browser does not say why");
  };
  worker.onmessageerror = () => lost("a message could not be read");
  return {
    post: (message, buffers) => worker.postMessage(message, buffers),
    end: () => worker.terminate(),
    keep() {},
  };
}

/** Node's workers, which Deno and Bun have too. Electron's pages have Node, and may have no workers but a browser's. */
const nodes = () => (globalThis.process?.type === "renderer" ? undefined : builtin("node:worker_threads"));

/** A worker in Node. It shall not load what a program loads by its arguments. */
function ofNode(threads, program, heard, lost) {
  const worker = new threads.Worker(program, { eval: true, execArgv: [], name: NAME });
  worker.on("message", heard);
  worker.on("messageerror", (error) => lost(described(error)));
  worker.on("error", (error) => lost(described(error)));
  worker.on("exit", (code) => lost(`it ended with code ${code}`));
  return {
    post: (message, buffers) => worker.postMessage(message, buffers),
    end: () => void worker.terminate(),
    // A program that waits for nothing else ends, as it does with an engine that is no worker.
    keep: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
  };
}

/**
 * A worker of this module: `post(message, buffers)`, `end()`, and `keep(isBusy)`, whether a program shall wait for it. `heard` is given its
 * messages, `lost` is told why it is gone, or has not come.
 */
export function spawned(module, heard, lost) {
  const program = programOf(module);
  try {
    const threads = nodes();
    if (typeof threads?.Worker === "function") return ofNode(threads, program, heard, lost);
    if (typeof Worker === "function") return ofBrowser(program, heard, lost);
  } catch (error) {
    throw unavailable(described(error), error);
  }
  throw unavailable("there are no workers where this runs. Leave the option out, or make it false");
}

/** What to say of a worker that was lost before it had answered anything. */
export const neverStarted = (why) =>
  unavailable(`it did not start (${why}). A Content-Security-Policy, if there is one, must allow worker-src blob:`);
