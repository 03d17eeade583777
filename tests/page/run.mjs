/**
 * The page in a browser, driven as a person would, by Playwright's test runner. `--only webgpu,cpu` runs some of the projects in
 * playwright.config.mjs (all of them without it, two tests at a time, and then those alone
 * whose times are measured), `--only firefox` the one that is not in Chrome, `--only large` what takes long, `--grep undo` the tests
 * with such names. `--update` takes the pictures of looks/ anew where they differ; `--screenshots` writes the README's pictures. Needs the built page in dist/ and the package in pkg/. What failed leaves a trace in target/page/.
 */

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fail, list, runNode } from "../../scripts/lib/process.mjs";
import config from "./playwright.config.mjs";
import { shrink } from "./shrink.mjs";

const usual = config.projects.map(({ name }) => name);
const known = usual.concat("firefox", "large", "pictures");

async function main() {
  const { values } = parseArgs({
    options: {
      screenshots: { type: "boolean" },
      update: { type: "boolean" },
      only: { type: "string" },
      grep: { type: "string" },
    },
  });
  const always = values.screenshots ? "pictures" : values.update ? "looks" : values.only;
  const only = always && list(always, known, "project");
  const args = ["test", "--config", "tests/page/playwright.config.mjs"];
  if (values.update) args.push("--update-snapshots=changed", "--grep", "to the point");
  if (values.grep) args.push("--grep", values.grep);
  const projects = only ?? usual;
  const rounds = values.grep
    ? [projects]
    : [projects.filter((name) => name !== "timed"), projects.filter((name) => name === "timed")];
  const failures = [];
  try {
    for (const round of rounds.filter((names) => names.length > 0)) {
      const env = { ISOFLAT_PROJECTS: round.join() };
      await runNode("node_modules/@playwright/test/cli.js", args, { env }).catch((error) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  } finally {
    if (values.update) console.log(`tests/page/looks: ${shrink(fileURLToPath(new URL("looks/", import.meta.url)))}`);
  }
}

await main().catch(fail);
