import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Without these a page has no shared memory, and the CPU executor one thread. Everything the page loads is its own. A server
 * that sends no headers serves the page as well.
 */
const headers = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

export default defineConfig({
  root: here("."),
  // Relative addresses: the built page works from any folder of any static server.
  base: "./",
  resolve: { alias: { isoflat: here("../pkg/isoflat.js") } },
  server: { headers, fs: { allow: [here(".."), here("../pkg")] } },
  preview: { headers },
  worker: { format: "es" },
  build: {
    outDir: here("../dist"),
    emptyOutDir: true,
    target: "es2022",
    // three.js alone is larger than the default limit; it is loaded only when a surface is drawn.
    chunkSizeWarningLimit: 800,
  },
});
