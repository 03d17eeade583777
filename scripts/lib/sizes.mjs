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
  module: 1_136_000,
  "module, relaxed SIMD": 1_136_000,
  "module that reads files": 684_000,
  script: 38_000,
  "plots, without a drawing": 8_000,
  "plots, drawings": 30_000,
  "plots, three.js and the surface": 150_000,
};

const PARTS = {
  module: ["isoflat_bg.wasm"],
  "module, relaxed SIMD": ["isoflat_relaxed_bg.wasm"],
  "module that reads files": ["isoflat_files_bg.wasm"],
};

/** Not of the main module's own: texts for bundlers that move no files, the command line, and what reads files. */
const BESIDE = /_text\.js$|_command_|_files_|^(inline|workerd|builtin|files|read)\.js$/;

/** `isoflat/plots`: what a page loads at once, what with the first drawings, and what with the first surface. */
const plotsParts = () => {
  const names = readdirSync(join(root, "pkg", "plots")).filter((name) => name.endsWith(".js"));
  const surface = names.filter((name) => name.startsWith("scene-"));
  const entry = textOf("plots.js");
  const atOnce = names.filter((name) => name === "plots.js" || entry.includes(`from"./${name}"`));
  const drawings = names.filter((name) => !surface.includes(name) && !atOnce.includes(name));
  const within = (part) => part.map((name) => join("plots", name));
  return {
    "plots, without a drawing": within(atOnce),
    "plots, drawings": within(drawings),
    "plots, three.js and the surface": within(surface),
  };
};

const textOf = (name) => readFileSync(join(root, "pkg", "plots", name), "utf8");

/** For each part its bytes as they are, after gzip and after brotli. */
export function sizes() {
  const pkg = join(root, "pkg");
  const script = readdirSync(pkg).filter((name) => name.endsWith(".js") && !BESIDE.test(name));
  return Object.entries({ ...PARTS, script, ...plotsParts() }).map(([part, names]) => {
    const bytes = Buffer.concat(names.map((name) => readFileSync(join(pkg, name))));
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
    const [gzip, brotli] = [gzipSync(bytes, { level: 9 }).length, brotliCompressSync(bytes, quality).length];
    return { part, bytes: bytes.length, gzip, brotli, budget: BUDGET[part] };
  });
}

/** Those of the parts that have more than they may. */
export const outgrown = (parts) => parts.filter(({ gzip, budget }) => gzip > budget);
