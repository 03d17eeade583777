/** Running other programs and saying so. Node built-ins only: these scripts run before anything is installed. */

import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants as modes, statSync } from "node:fs";
import { availableParallelism, constants, homedir, setPriority } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const isWindows = process.platform === "win32";

/** Something a person can put right: reported as its message alone, without a stack. */
export class Failure extends Error {}

const pathKey = Object.keys(process.env).find((key) => key.toUpperCase() === "PATH") ?? "PATH";

/** Folders searched before the caller's PATH: what npm installed here, tools built for this clone, Rust's own. */
const toolFolders = [
  join(root, "node_modules", ".bin"),
  join(root, ".tools", "bin"),
  join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "bin"),
];

/** The environment every child gets. */
export const environment = {
  ...process.env,
  [pathKey]: [...toolFolders, process.env[pathKey] ?? ""].join(delimiter),
};

function isExecutable(file) {
  try {
    accessSync(file, modes.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Full path of the first of these programs that there is; a name that is a path is taken as it is. */
export function which(...names) {
  const suffixes = isWindows ? [".exe", ".cmd", ".bat", ""] : [""];
  for (const name of names) {
    const folders = /[\\/]/.test(name) ? [""] : environment[pathKey].split(delimiter);
    for (const folder of folders) {
      for (const suffix of suffixes) {
        const file = folder === "" ? name + suffix : join(folder, name + suffix);
        if (isExecutable(file)) return file;
      }
    }
  }
  return undefined;
}

/** What a short command prints, or undefined when it is missing or fails. */
export function capture(command, ...args) {
  const result = spawnSync(command, args, { cwd: root, env: environment, encoding: "utf8" });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

/**
 * Runs a command with its output shown; rejects when it does not end with 0. `onOutput` gets what it prints as well, piece by piece: what
 * goes to its standard error only where that is a log, since progress is shown on a terminal alone.
 */
export function run(command, args, { env = {}, cwd = root, onOutput } = {}) {
  const said = [command === process.execPath ? "node" : command, ...args].join(" ");
  return new Promise((resolve, reject) => {
    const heard = (stream) => onOutput !== undefined && (stream === "stdout" || !process.stderr.isTTY);
    const streams = ["stdout", "stderr"];
    const stdio = ["inherit", ...streams.map((stream) => (heard(stream) ? "pipe" : "inherit"))];
    const child = spawn(command, args, { cwd, env: { ...environment, ...env }, stdio });
    for (const stream of streams.filter(heard)) {
      child[stream].setEncoding("utf8").on("data", (text) => {
        process[stream].write(text);
        onOutput(text);
      });
    }
    child.on("error", (error) => reject(new Failure(`${said} could not be started: ${error.message}`)));
    child.on("close", (status, signal) => {
      if (status === 0) resolve();
      else reject(new Failure(`${said} ended with ${signal ?? `status ${status}`}`));
    });
  });
}

/** A JavaScript program, or one from node_modules, by its file: works without a shell on Windows too. */
export const runNode = (script, args = [], options = {}) =>
  run(process.execPath, [join(root, script), ...args], options);

/** Begins a JavaScript program beside what else runs. */
export const beginNode = (script, args = []) => begin(process.execPath, [join(root, script), ...args]);

/**
 * Begins a command beside what else runs, which goes before it. `over` resolves when it has ended; `end` shows what it has printed and
 * prints, waits for it, gives all of that to `onOutput`, and rejects when it does not end with 0.
 */
export function begin(command, args, { env = {}, cwd = root } = {}) {
  const said = [command === process.execPath ? "node" : command, ...args].join(" ");
  const child = spawn(command, args, { cwd, env: { ...environment, ...env } });
  let output = "";
  let isShown = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      if (isShown) process.stdout.write(text);
    });
  }
  const over = new Promise((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (status, signal) => resolve(status === 0 ? null : (signal ?? `status ${status}`)));
  });
  try {
    setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Then both go at the same pace.
  }
  const end = async ({ onOutput = () => {} } = {}) => {
    process.stdout.write(output);
    isShown = true;
    const problem = await over;
    onOutput(output);
    if (problem !== null) throw new Failure(`${said} ended with ${problem}`);
  };
  return { end, over };
}

/** Node programs, as many at a time as there are processors, each shown when it is over; rejects when one fails, and begins no other. */
export async function runNodes(programs, options) {
  const waiting = [...programs];
  const lane = async () => {
    while (waiting.length > 0) {
      const begun = begin(process.execPath, waiting.shift(), options);
      await begun.over;
      await begun.end().catch((error) => {
        waiting.length = 0;
        throw error;
      });
    }
  };
  const found = await Promise.allSettled(Array.from({ length: availableParallelism() }, lane));
  const failed = found.find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
}

/** npm itself. Under `npm start` its own script is known; a .cmd could not be spawned without a shell. */
export function npmCommand() {
  const script = process.env.npm_execpath;
  if (script?.endsWith("npm-cli.js")) return [process.execPath, script];
  const npm = which("npm");
  if (npm === undefined) throw new Failure("npm was not found: it comes with Node.js; put it on PATH.");
  return [npm];
}

export const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`;

/**
 * One line for one thing to be done: `say` announces slow work before it begins, and what `work` returns is printed
 * with the time it took.
 */
export async function step(title, work) {
  const start = performance.now();
  const say = (text) => console.log(`… ${title}: ${text}`);
  const result = await work(say);
  console.log(`✓ ${title}: ${result} (${seconds(performance.now() - start)})`);
}

/** Names of an option, with commas between them, or all where there is no option; fails for one that is not known. */
export function list(text, known, what) {
  if (text === undefined) return known;
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Failure(`there is no ${what} ${unknown}; there are ${known.join(", ")}`);
  return names;
}

/** The end of every script: a `Failure` or a mistyped option is a sentence, anything else is a fault with its stack. */
export function fail(error) {
  const expected = error instanceof Failure || error?.code?.startsWith?.("ERR_PARSE_ARGS");
  console.error(expected ? `✗ ${error.message}` : error);
  process.exitCode = 1;
}

/** Is this module the one that was started, rather than imported? */
export const isMain = (meta) => process.argv[1] !== undefined && fileURLToPath(meta.url) === process.argv[1];
