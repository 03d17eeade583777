/** What the tests need before the first of them: the built page, with its policy. */

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** The policy that the built page brings. */
export function policy() {
  const page = readFileSync(`${root}dist/index.html`, "utf8");
  return /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1].replaceAll("&#39;", "'");
}

export default function setUp() {
  if (!existsSync(`${root}dist/index.html`)) {
    throw new Error("dist/ is missing: build the page first (`npm test -- --only site`).");
  }
  if (policy() === undefined) throw new Error("dist/index.html has no Content-Security-Policy.");
}
