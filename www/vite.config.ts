import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import temml from "temml";
import { defineConfig, type Plugin } from "vite";
import { offline } from "./build/offline.ts";
import { FORMULAS, piecesOf, SYMBOLS } from "./src/formulas.ts";
import { ISOLATION } from "./src/offline/files.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Without these a page has no shared memory, and the CPU executor one thread. Everything the page loads is its own. A server
 * that sends no headers serves the page as well.
 */
const headers = { ...ISOLATION };

/**
 * What the page may do: load what is its own, compile WebAssembly, and start workers, those of the engine's threads from a blob.
 * Styles of its own are set on elements by the charts.
 */
const policy = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self' blob:",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** The policy in the built page, so that it holds on servers that send no headers; the development server injects scripts. */
const withPolicy: Plugin = {
  name: "content-security-policy",
  apply: "build",
  transformIndexHtml: () => [
    { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: policy }, injectTo: "head-prepend" },
  ],
};

/** What the browser's own frame is coloured like, before there is a style sheet: theme.css says it. */
const frameColours: Plugin = {
  name: "frame-colours",
  transformIndexHtml(html) {
    const css = readFileSync(here("src/style/theme.css"), "utf8");
    const [, light = "", dark = ""] = /--paper: light-dark\((#\w+), (#\w+)\)/.exec(css) ?? [];
    if (!light || !dark) throw new Error("theme.css says no --paper of two themes");
    return html.replace("%paper-light%", light).replace("%paper-dark%", dark);
  },
};

/** MathML of the formulas' TeX, made here: what reads TeX is larger than all the formulas of a page. */
const formulas: Plugin = {
  name: "formulas",
  resolveId: (id) => (id === "virtual:formulas" ? `\0${id}` : null),
  load(id) {
    if (id !== "\0virtual:formulas") return null;
    const mathml = (tex: string, displayMode: boolean): string =>
      temml.renderToString(tex, { displayMode, throwOnError: true });
    const measures = Object.entries(FORMULAS).map(([key, { tex }]) => [
      key,
      piecesOf(tex).map((tex) => mathml(tex, true)),
    ]);
    const symbols = Object.entries(SYMBOLS).map(([key, [tex]]) => [key, mathml(tex, false)]);
    const exported = (name: string, entries: unknown[][]): string =>
      `export const ${name} = ${JSON.stringify(Object.fromEntries(entries))};`;
    return `${exported("measures", measures)}\n${exported("symbols", symbols)}`;
  },
};

/** `/docs` as people type it: without the slash relative links would lead elsewhere, and this server would answer with the lab. */
const docsFolder: Plugin = {
  name: "docs-folder",
  configurePreviewServer: ({ middlewares }) =>
    void middlewares.use((request, response, next) => {
      if (!/^\/docs(\?|$)/.test(request.url ?? "")) return next();
      response.writeHead(302, { Location: "/docs/" }).end();
    }),
};

export default defineConfig({
  plugins: [withPolicy, frameColours, formulas, docsFolder, ...offline],
  root: here("."),
  // Relative addresses: the built page works from any folder of any static server.
  base: "./",
  resolve: { alias: { isoflat: here("../pkg/isoflat.js") } },
  server: { headers, fs: { allow: [here(".."), here("../pkg")] } },
  preview: { headers: { ...headers, "Content-Security-Policy": policy } },
  worker: { format: "es" },
  build: {
    outDir: here("../dist"),
    emptyOutDir: true,
    target: "es2022",
    // The policy lets pages fetch what is their own: small results are files too.
    assetsInlineLimit: (path) => (path.endsWith(".json") ? false : undefined),
    // three.js alone is larger than the default limit; it is loaded only when a surface is drawn.
    chunkSizeWarningLimit: 800,
  },
});
