/** The commands of package.json start without node_modules: it is they that install it. And what they say of a full disk. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failure, fail, root } from "../scripts/lib/process.mjs";
import { room } from "../scripts/lib/room.mjs";

const folder = mkdtempSync(join(tmpdir(), "isoflat-commands-"));
try {
  for (const name of ["package.json", "scripts", "tests", "benches"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const [name, command] of Object.entries(scripts)) {
    const [node, file] = command.split(" ");
    assert.equal(node, "node", `npm run ${name}`);
    // An option that there is not, so that what has read all it needs goes no further.
    const { status, stderr } = spawnSync(process.execPath, [file, "--no-such-option"], { cwd: folder, encoding: "utf8" });
    assert.equal(status, 1, `npm run ${name}`);
    assert.match(stderr, /✗ Unknown option '--no-such-option'/, `npm run ${name}`);
    console.log(`starts without node_modules: npm run ${name}`);
  }
  assert.equal(room(8e9, false, { tests: true }), "8.0 GB free");
  assert.equal(room(2e9, true), "2.0 GB free");
  const full = (error) => error instanceof Failure && /840 MB free .* takes up to [\d.]+ GB/.test(error.message);
  for (const isBuilt of [false, true]) assert.throws(() => room(840e6, isBuilt, { tests: true }), full);
  assert.throws(() => room(2e9, false), Failure);
  console.log("says what room on the disk it needs");
} catch (error) {
  fail(error);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
