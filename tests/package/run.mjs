/**
 * Packs the npm package, installs the tarball in fresh projects outside this folder, and there lets bundlers and Chrome have it as it is,
 * uses it in Node and type-checks a TypeScript program against it. Needs pkg/ (`npm run build`) and node_modules.
 * Environments with tools of their own are `npm run environments`.
 */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fail, npmCommand, root, run, runNodes } from "../../scripts/lib/process.mjs";
import { outgrown, sizes } from "../../scripts/lib/sizes.mjs";
import { closeChrome } from "./environments/chrome.mjs";
import { common } from "./environments/common.mjs";
import { plots } from "./environments/plots.mjs";
import { makeProject } from "./environments/project.mjs";
import { attempts } from "./environments/table.mjs";
import { workers } from "./environments/workers.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [npm, ...npmArguments] = npmCommand();
const tool = (...names) => join(root, "node_modules", ...names);

async function test(folder) {
  const quiet = ["--silent", "--no-audit", "--no-fund", "--no-update-notifier"];
  await run(npm, [...npmArguments, "pack", "--silent", "--pack-destination", folder]);
  const tarball = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  assert(tarball, "npm pack wrote no tarball");
  console.log(`${tarball}: ${(statSync(join(folder, tarball)).size / 1e6).toFixed(2)} MB`);

  assert.deepEqual(
    outgrown(sizes()),
    [],
    "parts of the package that have outgrown their budget (scripts/lib/sizes.mjs)",
  );

  const project = join(folder, "project");
  cpSync(join(here, "project"), project, { recursive: true });
  cpSync(join(root, "tests", "fixtures", "published"), join(project, "fixtures", "published"), { recursive: true });
  for (const name of ["onnx", "pytorch"])
    cpSync(join(root, "tests", "fixtures", name), join(project, "fixtures", name), { recursive: true });
  cpSync(join(root, "tests", "golden", "mlp_bias.json"), join(project, "fixtures", "mlp_bias.json"));
  // What the documentation's examples open lies beside them.
  cpSync(join(root, "docs", "guides"), join(project, "guides"), { recursive: true });
  cpSync(join(root, "tests", "fixtures", "published"), project, { recursive: true });
  cpSync(join(root, "README.md"), join(project, "README.md"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  // Offline: whatever the package needed besides itself would fail here.
  const install = ["install", "--offline", "--ignore-scripts", ...quiet, join(folder, tarball)];
  await run(npm, [...npmArguments, ...install], { cwd: project });
  const installed = readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."));
  assert.deepEqual(installed, ["isoflat"], "the package brings other packages with it");

  await run(process.execPath, [tool("publint", "src", "cli.js"), "run", join(folder, tarball), "--strict"]);
  // Node 20.19 and later require ES modules; what resolves as Node 10 did knows no subpaths.
  const known = ["--profile", "node16", "--ignore-rules", "cjs-resolves-to-esm"];
  const attw = [tool("@arethetypeswrong", "cli", "dist", "index.js"), join(folder, tarball), "--no-emoji", ...known];
  await run(process.execPath, attw);

  // Two lanes, a project each: what is tried in one writes over what was.
  const lane = async (place, environments) => {
    mkdirSync(join(folder, place));
    return attempts(environments, () => makeProject(join(folder, place), join(folder, tarball)));
  };
  const rows = (await Promise.all([lane("bare", common), lane("browsers", [...workers, ...plots])])).flat();
  const failed = rows.filter(({ state }) => state === "FAILED").map(({ name }) => name);
  assert.deepEqual(failed, [], "environments in which the package does not work as it is");

  // Node 20 and 22 have no `using`, which the examples have.
  const options = { cwd: project, env: { ISOFLAT_ESBUILD: tool("esbuild", "lib", "main.js") } };
  const programs = (...names) => names.map((name) => ["--expose-gc", `${name}.mjs`]);
  // Whose times are measured are alone.
  for (const program of programs("breathes", "waits")) await run(process.execPath, program, options);
  const others = ["examples", "mistakes", "command", "use", "files", "models", "curvature", "hostile", "handles"];
  await runNodes(programs(...others, "late", "worker", "declared", "results"), options);

  const tsc = tool("typescript", "bin", "tsc");
  const configs = ["bundler", "node", "using", "plain", "accessors", "examples"].map((name) => `tsconfig.${name}.json`);
  await runNodes(
    configs.map((config) => [tsc, "--noEmit", "-p", config]),
    options,
  );
  console.log(`types agree: ${configs.join(", ")}`);
}

const folder = mkdtempSync(join(tmpdir(), "isoflat-package-"));
try {
  await test(folder);
} catch (error) {
  fail(error);
} finally {
  await closeChrome();
  rmSync(folder, { recursive: true, force: true });
}
