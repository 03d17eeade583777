/**
 * The package's second module, compiled with relaxed SIMD: there a product and a sum are one instruction. Engines without
 * it get the first module; the JavaScript around both is the same, and what loads them chooses (src/web/package/simd.js).
 */

import { join } from "node:path";
import { Failure, root } from "./process.mjs";

/** As in .cargo/config.toml, which they take the place of, but for the feature. */
const flags = [
  "-C target-feature=+simd128,+relaxed-simd",
  "-C codegen-units=1",
  "-C llvm-args=-inline-threshold=10",
  "-C llvm-args=-inlinehint-threshold=50",
  "-C llvm-args=-inlinecold-threshold=0",
];

/** Cargo's settings for it. It has a folder of its own, since other flags would have everything compiled anew each time. */
export const relaxedEnvironmentOf = (checkout) => ({
  RUSTFLAGS: flags.join(" "),
  CARGO_TARGET_DIR: join(checkout, "target", "relaxed"),
});

/** The same for this checkout. */
export const relaxedEnvironment = relaxedEnvironmentOf(root);

/** Fails unless both modules want the same JavaScript; comments in it number functions, which may differ. */
export function assertSame(glue, relaxedGlue) {
  const code = (text) => text.replace(/^\s*\/\/.*$/gm, "");
  if (code(glue) !== code(relaxedGlue)) throw new Failure("The module with relaxed SIMD wants other JavaScript.");
}
