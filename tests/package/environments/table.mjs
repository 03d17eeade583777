/** Trying environments one after the other, and the table of what came of it. */

import { seconds } from "../../../scripts/lib/process.mjs";

/** One environment; `fault` says why it is the tool's own fault where it fails. */
export async function attempt(name, work, fault) {
  const start = performance.now();
  let [said, state] = ["", "works"];
  try {
    said = await work();
    if (fault) [said, state] = [`it works although it should not: ${fault}`, "FAILED"];
  } catch (error) {
    [said, state] = fault ? [fault, "tool's fault"] : [error.message, "FAILED"];
    if (fault && process.env.DEBUG) console.error(error.message);
  }
  const time = performance.now() - start;
  console.log(`${state === "FAILED" ? "✗" : "✓"} ${name}: ${state}, ${said} (${seconds(time)})`);
  return { name, state, said: said.split("\n")[0] };
}

export function print(rows) {
  const width = Math.max(...rows.map(({ name }) => name.length));
  console.log(`\n${"environment".padEnd(width)}  import { Engine } from "isoflat"; await init()`);
  for (const { name, state, said } of rows) {
    console.log(`${name.padEnd(width)}  ${state}${state === "works" ? "" : `: ${said}`}`);
  }
  return rows.filter(({ state }) => state === "FAILED").length;
}
