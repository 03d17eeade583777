/** The native targets: the runner of tests/fuzz/native, on the CPU or on whatever GPU there is (llvmpipe), under a limit of memory. */

import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { environment, Failure, isWindows, root } from "../../scripts/lib/process.mjs";
import { kinds } from "./kinds.mjs";
import { Process } from "./processes.mjs";

/** Address space in KiB. A software GPU maps much that it never touches. */
const SPACE = { cpu: 6 * 2 ** 20, gpu: 0 };

/** A runner that is compiled already may be named. */
let program = process.env.ISOFLAT_FUZZ_RUNNER;

/** Compiles the runner, once, and says where it is. */
export function buildNative() {
  if (program !== undefined) return program;
  const args = ["build", "--quiet", "--example", "fuzz", "--message-format", "json"];
  const built = spawnSync("cargo", args, {
    cwd: root,
    env: environment,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (built.status !== 0) throw new Failure("the native runner does not compile");
  const messages = built.stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  program = messages.findLast(({ target, executable }) => target?.name === "fuzz" && executable)?.executable;
  if (program === undefined) throw new Failure("cargo does not say where the native runner is");
  return program;
}

export class NativeProcess extends Process {
  #waiting;

  static async start(backend) {
    const started = new NativeProcess();
    started.backend = backend;
    const limit = SPACE[backend];
    // The environment's own settings of panics' output stay; a backtrace would only hide the message.
    const env = { ...environment, RUST_BACKTRACE: "0" };
    const child =
      isWindows || limit === 0
        ? spawn(buildNative(), [], { env })
        : spawn("sh", ["-c", `ulimit -v ${limit} && exec "$0"`, buildNative()], { env });
    started.child = child;
    started.pid = child.pid;
    child.stderr.setEncoding("utf8").on("data", (text) => started.keep(text));
    createInterface({ input: child.stdout }).on("line", (line) => started.#waiting?.(JSON.parse(line)));
    child.stdin.on("error", () => {});
    started.died = new Promise((resolve) => {
      child.once("exit", (code, signal) =>
        setTimeout(() => resolve({ ended: "died", how: `${signal ?? `status ${code}`}: ${started.why}` }), 50),
      );
    });
    return started;
  }

  get why() {
    return (
      /(memory allocation of \d+ bytes failed|stack overflow|has overflowed its stack|[Ee]rror[^\n]*)/.exec(
        this.output,
      )?.[1] ?? ""
    );
  }

  #request(request) {
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.child.stdin.write(`${JSON.stringify(request)}\n`);
    });
  }

  async ask(test) {
    const host = {
      compute: ({ file, ...rest }) =>
        this.#request({ ...rest, file: typeof file === "string" ? file : JSON.stringify(file), backend: this.backend }),
      parse: (request) => this.#request(request),
    };
    try {
      return await kinds[test.kind].execute(test, host);
    } catch (error) {
      return { faults: [{ failure: "harness", detail: `${error?.stack}`, where: "harness" }], calls: 0 };
    }
  }

  end() {
    this.isOver = true;
    this.child.kill("SIGKILL");
  }
}
