/** Runs cases in a page's worker. */

import { Host, watchMemory } from "../host.mjs";

const memory = watchMemory();
const isoflat = await import("/pkg/isoflat.js");
await isoflat.default();
const host = new Host(isoflat, memory);

let escaped = [];
const keep = (failure) => (event) => {
  const error = event.reason ?? event.error;
  event.preventDefault();
  escaped.push({ failure, detail: `${error?.name}: ${error?.message ?? event.message}`, where: "" });
};
self.addEventListener("error", keep("uncaught"));
self.addEventListener("unhandledrejection", keep("unhandled"));

self.onmessage = async ({ data: test }) => {
  escaped = [];
  let found;
  try {
    found = await host.run(test);
    await new Promise((resolve) => setTimeout(resolve));
  } catch (error) {
    found = { faults: [{ failure: "harness", detail: `${error?.stack ?? error}`, where: "harness" }], calls: 0 };
  }
  found.faults.push(...escaped);
  postMessage(found);
};
postMessage({ ready: true });
