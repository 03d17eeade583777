/** Who is measured, each in a tab of its own. `library` is what --only names. */

import { availableParallelism } from "node:os";

/** As many as the package's "auto" takes. */
const threads = Math.min(Math.max(availableParallelism(), 2), 8);
const isoflat = { library: "isoflat", module: "/web/isoflat.mjs" };
const isoflatThreads = { library: "isoflat", module: "/web/isoflat-threads.mjs" };
const jax = { library: "jax", module: "/web/jax.mjs" };
const tfjs = { library: "tfjs", module: "/web/tfjs.mjs" };

/**
 * `isolated` tabs get the headers without which a page has no shared memory and hence one thread.
 * `reference` is what all errors are relative to, so it goes first and is always there.
 */
export const contenders = [
  { name: "isoflat CPU f64", ...isoflat, options: { device: "cpu-f64" }, threads: 1, reference: true },
  { name: "isoflat CPU f32", ...isoflat, options: { device: "cpu-f32" }, threads: 1 },
  {
    name: `isoflat CPU f32, ${threads} threads`,
    ...isoflatThreads,
    options: { device: "cpu-f32", threads },
    isolated: true,
  },
  { name: "isoflat WebGPU", ...isoflat, options: { device: "webgpu" }, gpu: true },
  { name: "jax-js wasm", ...jax, options: { device: "wasm" }, threads: 1 },
  { name: "jax-js wasm, threads", ...jax, options: { device: "wasm" }, isolated: true },
  { name: "jax-js WebGPU", ...jax, options: { device: "webgpu" }, gpu: true },
  { name: "tfjs wasm", ...tfjs, options: { device: "wasm", threads: 1 }, threads: 1 },
  // No tab: a program beside the browser, where Python has it.
  { name: "PyTorch, native", library: "pytorch", threads: 1 },
  { name: "tfjs WebGPU", ...tfjs, options: { device: "webgpu" }, gpu: true },
];

/** What the device can do, in every round: benches/web/ceiling.mjs. */
const ceiling = { module: "/web/ceiling.mjs", isCeiling: true };
export const ceilings = [
  { name: "the ceiling, wasm", ...ceiling, options: { device: "wasm" }, threads: 1 },
  { name: "the ceiling, WebGPU", ...ceiling, options: { device: "webgpu" }, gpu: true },
];

export const libraries = [...new Set(contenders.map(({ library }) => library))];

/** The module of another checkout of isoflat, beside this one's. */
const before = { library: "before", module: "/web/isoflat.mjs" };
export const beforehand = [
  { name: "before, CPU f32", ...before, options: { device: "cpu-f32", built: "/built/before/" }, threads: 1 },
  { name: "before, WebGPU", ...before, options: { device: "webgpu", built: "/built/before/" }, gpu: true },
];

/** What is timed; `plain` is the Hessian product without anything kept between products, where a library has both. */
export const operations = {
  gradient: "gradient",
  product: "Hessian product",
  plain: "Hessian product, plain",
  landscape: "landscape",
  ceiling: "a plain product of 512 × 512 matrices, four times",
};
