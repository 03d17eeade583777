/** The worker of isoflat-threads.mjs: the contender of isoflat.mjs, asked by messages. */

import { open } from "./isoflat.mjs";

let contender;

async function answer(method, values) {
  if (method !== "open") return contender[method](...values);
  contender = await open(...values);
  const threads = values[1].threads;
  if (!contender.adapter.includes(`${threads} threads`))
    throw new Error(`not ${threads} threads: ${contender.adapter}`);
  return contender.adapter;
}

self.onmessage = async ({ data: { method, values } }) => {
  try {
    postMessage({ value: await answer(method, values) });
  } catch (error) {
    postMessage({ error: error.message });
  }
};
