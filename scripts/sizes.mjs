/** `npm run sizes`: what a browser fetches of the package in pkg/, in kB. Fails where a part has outgrown its budget. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Failure, fail, root } from "./lib/process.mjs";
import { outgrown, sizes } from "./lib/sizes.mjs";

const HELP = `npm run sizes

What a browser fetches of the package in pkg/, which "npm run build" makes, in kB. Ends with 1 if a part has outgrown its budget.`;

function main() {
  const { values } = parseArgs({ options: { help: { type: "boolean", short: "h" } } });
  if (values.help) return console.log(HELP);
  if (!existsSync(join(root, "pkg"))) throw new Failure('There is no package in pkg/ yet: "npm run build" makes it');
  const kB = (bytes) => (bytes / 1000).toFixed(0).padStart(7);
  console.log(`${"kB".padEnd(26)}      as is   gzip  brotli  budget of gzip`);
  const found = sizes();
  for (const { part, bytes, gzip, brotli, budget } of found)
    console.log(`${part.padEnd(26)} ${kB(bytes)} ${kB(gzip)} ${kB(brotli)} ${kB(budget)}`);
  const over = outgrown(found).map(({ part }) => part);
  if (over.length > 0) throw new Failure(`Larger than they may be (scripts/lib/sizes.mjs): ${over.join(", ")}`);
}

try {
  main();
} catch (error) {
  fail(error);
}
