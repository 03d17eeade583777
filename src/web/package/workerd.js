/**
 * The package in Cloudflare's Workers: modules are compiled before a Worker starts, and bytes may not be. The engine there has relaxed
 * SIMD. With all three modules a Worker would be larger than a free one may be, so the one for files comes only if it is asked for.
 */

import whole from "./isoflat_relaxed_bg.wasm";
import { comeFrom } from "./sources.js";

comeFrom({
  whole: () => whole,
  files: async () => (await import("./isoflat_files_bg.wasm")).default,
});

export * from "./api.js";
export { default } from "./api.js";
