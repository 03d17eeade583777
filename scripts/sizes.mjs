/** `npm run sizes`: what a browser fetches of the package in pkg/, in kB. Fails where a part has outgrown its budget. */

import { Failure, fail } from "./lib/process.mjs";
import { outgrown, sizes } from "./lib/sizes.mjs";

function main() {
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
