/** What a tab runs: one contender, timed by the page's own clock. `window.bench` is called by scripts/bench/rounds.mjs. */

import { problem as make } from "./problems.mjs";

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

async function reference(work, operation, values) {
  const address = `/reference/${work}/${operation}`;
  if (values !== undefined) await fetch(address, { method: "POST", body: values });
  const response = await fetch(address);
  return response.ok ? new Float64Array(await response.arrayBuffer()) : undefined;
}

window.bench = {
  async open({ module, work, options }) {
    const problem = make(work);
    const { open } = await import(module);
    contender = await open(problem, options);
    return { adapter: contender.adapter, operations: Object.keys(contender), isolated: crossOriginIsolated };
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

  /** ‖x − reference‖ / ‖reference‖ of what was computed last; with `isReference` it is what the others are held against. */
  async error({ work, operation, isReference }) {
    const kind = operation === "plain" ? "product" : operation;
    const values = await contender.read(operation);
    const exact = await reference(work, kind, isReference ? Float64Array.from(values) : undefined);
    if (exact === undefined) return { missing: "no f64 reference", complaints };
    if (exact.length !== values.length) return { missing: `${values.length} values, not ${exact.length}`, complaints };
    let [wrong, all] = [0, 0];
    for (let i = 0; i < exact.length; i++) {
      wrong += (values[i] - exact[i]) ** 2;
      all += exact[i] ** 2;
    }
    const error = Math.sqrt(wrong / all);
    return Number.isNaN(error) ? { missing: "NaN", complaints } : { error, complaints };
  },

  async ceilings() {
    return (await import("./ceiling.mjs")).ceilings();
  },
};
