/** What a tab runs: one contender, timed by the page's own clock. `window.bench` is called by scripts/bench/rounds.mjs. */

import { problem as make } from "./problems.mjs";
import { errorOf } from "./reference.mjs";

const counts = { dispatches: 0, submissions: 0 };

/** Counts whatever any library in this page sends to the GPU. */
function count(prototype, method, name) {
  if (prototype === undefined) return;
  const original = prototype[method];
  prototype[method] = function (...args) {
    counts[name]++;
    return original.apply(this, args);
  };
}
count(globalThis.GPUQueue?.prototype, "submit", "submissions");
count(globalThis.GPUComputePassEncoder?.prototype, "dispatchWorkgroups", "dispatches");
count(globalThis.GPUComputePassEncoder?.prototype, "dispatchWorkgroupsIndirect", "dispatches");

let contender;

/** GPU libraries report a failed allocation or command here and go on with garbage. */
const complaints = [];
const requestDevice = globalThis.GPUAdapter?.prototype.requestDevice;
if (requestDevice !== undefined) {
  GPUAdapter.prototype.requestDevice = async function (...args) {
    const device = await requestDevice.apply(this, args);
    device.addEventListener("uncapturederror", ({ error }) => complaints.push(error.message.split("\n")[0]));
    return device;
  };
}

window.bench = {
  async open({ module, work, options }) {
    const problem = make(work);
    const { open } = await import(module);
    contender = await open(problem, options);
    const { adapter, flops } = contender;
    return { adapter, flops, operations: Object.keys(contender), isolated: crossOriginIsolated };
  },

  /** Milliseconds of one run. */
  async time(operation) {
    const start = performance.now();
    await contender[operation]();
    return performance.now() - start;
  },

  /** What one run sends to the GPU. */
  async counts(operation) {
    Object.assign(counts, { dispatches: 0, submissions: 0 });
    const ms = await this.time(operation);
    return { ms, ...counts };
  },

  /** How far what was computed last is from the reference. */
  async error(asked) {
    const found = (await contender.error?.()) ?? (await errorOf(await contender.read(asked.operation), asked));
    return { ...found, complaints };
  },
};
