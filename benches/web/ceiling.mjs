/**
 * What the machine can do: plain products of 512 × 512 matrices, in wasm SIMD and in WGSL, apart from any library. They take part in the
 * rounds as contenders do, since what a machine can do changes while others use it.
 */

import init, { plainProduct } from "/built/bench.js";

const N = 512;
const RUNS = 4;
const values = (phase) => Float32Array.from({ length: N * N }, (_, i) => Math.sin(0.37 * i + phase));

async function wasm() {
  await init();
  const [a, b] = [values(0), values(1)];
  let c;
  return {
    run: async () => {
      c = plainProduct(N, a, b);
    },
    read: async () => c,
  };
}

async function webgpu() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error("there is no WebGPU adapter");
  const device = await adapter.requestDevice();
  const code = await (await fetch("/web/ceiling.wgsl")).text();
  const pipeline = device.createComputePipeline({
    layout: "auto",
    compute: { module: device.createShaderModule({ code }) },
  });
  const { STORAGE, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
  const buffers = [values(0), values(1), new Float32Array(N * N)].map((data) => {
    const buffer = device.createBuffer({ size: data.byteLength, usage: STORAGE | COPY_DST | COPY_SRC });
    device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  });
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  async function readBack(size) {
    const staging = device.createBuffer({ size, usage: COPY_DST | MAP_READ });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffers[2], 0, staging, 0, size);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const read = new Float32Array(staging.getMappedRange().slice(0));
    staging.destroy();
    return read;
  }
  return {
    run: async () => {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(N / 64, N / 64);
      pass.end();
      device.queue.submit([encoder.finish()]);
      await readBack(16);
    },
    read: () => readBack(4 * N * N),
  };
}

/** The share of wrong elements would show in the relative error; a few rows are checked in f64. */
function errorOf(c) {
  const [a, b] = [values(0), values(1)];
  let [wrong, all] = [0, 0];
  for (const i of [0, 77, N - 1]) {
    for (let j = 0; j < N; j++) {
      let sum = 0;
      for (let k = 0; k < N; k++) sum += a[i * N + k] * b[k * N + j];
      wrong += (sum - c[i * N + j]) ** 2;
      all += sum * sum;
    }
  }
  return Math.sqrt(wrong / all);
}

const makers = { wasm, webgpu };

/** As contenders open, of no work; a run takes milliseconds, and several are one time. */
export async function open(_, { device }) {
  const { run, read } = await makers[device]();
  return {
    adapter: "",
    ceiling: async () => {
      for (let i = 0; i < RUNS; i++) await run();
    },
    flops: RUNS * 2 * N ** 3,
    error: async () => ({ error: errorOf(await read()) }),
  };
}
