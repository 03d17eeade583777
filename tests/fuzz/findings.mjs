/** What was found: one file for each kind of failure in target/fuzz/, with the command that runs its case again. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/lib/process.mjs";
import { signature } from "./oracle.mjs";
import { hash } from "./random.mjs";

export const folder = join(root, "target", "fuzz");

export class Findings {
  #known = new Map();

  /** How many kinds of failure. */
  get size() {
    return this.#known.size;
  }

  /** Failures of a case that were not known; known ones are counted. */
  fresh(target, test, faults) {
    const unknown = [];
    for (const fault of faults) {
      const key = `${target} | ${signature({ kind: test.kind, ...fault })}`;
      const known = this.#known.get(key);
      if (known !== undefined) known.times++;
      else {
        this.#known.set(key, { key, fault, times: 1 });
        unknown.push({ key, fault });
      }
    }
    return unknown;
  }

  /** Writes a failing case, and says how it is run again. */
  write({ key, fault }, target, test, { seed, index }) {
    mkdirSync(folder, { recursive: true });
    const name = `${target}-${test.kind}-${fault.failure}-${hash(key).toString(16).padStart(8, "0")}.json`;
    const path = join(folder, name);
    const found = { target, key, fault, seed, index };
    try {
      writeFileSync(path, `${JSON.stringify({ ...found, test }, null, 1)}\n`);
    } catch {
      // Too long for a text; its seed and its place in the order make it again.
      writeFileSync(path, `${JSON.stringify(found, null, 1)}\n`);
      return `npm run fuzz -- --target ${target} --seed "${seed}", case ${index}`;
    }
    return `npm run fuzz -- --case target/fuzz/${name}`;
  }

  /** All kinds of failure, the most frequent first. */
  list() {
    return [...this.#known.values()].sort((a, b) => b.times - a.times);
  }
}
