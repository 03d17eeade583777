/** Reading the bytes of a module: from a file, from an address, or from a text that the package's JavaScript carries. */

import { builtin } from "./builtin.js";

const MAGIC = [0, 97, 115, 109];
const isModule = (bytes) => MAGIC.every((byte, i) => bytes[i] === byte);

/** What lies at an address. Development servers answer with a page for what they do not find, and call it a success. */
async function fetched(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address} answers with status ${response.status}`);
  // Compiled while it comes.
  if (response.headers.get("Content-Type")?.startsWith("application/wasm")) return response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (isModule(bytes)) return bytes;
  throw new Error(`${address} is no WebAssembly module`);
}

/** The bytes of a file by its address, where there are files; undefined of every other address. */
export function ofFile(address) {
  const files = builtin("node:fs");
  if (!files || !/^file:/i.test(String(address))) return undefined;
  return files.promises.readFile(new URL(address));
}

const found = async (address) => (await ofFile(address)) ?? (await fetched(address));

/** What scripts/lib/texts.mjs made of a module: base64 of its gzipped bytes. */
async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const zlib = builtin("node:zlib");
  if (zlib) return zlib.gunzipSync(packed);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A module that the JavaScript carries; `imported` is an ES module whose default export is the text. */
export const carried = async (imported) => unpacked((await imported).default);

/**
 * A module that lies beside the JavaScript at `address()`. Where it does not, since a bundler has not moved it, or where there are no
 * addresses, `carrier()` imports it as a text.
 */
export async function beside(address, carrier) {
  try {
    return await found(address());
  } catch (error) {
    try {
      return await carried(carrier());
    } catch {
      // That there is no file is what one can do something about.
      throw error;
    }
  }
}
