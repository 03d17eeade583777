/**
 * The package's second module, compiled with relaxed SIMD: there a product and a sum are one instruction. Engines without
 * it get the first module; the JavaScript around both is the same, and chooses when it is initialised.
 */

import { join } from "node:path";
import { Failure, root } from "./process.mjs";

/** Cargo's settings for it. It has a folder of its own, since other flags would have everything compiled anew each time. */
export const relaxedEnvironmentOf = (checkout) => ({
  RUSTFLAGS: "-C target-feature=+simd128,+relaxed-simd",
  CARGO_TARGET_DIR: join(checkout, "target", "relaxed"),
});

/** The same for this checkout. */
export const relaxedEnvironment = relaxedEnvironmentOf(root);

/** The smallest module with a fused multiply-add: where it is valid, so is ours. */
const probe = [
  [0, 97, 115, 109, 1, 0, 0, 0],
  [1, 5, 1, 96, 0, 1, 123],
  [3, 2, 1, 0],
  [10, 19, 1, 17, 0, 65, 0, 253, 15, 65, 0, 253, 15, 65, 0, 253, 15, 253, 133, 2, 11],
].flat();

const line = "module_or_path = new URL('isoflat_bg.wasm', import.meta.url);";

/** isoflat.js with the choice in it. Both addresses are whole, as bundlers look for them. */
export function withChoice(glue) {
  if (glue.split(line).length !== 2)
    throw new Failure("wasm-bindgen's JavaScript loads its module in another way now.");
  return glue.replace(
    line,
    `// With relaxed SIMD where there is any.
        module_or_path = WebAssembly.validate(new Uint8Array([${probe.join(", ")}]))
            ? new URL('isoflat_relaxed_bg.wasm', import.meta.url)
            : new URL('isoflat_bg.wasm', import.meta.url);`,
  );
}

/** Fails unless both modules want the same JavaScript; comments in it number functions, which may differ. */
export function assertSame(glue, relaxedGlue) {
  const code = (text) => text.replace(/^\s*\/\/.*$/gm, "");
  if (code(glue) !== code(relaxedGlue)) throw new Failure("The module with relaxed SIMD wants other JavaScript.");
}
