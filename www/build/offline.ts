/** The service worker of the built page, with the list of what it keeps; and what takes it away where the page is developed. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { build, type Connect, type Plugin } from "vite";

const NAME = "sw.js";
const source = fileURLToPath(new URL("../src/offline/worker.ts", import.meta.url));

const sha256 = (bytes: Uint8Array, encoding: "base64" | "hex"): string =>
  createHash("sha256").update(bytes).digest(encoding);

/** Every file of the built page. What is in assets/ has its content in its name. */
function filesOf(folder: string): { url: string; revision: string | null; integrity: string }[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll(sep, "/"),
    );
  return names
    .filter((url) => url !== NAME)
    .sort()
    .map((url) => {
      const bytes = readFileSync(join(folder, url));
      // Servers may undo a gzip themselves: either is the file.
      const forms = url.endsWith(".gz") ? [bytes, gunzipSync(bytes)] : [bytes];
      return {
        url,
        revision: url.startsWith("assets/") ? null : sha256(bytes, "hex").slice(0, 16),
        integrity: forms.map((form) => `sha256-${sha256(form, "base64")}`).join(" "),
      };
    });
}

const written: Plugin = {
  name: "offline",
  apply: "build",
  async writeBundle({ dir }) {
    if (!dir) throw new Error("the page is built into no folder");
    const result = await build({
      configFile: false,
      logLevel: "error",
      publicDir: false,
      define: {
        OFFLINE_FILES: JSON.stringify(filesOf(dir)),
        "process.env.NODE_ENV": JSON.stringify("production"),
      },
      build: {
        write: false,
        target: "es2022",
        lib: { entry: source, formats: ["iife"], name: "worker", fileName: () => NAME },
      },
    });
    const [first] = Array.isArray(result) ? result : [result];
    if (!first || !("output" in first)) throw new Error("the service worker was not built");
    writeFileSync(join(dir, NAME), first.output[0].code);
  },
};

/** What a build has left at this address is of another day than what is worked at: it goes, and pages that it has served load anew. */
const REMOVES = `
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith("isoflat-")) await caches.delete(name);
  const pages = await clients.matchAll({ type: "window" });
  await registration.unregister();
  for (const page of pages) await page.navigate(page.url);
})()));
`;

const remove: Connect.NextHandleFunction = (request, response, next) => {
  if (!/\/sw\.js(\?|$)/.test(request.url ?? "")) return next();
  response.setHeader("Content-Type", "text/javascript");
  response.setHeader("Cache-Control", "no-store");
  response.end(REMOVES);
};

const removed: Plugin = {
  name: "offline-removed",
  apply: "serve",
  configureServer: ({ middlewares }) => void middlewares.use(remove),
  configurePreviewServer: ({ middlewares }) => void middlewares.use(remove),
};

export const offline: Plugin[] = [written, removed];
