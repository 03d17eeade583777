/** Trying environments one after the other, and the table of what came of it. */

import { seconds } from "../../../scripts/lib/process.mjs";

/**
 * One environment. Where it fails by the tool's own fault, `fault` is `{ says, because }`: what the tool says of it, and why, with the number
 * of the tool's issue. A fault that is mended, or another failure in its place, is a failure.
 */
async function attempt(name, work, fault) {
  const start = performance.now();
  let [said, state] = ["", "works"];
  try {
    said = await work();
    if (fault) [said, state] = [`it works by now, although ${fault.because}`, "FAILED"];
  } catch (error) {
    const isFault = fault?.says.test(error.message);
    [said, state] = isFault ? [fault.because, "tool's own fault"] : [error.message, "FAILED"];
  }
  const time = performance.now() - start;
  console.log(`${state === "FAILED" ? "✗" : "✓"} ${name}: ${state}, ${said} (${seconds(time)})`);
  return { name, state, said: said.split("\n")[0] };
}

/**
 * Environments as lists have them, one after the other in a project that `make` makes: what came of each. Tools that cannot be installed
 * are the failure of their own environments, and not of those that follow.
 */
export async function attempts(environments, make) {
  const rows = [];
  const project = make();
  for (const [name, work, fault] of environments) {
    rows.push(await attempt(name, async () => work(await project), fault));
  }
  return rows;
}

export function print(rows) {
  const width = Math.max(...rows.map(({ name }) => name.length));
  console.log(`\n${"environment".padEnd(width)}  import { Engine } from "isoflat"; await init()`);
  for (const { name, state, said } of rows) {
    console.log(`${name.padEnd(width)}  ${state}${state === "works" ? "" : `: ${said}`}`);
  }
  return rows.filter(({ state }) => state === "FAILED").length;
}
