/** PyTorch beside the browser: a program of its own that takes part in the same rounds (benches/python/passes.py). */

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { problem as make } from "../../benches/web/problems.mjs";
import { errorOf } from "../../benches/web/reference.mjs";
import { environment, isWindows, root } from "../lib/process.mjs";

const python = isWindows ? "python" : "python3";
const threads = { OMP_NUM_THREADS: "1", MKL_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" };

/** For a program of benches/python: on one thread. */
const pythonOptions = { env: { ...environment, ...threads }, encoding: "utf8" };
export const runPython = (args, options = {}) => spawn(python, args, { ...pythonOptions, ...options });

/** Why there is nothing to hold against, or `undefined`. */
export function noPython(...modules) {
  const { status } = spawnSync(python, ["-c", `import ${modules.join(", ")}`], pythonOptions);
  return status === 0 ? undefined : `${python} has no ${modules.join(" and ")} here`;
}

/** What a tab with a contender is to the rounds, for this one. */
export async function openPython(work, address) {
  const missing = noPython("torch");
  if (missing !== undefined) throw new Error(missing);
  const { samples, network, blocks, ...values } = make(work);
  const folder = join(root, "target", "bench", "python");
  mkdirSync(folder, { recursive: true });
  const shapes = blocks.flatMap(({ weight, bias }) => (bias > 0 ? [weight, [bias]] : [weight]));
  writeFileSync(join(folder, "problem.json"), JSON.stringify({ samples, network, shapes }));
  for (const name of ["inputs", "labels", "parameters", "direction"]) {
    writeFileSync(join(folder, `${name}.bin`), values[name]);
  }
  const child = runPython([join(root, "benches", "python", "passes.py"), folder], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let over = false;
  const ended = new Promise((_, reject) => {
    child.on("error", reject);
    child.on("close", (status) => {
      over = true;
      reject(new Error(`${python} ended with ${status}`));
    });
  });
  ended.catch(() => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => JSON.parse((await Promise.race([lines.next(), ended])).value);
  const ask = (text) => {
    child.stdin.write(`${text}\n`);
    return answer();
  };
  const { adapter, operations } = await answer();
  const time = async (operation) => (await ask(`time ${operation}`)).ms;
  const methods = {
    time,
    counts: async (operation) => ({ ms: await time(operation) }),
    error: async (asked) => {
      const file = join(folder, "result.bin");
      await ask(`read ${asked.operation} ${file}`);
      const values = new Float64Array(new Uint8Array(readFileSync(file)).buffer);
      return errorOf(values, { ...asked, address: new URL(address).origin });
    },
  };
  return {
    adapter,
    operations,
    call: (method, argument) => methods[method](argument),
    isClosed: () => over,
    close: () => child.kill(),
  };
}
