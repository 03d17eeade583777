/**
 * The packed package, without any configuration, in every environment that it should work in: `npm run environments`. Tools come
 * from the npm registry into a temporary folder. `--only vite,node` takes those whose names have one of these words, `--keep` leaves the
 * projects there. `npm test` tries those that need nothing else. Electron is not among them, since its program comes from elsewhere than the
 * registry; its two halves are Node and a page that is a file.
 */

import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildWasm } from "../../scripts/build.mjs";
import { Failure, fail, npmCommand, root } from "../../scripts/lib/process.mjs";
import { setUp } from "../../scripts/setup.mjs";

const [npm, ...npmArguments] = npmCommand();

async function main() {
  const { values } = parseArgs({ options: { only: { type: "string" }, keep: { type: "boolean" } } });
  await setUp();
  await buildWasm();
  // What these import is there only now.
  const { closeChrome } = await import("./environments/chrome.mjs");
  const { common } = await import("./environments/common.mjs");
  const { others } = await import("./environments/others.mjs");
  const { makeProject, output } = await import("./environments/project.mjs");
  const { attempts, print } = await import("./environments/table.mjs");
  const { workers } = await import("./environments/workers.mjs");

  const words = values.only?.toLowerCase().split(",");
  const wanted = ([name]) => words === undefined || words.some((word) => name.toLowerCase().includes(word));
  const folder = mkdtempSync(join(tmpdir(), "isoflat-environments-"));
  const inFolder = (name) => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };
  const rows = [];
  try {
    const pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder];
    await output(npm, [...npmArguments, ...pack], root);
    const tarball = join(
      folder,
      readdirSync(folder).find((name) => name.endsWith(".tgz")),
    );
    const chosen = [...common, ...workers].filter(wanted);
    if (chosen.length > 0) {
      rows.push(...(await attempts(chosen, () => makeProject(inFolder("common"), tarball))));
    }
    for (const [i, { tools, setup, cells }] of others.entries()) {
      const chosen = cells.filter(wanted);
      if (chosen.length === 0) continue;
      const folder = inFolder(`other-${i}`);
      rows.push(...(await attempts(chosen, () => makeProject(folder, tarball, tools, setup))));
      if (!values.keep) rmSync(folder, { recursive: true, force: true });
    }
    if (rows.length === 0) throw new Failure(`there is no environment with ${values.only} in its name`);
    const failed = print(rows);
    if (failed > 0) throw new Failure(`${failed} of ${rows.length} fail`);
  } finally {
    await closeChrome();
    if (values.keep) console.log(`The projects are in ${folder}.`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

await main().catch(fail);
