/** The process that cases run in: one at a time, as the parent sends them; what escapes from a case is reported with it. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Host, watchMemory } from "./host.mjs";
import { useGolden } from "./kinds/files.mjs";

const [, , root] = process.argv;
const memory = watchMemory();
const isoflat = await import(pathToFileURL(join(root, "pkg", "isoflat.js")));
await isoflat.default({ module_or_path: readFileSync(join(root, "pkg", "isoflat_bg.wasm")) });
const golden = join(root, "tests", "golden");
useGolden(readdirSync(golden).map((name) => JSON.parse(readFileSync(join(golden, name), "utf8"))));
const host = new Host(isoflat, memory);

let escaped = [];
const keep = (how) => (error) => {
  const own = /the caller's own/.test(error?.message);
  if (escaped.length < 5)
    escaped.push({ failure: how, detail: `${error?.name}: ${error?.message}`, where: own ? "the caller's own" : "" });
};
process.on("uncaughtException", keep("uncaught"));
process.on("unhandledRejection", keep("unhandled"));

process.on("message", async ({ id, test }) => {
  escaped = [];
  let found;
  try {
    found = await host.run(test);
    // What is rejected without a listener is known a turn later.
    await new Promise((resolve) => setImmediate(resolve));
  } catch (error) {
    found = { faults: [{ failure: "harness", detail: `${error?.stack ?? error}`, where: "harness" }], calls: 0 };
  }
  found.faults.push(...escaped);
  process.send({ id, found });
});
process.on("disconnect", () => process.exit(0));
process.send({ ready: true, bytes: memory() });
