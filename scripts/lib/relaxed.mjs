/**
 * The package's second module, compiled with relaxed SIMD: there a product and a sum are one instruction. Engines without
 * it get the first module; the JavaScript around both is the same, and what loads them chooses (src/web/package/simd.js).
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Failure, root } from "./process.mjs";

/** The flags of .cargo/config.toml, whose place these take, with one feature more. */
function relaxedFlags() {
  const text = readFileSync(join(root, ".cargo", "config.toml"), "utf8");
  const [, list = ""] = /^rustflags = \[([^\]]*)\]/m.exec(text) ?? [];
  const flags = [...list.matchAll(/"([^"]*)"/g)].map(([, flag]) => flag).join(" ");
  const relaxed = flags.replace("+simd128", "+simd128,+relaxed-simd");
  if (relaxed === flags) throw new Failure(".cargo/config.toml has no flags with +simd128.");
  return relaxed;
}

/** Cargo's settings for it. It has a folder of its own, since other flags would have everything compiled anew each time. */
export const relaxedEnvironmentOf = (checkout) => ({
  RUSTFLAGS: relaxedFlags(),
  CARGO_TARGET_DIR: join(checkout, "target", "relaxed"),
});

/** The same for this checkout. */
export const relaxedEnvironment = () => relaxedEnvironmentOf(root);

/** Fails unless both modules want the same JavaScript; comments in it number functions, which may differ. */
export function assertSame(glue, relaxedGlue) {
  const code = (text) => text.replace(/^\s*\/\/.*$/gm, "");
  if (code(glue) !== code(relaxedGlue)) throw new Failure("The module with relaxed SIMD wants other JavaScript.");
}
