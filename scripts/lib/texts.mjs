/** Modules as JavaScript: for bundlers that move no files, and for the package's entry that is JavaScript alone. */

import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { gzipSync } from "node:zlib";

const placeOf = (module) => module.replace(/_bg\.wasm$/, "_text.js");

/** `NAME_bg.wasm` as `NAME_text.js`, whose default export src/web/package/load.js unpacks; nothing where it is of these bytes. */
export function writeText(module) {
  const [place, bytes] = [placeOf(module), readFileSync(module)];
  const digest = createHash("sha256").update(bytes).digest("hex");
  const title = `// ${basename(module)}, gzipped, in base64; its bytes have the SHA-256 ${digest}.\n`;
  if (existsSync(place) && readFileSync(place, "utf8").startsWith(title)) return;
  writeFileSync(place, `${title}export default "${gzipSync(bytes, { level: 9 }).toString("base64")}";\n`);
}
