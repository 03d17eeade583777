/** What isoflat.d.ts declares is there, and nothing else. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import * as isoflat from "isoflat";

const read = (name) => readFile(fileURLToPath(new URL(name, import.meta.resolve("isoflat/isoflat_bg.wasm"))), "utf8");
const declarations = (await Promise.all(["isoflat.d.ts", "files.d.ts"].map(read))).join("\n");

const exported = [...declarations.matchAll(/^export (default )?(?:class|function) (\w+)/gm)];
const names = exported.map(([, isDefault, name]) => (isDefault ? "default" : name));
assert.deepEqual(Object.keys(isoflat).sort(), names.sort());

/** Names of a class' members in the declarations. */
function membersOf(name) {
  const [, body] = new RegExp(`^export class ${name}[^{]*\\{\\n([\\s\\S]*?)^\\}`, "m").exec(declarations);
  // Members stand at the first indent; the rest of a longer one stands further in.
  const members = body.matchAll(/^ {2}(?:private )?(static )?(?:readonly )?(\[Symbol\.dispose\]|\w+)[(:]/gm);
  return [...members].map(([, isStatic, member]) => `${isStatic ?? ""}${member}`);
}

/** Names of a class' members as they are, those it inherits from Handle among them. */
function foundIn(Class) {
  const found = new Set(["constructor"]);
  for (let prototype = Class.prototype; prototype.constructor !== Error; prototype = Object.getPrototypeOf(prototype)) {
    if (prototype === Object.prototype) break;
    for (const key of Reflect.ownKeys(prototype)) found.add(key === Symbol.dispose ? "[Symbol.dispose]" : key);
  }
  for (const key of Object.getOwnPropertyNames(Class)) {
    if (!["length", "name", "prototype"].includes(key)) found.add(`static ${key}`);
  }
  return found;
}

for (const Class of [isoflat.Network, isoflat.Problem, isoflat.ParameterSpace, isoflat.Engine]) {
  const declared = membersOf(Class.name).filter((member) => member !== "[Symbol.dispose]" || Symbol.dispose);
  assert.deepEqual([...foundIn(Class)].sort(), declared.sort(), Class.name);
}
// What results hold, results.mjs holds against the types: these two would take anything.
assert.doesNotMatch(declarations, /: unknown|, unknown|\[\w+: string\]/);
console.log("what is declared is there");
