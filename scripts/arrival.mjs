/**
 * The network that the page opens with, and what the stage shows of it, in www/public/arrival/: trained from a seed by the page's
 * own code, in Node. Nothing of this is committed.
 */

import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { newest } from "./lib/newest.mjs";
import { Failure, fail, isMain, root, step } from "./lib/process.mjs";
import { buildMnist } from "./mnist.mjs";

const ARRIVAL = join(root, "www", "public", "arrival");
const module = join(root, "pkg", "isoflat_bg.wasm");
/** What decides what is trained, looked at and said of it: the lab's own operations, and the engine. */
const sources = [
  module,
  ...["arrival", "worker", "bends.ts", "completion.ts", "gauges.ts", "networks.ts", "transformations.ts"].map((name) =>
    join(root, "www", "src", name),
  ),
];

const isThere = (files) => {
  const changed = Math.max(...sources.map((path) => newest(path)));
  return files.every((path) => existsSync(path) && statSync(path).mtimeMs > changed);
};

/** The lab fetches its data; here they are files. */
async function withFiles(body) {
  const { fetch } = globalThis;
  globalThis.fetch = async (address, ...rest) => {
    const url = new URL(address);
    return url.protocol === "file:" ? new Response(await readFile(fileURLToPath(url))) : fetch(address, ...rest);
  };
  try {
    return await body();
  } finally {
    globalThis.fetch = fetch;
  }
}

/** `network`: another one than the page's own, in a folder of its own. */
export async function buildArrival({ folder = ARRIVAL, network } = {}) {
  const files = ["stage.json", "weights.f32"].map((name) => join(folder, name));
  await step(network ? "a smaller network, for the page's tests" : "the network that the page opens with", async () => {
    if (!existsSync(module)) throw new Failure("pkg/ has no module: run `npm run build`.");
    if (isThere(files)) return "up to date";
    // Vite is there only when the set-up is done.
    const { createServer } = await import("vite");
    const server = await createServer({
      configFile: join(root, "www", "vite.config.ts"),
      server: { middlewareMode: true, hmr: false, ws: false },
      optimizeDeps: { noDiscovery: true },
      appType: "custom",
      logLevel: "error",
    });
    try {
      const { make } = await server.ssrLoadModule("/src/arrival/make.ts");
      const mnist = pathToFileURL(join(root, "www", "public", "mnist/")).href;
      const { text, weights } = await withFiles(() => make(readFileSync(module), mnist, network));
      mkdirSync(folder, { recursive: true });
      writeFileSync(files[0], text);
      writeFileSync(files[1], weights);
      return `${((text.length + weights.byteLength) / 1e3).toFixed(0)} kB written to ${relative(root, folder)}`;
    } finally {
      await server.close();
    }
  });
}

async function main() {
  await buildMnist();
  await buildArrival();
}

if (isMain(import.meta)) await main().catch(fail);
