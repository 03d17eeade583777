/**
 * Modules that lie beside this file. Bundlers know them by `new URL(…, import.meta.url)`, and put them where that leads: webpack, Vite,
 * Parcel and Turbopack do. esbuild, Rollup and Bun move nothing, and Vite 5 to 7 forget them in the cache of their
 * development servers: there the texts are imported, which are chunks that nobody else fetches.
 *
 * Vite's builds for browsers (`import.meta.env`) never need texts, and may have none: up to Vite 7 a worker there must not import
 * anything while it runs. Next says the same of itself, but has addresses on its server that can be fetched only from elsewhere.
 * Bundlers look for these words as they stand: each module has its address and its condition written out.
 */

import { beside } from "./load.js";
import { hasRelaxedSimd } from "./simd.js";

const none = () => undefined;

const plain = () =>
  beside(
    () => new URL("./isoflat_bg.wasm", import.meta.url),
    import.meta.env?.PROD && !import.meta.env?.SSR ? none : () => import("./isoflat_text.js"),
  );

const relaxed = () =>
  beside(
    () => new URL("./isoflat_relaxed_bg.wasm", import.meta.url),
    import.meta.env?.PROD && !import.meta.env?.SSR ? none : () => import("./isoflat_relaxed_text.js"),
  );

export const whole = () => (hasRelaxedSimd() ? relaxed() : plain());

export const files = () =>
  beside(
    () => new URL("./isoflat_files_bg.wasm", import.meta.url),
    import.meta.env?.PROD && !import.meta.env?.SSR ? none : () => import("./isoflat_files_text.js"),
  );
