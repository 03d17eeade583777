/** A project that has the packed package and the tools of an environment, and nothing that is configured. */

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { environment, Failure, isWindows, npmCommand } from "../../../scripts/lib/process.mjs";
import { files } from "./program.mjs";

const [npm, ...npmArguments] = npmCommand();

/** Milliseconds after which a tool hangs. */
const PATIENCE = 300_000;

/** What a tool may not take from the one that runs the tests. */
const { NODE_OPTIONS, NODE_ENV, ...env } = environment;

const quiet = { ...env, CI: "1", NO_COLOR: "1", NEXT_TELEMETRY_DISABLED: "1", WRANGLER_SEND_METRICS: "false" };

const pathKey = Object.keys(quiet).find((key) => key.toUpperCase() === "PATH");

function started(command, args, cwd) {
  // What the project has is found first, a Node of its own too.
  const env = { ...quiet, [pathKey]: [join(cwd, "node_modules", ".bin"), quiet[pathKey]].join(delimiter) };
  // A group of its own, so that what it starts ends with it; Windows has no such groups.
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: !isWindows });
  const running = { child, output: "", end: () => end(child) };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      running.output += text;
    });
  }
  return running;
}

function end(child) {
  if (isWindows) {
    child.kill();
    return;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** What a command prints, both streams together; rejects where it fails or hangs. */
export function output(command, args, cwd) {
  const running = started(command, args, cwd);
  return new Promise((resolve, reject) => {
    const failed = (how) =>
      reject(new Failure(`${[command, ...args].join(" ")} ${how}:\n${running.output.slice(-3000)}`));
    const timer = setTimeout(() => {
      running.end();
      failed("hangs");
    }, PATIENCE);
    running.child.on("error", (error) => failed(`could not be started (${error.message})`));
    running.child.on("close", (status, signal) => {
      clearTimeout(timer);
      if (status === 0) resolve(running.output);
      else failed(`ended with ${signal ?? `status ${status}`}`);
    });
  });
}

/** The address in what a server prints, once it does; `end()` ends the server. */
export async function served(command, args, cwd, pattern = /https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):\d+/) {
  const running = started(command, args, cwd);
  let ended = false;
  running.child.on("close", () => {
    ended = true;
  });
  for (let waited = 0; waited < PATIENCE && !ended; waited += 100) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' colours.
    const found = pattern.exec(running.output.replace(/\u001b\[[\d;]*m/g, ""));
    if (found) return { address: found[0], end: running.end, said: () => running.output };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  running.end();
  throw new Failure(`${[command, ...args].join(" ")} serves nothing:\n${running.output.slice(-3000)}`);
}

export class Project {
  constructor(folder) {
    this.folder = folder;
  }

  at(...names) {
    return join(this.folder, ...names);
  }

  write(contents) {
    for (const [name, text] of Object.entries(contents)) {
      mkdirSync(dirname(this.at(name)), { recursive: true });
      writeFileSync(this.at(name), text);
    }
  }

  output(command, ...args) {
    return output(command, args, this.folder);
  }

  node(...args) {
    return this.output(process.execPath, ...args);
  }

  /** A program that a tool of the project's brings. */
  bin(name, ...args) {
    return this.output(this.at("node_modules", ".bin", name), ...args);
  }

  serve(name, ...args) {
    return served(this.at("node_modules", ".bin", name), args, this.folder);
  }
}

/** A new project with the tarball and tools, `{ name: version }`. Offline where there are none. */
export async function makeProject(folder, tarball, tools = {}, more = {}) {
  const project = new Project(folder);
  project.write({
    "package.json": JSON.stringify({ name: "consumer", version: "1.0.0", private: true, type: "module", ...more }),
    ...files(),
  });
  const wanted = Object.entries(tools).map(([name, version]) => `${name}@${version}`);
  const how = ["--loglevel=error", "--no-audit", "--no-fund", "--no-update-notifier", "--prefer-offline"];
  const offline = wanted.length === 0 ? ["--offline", "--ignore-scripts"] : [];
  await output(npm, [...npmArguments, "install", ...how, ...offline, tarball, ...wanted], folder);
  return project;
}
