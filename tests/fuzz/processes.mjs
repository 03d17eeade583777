/** The processes that cases run in, with their limits of time and memory: started when needed, ended when they break one. */

import { fork } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { kinds } from "./kinds.mjs";

const MIB = 2 ** 20;
/** For a case, in milliseconds; kinds that repeat much have more. */
const TIME = 12_000;
/** More than this beyond what it states, and a case takes memory out of proportion. */
const SPARE = 400 * MIB;
/** What a process may have in all before it is ended, so that the computer stays usable. */
const MOST = 5 * 2 ** 30;

/** Failures that leave a process as it was. */
const harmless = new Set([
  "jargon",
  "mute",
  "verbose",
  "not-finite",
  "accepted",
  "wrong",
  "false-alarm",
  "refused",
  "stop-reason",
  "swallowed",
  "blunt",
  "overlooked",
  "reason",
  "tolerance",
  "progress",
  "sync-throw",
  "finish",
]);

/** A number of /proc/PID/status in bytes; undefined where there is no such thing. */
function status(pid, field) {
  try {
    const text = readFileSync(`/proc/${pid}/status`, "utf8");
    return 1024 * Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1]);
  } catch {
    return undefined;
  }
}

/** Lets the high-water mark of resident memory begin anew. */
function resetPeak(pid) {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // Not on this system: the mark is then that of the process's whole life, and so is what is allowed.
  }
}

/** A process that answers one case at a time. Subclasses start it and speak with it. */
export class Process {
  output = "";

  /** What stands on the error output, for a panic's place. */
  get panic() {
    return /panicked at ([^\n]*)\n?([^\n]*)/.exec(this.output)?.slice(1, 3).join(" ").trim();
  }

  keep(text) {
    this.output = (this.output + text).slice(-4000);
  }

  /** Runs one case; a process that dies, hangs or swallows memory is a finding. */
  async run(test) {
    const start = performance.now();
    const stated = kinds[test.kind].stated?.(test) ?? 0;
    const before = status(this.pid, "VmRSS");
    resetPeak(this.pid);
    this.output = "";
    const limits = this.#watch(kinds[test.kind].time ?? TIME);
    const found = await Promise.race([this.ask(test), this.died, limits.broken]);
    limits.end();
    found.ms = performance.now() - start;
    found.faults ??= [];
    if (found.ended !== undefined) {
      this.end();
      if (this.panic !== undefined) found.faults.push({ failure: "panic", detail: this.panic, where: "process" });
      else found.faults.push({ failure: found.ended, detail: found.how ?? "", where: "process" });
      return found;
    }
    if (this.panic !== undefined) found.faults.push({ failure: "panic", detail: this.panic, where: "process" });
    const taken = (status(this.pid, "VmHWM") ?? 0) - (before ?? 0);
    if (taken > SPARE + 20 * stated + (kinds[test.kind].spare ?? 0)) {
      const say = (bytes) => `${Math.round(bytes / MIB)} MiB`;
      found.faults.push({
        failure: "memory",
        detail: `${say(taken)} for a case that states ${say(stated)}`,
        where: "process",
      });
    }
    // What panicked, or has grown, is not what the next case should meet.
    if (found.faults.some(({ failure }) => !harmless.has(failure)) || (status(this.pid, "VmRSS") ?? 0) > 1.5 * 2 ** 30)
      this.end();
    return found;
  }

  #watch(time) {
    let timer;
    let ended;
    const begin = performance.now();
    const broken = new Promise((resolve) => {
      timer = setInterval(() => {
        if (performance.now() - begin > time) resolve({ ended: "hang", how: `no answer in ${time / 1000} s` });
        else if ((status(this.pid, "VmRSS") ?? 0) > MOST)
          resolve({ ended: "memory", how: `more than ${MOST / 2 ** 30} GiB` });
      }, 50);
    });
    return { broken, end: () => clearInterval(timer, ended) };
  }
}

export class NodeProcess extends Process {
  static async start(root) {
    const child = fork(fileURLToPath(new URL("./child.mjs", import.meta.url)), [root], {
      execArgv: ["--max-old-space-size=1024", "--expose-gc", "--stack-size=984"],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const process = new NodeProcess();
    process.child = child;
    process.pid = child.pid;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => process.keep(text));
    process.died = new Promise((resolve) => {
      child.once("exit", (code, signal) =>
        setTimeout(() => resolve({ ended: "died", how: `${signal ?? `status ${code}`}: ${process.why}` }), 50),
      );
    });
    const ready = new Promise((resolve) => {
      child.once("message", () => resolve());
    });
    const early = await Promise.race([ready, process.died]);
    if (early !== undefined) throw new Error(`the process for cases does not start: ${early.how}\n${process.output}`);
    return process;
  }

  get why() {
    return /(FATAL ERROR[^\n]*|[A-Z]\w*Error: [^\n]*)/.exec(this.output)?.[1] ?? "";
  }

  ask(test) {
    return new Promise((resolve) => {
      this.child.once("message", ({ found }) => resolve(found));
      this.child.send({ test }, () => {});
    });
  }

  end() {
    this.isOver = true;
    this.child.kill("SIGKILL");
  }
}
