/**
 * The JavaScript that wasm-bindgen makes, as the package uses it: a function that makes an instance with a state of its own, so that
 * a module that has crashed can be made again beside what is left of the old one, with a guard around what it calls, and without an
 * address of the module: where that is, the package's entries know.
 */

import { Failure } from "./process.mjs";

/** Replaces what must be there exactly once. */
function replaced(text, from, to) {
  if (text.split(from).length !== 2) {
    throw new Failure(`wasm-bindgen's JavaScript is another one now: it has not "${from}" once.`);
  }
  return text.replace(from, () => to);
}

/** What wasm-bindgen loads where it is told nothing. Bundlers would find a file in it that nobody asks for. */
const address = /new URL\('\w+_bg\.wasm', import\.meta\.url\)/;

/**
 * `createGlue(guard)` for wasm-bindgen's `--target web` module: `guard` is given the exports and returns those to call. One of them
 * is `expected`.
 */
export function asFactory(glue, expected) {
  const names = [...glue.matchAll(/^export (?:class|function) (\w+)/gm)].map(([, name]) => name);
  if (!names.includes(expected)) throw new Failure("wasm-bindgen's JavaScript exports other things now.");
  let body = glue.replace(/^export (?=class|function)/gm, "").replace(/^\/\* @ts-self-types.*\n/, "");
  body = replaced(body, "export { initSync, __wbg_init as default };", "");
  body = replaced(body, "wasm = instance.exports;", "wasm = guard(instance.exports);");
  body = replaced(body, address.exec(body)?.[0] ?? "an address", "undefined");
  const returned = [...names, "initSync", "init: __wbg_init", "compiled: () => wasmModule"].join(", ");
  return `// Made by wasm-bindgen, and wrapped in a function by scripts/lib/glue.mjs.
import { TextDecoder, TextEncoder } from "./text.js";

export function createGlue(guard) {
${body}
return { ${returned} };
}
`;
}
