/**
 * The program of an engine's worker, as a section of the module that it runs: whoever has loaded the module has it, so no bundler need find
 * a file. src/web/package/spawn.js reads it.
 */

import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const NAME = "isoflat worker";
const HEADER = 8;

/** An unsigned number as WebAssembly writes it: seven bits a byte, the lowest first. */
function leb(number) {
  const bytes = [];
  for (let rest = number; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

/** Such a number at a place, and the place behind it. */
function readLeb(bytes, at) {
  let [value, scale, end] = [0, 1, at];
  for (;;) {
    const byte = bytes[end++];
    value += (byte % 128) * scale;
    if (byte < 128) return [value, end];
    scale *= 128;
  }
}

/** A module without its custom sections of that name. */
export function withoutSection(bytes, name) {
  const kept = [bytes.subarray(0, HEADER)];
  for (let at = HEADER; at < bytes.length; ) {
    const [size, begin] = readLeb(bytes, at + 1);
    const [length, text] = readLeb(bytes, begin);
    const isIt = bytes[at] === 0 && bytes.subarray(text, text + length).toString() === name;
    if (!isIt) kept.push(bytes.subarray(at, begin + size));
    at = begin + size;
  }
  return Buffer.concat(kept);
}

/** A module with one custom section of that name, its last. */
export function withSection(bytes, name, text) {
  const title = Buffer.from(name);
  const content = Buffer.concat([leb(title.length), title, Buffer.from(text)]);
  return Buffer.concat([withoutSection(bytes, name), Buffer.from([0]), leb(content.length), content]);
}

/** `worker.js` of the package in this folder, with all that it imports, as one script that no surroundings refuse. */
async function programOf(folder) {
  // It is there only when the package's tools are installed, which is not when this script is read.
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(folder, "worker.js")],
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
    minify: true,
    // Names are in messages.
    keepNames: true,
    logLevel: "warning",
  });
  return outputFiles[0].text;
}

/** Puts the program into modules of this folder, which stay as old as they are: what they are compiled of is. */
export async function addProgram(folder, modules) {
  const program = await programOf(folder);
  for (const module of modules) {
    const [bytes, { atime, mtime }] = [readFileSync(module), statSync(module)];
    const whole = withSection(bytes, NAME, program);
    if (whole.equals(bytes)) continue;
    writeFileSync(module, whole);
    utimesSync(module, atime, mtime);
  }
}
