import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  // Relative addresses: the built page works from any folder of any static server.
  base: "./",
  resolve: { alias: { isoflat: here("../pkg/isoflat.js") } },
  server: { fs: { allow: [here(".."), here("../pkg")] } },
  worker: { format: "es" },
  build: {
    outDir: here("../dist"),
    emptyOutDir: true,
    target: "es2022",
    // three.js alone is larger than the default limit; it is loaded only when a surface is drawn.
    chunkSizeWarningLimit: 800,
  },
});
