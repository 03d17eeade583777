/** An engine's worker, as a program would write one. Runs what it is sent, with the package at hand. */

import init, * as isoflat from "/pkg/isoflat.js";
import * as bodies from "./bodies.mjs";

const known = new Map(Object.entries(bodies));
const loaded = init();

self.onmessage = async ({ data: { body, argument } }) => {
  try {
    await loaded;
    postMessage({ value: await known.get(body)(isoflat, argument) });
  } catch (error) {
    postMessage({ error: `${error.code ?? error.name}: ${error.message}` });
  }
};
