/** The documentation that the site carries: made when what it is made of has changed. */

import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, runNode } from "./process.mjs";

const made = join(root, "target", "docs");
const stamp = join(root, "target", "docs.sha256");

/** Files below a path, that of a file too; not what npm has installed there. */
function filesBelow(path) {
  const entries = readdirSync(path, { withFileTypes: true }).filter(({ name }) => name !== "node_modules");
  return entries.flatMap((entry) => {
    const place = join(path, entry.name);
    return entry.isDirectory() ? filesBelow(place) : [place];
  });
}

/** By content: the package's types are written anew whenever it is looked after. */
function digest() {
  const sources = [
    ...filesBelow(join(root, "docs", "guides")),
    ...filesBelow(join(root, "docs", "site")),
    ...["isoflat.d.ts", "files.d.ts"].map((name) => join(root, "pkg", name)),
    ...filesBelow(join(root, "pkg", "plots")),
    join(root, "www", "src", "style", "theme.css"),
    join(root, "package-lock.json"),
  ];
  const hash = createHash("sha256");
  for (const source of sources) hash.update(source).update("\0").update(readFileSync(source)).update("\0");
  return hash.digest("hex");
}

/** Into target/docs/; says whether there was something to do. */
export async function makeDocs() {
  const now = digest();
  if (existsSync(made) && existsSync(stamp) && readFileSync(stamp, "utf8") === now) return false;
  rmSync(stamp, { force: true });
  await runNode("docs/site/build.mjs", [made]);
  writeFileSync(stamp, now);
  return true;
}

/** What was made, into the site's folder. */
export function copyDocs(site) {
  rmSync(join(site, "docs"), { recursive: true, force: true });
  cpSync(made, join(site, "docs"), { recursive: true });
}
