/** `npm run bench`: sets up and runs the benchmarks of benches/ in one go, so that their ratios mean something. */

import { fail, run } from "./lib/process.mjs";
import { setUp } from "./setup.mjs";

await setUp()
  .then(() => run("cargo", ["bench", ...process.argv.slice(2)]))
  .catch(fail);
