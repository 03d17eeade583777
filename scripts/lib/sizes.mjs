/** What a browser fetches of the package, and how much that may be. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { root } from "./process.mjs";

/**
 * Bytes after gzip that the parts may have: as many as they had when that was last looked into, and a fiftieth for the compiler's moods.
 * What makes one larger says why here, in the commit that does.
 */
export const BUDGET = {
  module: 1_330_000,
  "module, relaxed SIMD": 1_330_000,
  "module that reads files": 720_000,
  script: 36_000,
};

const PARTS = {
  module: ["isoflat_bg.wasm"],
  "module, relaxed SIMD": ["isoflat_relaxed_bg.wasm"],
  "module that reads files": ["isoflat_files_bg.wasm"],
};

/** Not of the main module's own: texts for bundlers that move no files, the command line, and what reads files. */
const BESIDE = /_text\.js$|_command_|_files_|^(inline|workerd|builtin|files|read)\.js$/;

/** For each part its bytes as they are, after gzip and after brotli. */
export function sizes() {
  const pkg = join(root, "pkg");
  const script = readdirSync(pkg).filter((name) => name.endsWith(".js") && !BESIDE.test(name));
  return Object.entries({ ...PARTS, script }).map(([part, names]) => {
    const bytes = Buffer.concat(names.map((name) => readFileSync(join(pkg, name))));
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
    const [gzip, brotli] = [gzipSync(bytes, { level: 9 }).length, brotliCompressSync(bytes, quality).length];
    return { part, bytes: bytes.length, gzip, brotli, budget: BUDGET[part] };
  });
}

/** Those of the parts that have more than they may. */
export const outgrown = (parts) => parts.filter(({ gzip, budget }) => gzip > budget);
