/** What the tests need before the first of them: the built page, with its policy, and a smaller network for it to open with. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildArrival } from "../../scripts/arrival.mjs";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** The policy that the built page brings. */
export function policy() {
  const page = readFileSync(`${root}dist/index.html`, "utf8");
  return /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1].replaceAll("&#39;", "'");
}

/** Of a quarter of the parameters, as deep. */
const LITTLE = { kind: "widths", widths: [784, 16, 16, 10], bias: true };
export const littleArrival = join(root, "target", "little-arrival");

export default async function setUp() {
  if (!existsSync(`${root}dist/index.html`)) {
    throw new Error("dist/ is missing: build the page first (`npm test -- --only site`).");
  }
  if (policy() === undefined) throw new Error("dist/index.html has no Content-Security-Policy.");
  await buildArrival({ folder: littleArrival, network: LITTLE });
}
