/** Builds the npm package's `pkg/` (wasm and its JavaScript) and the page's data: `npm run build`. */

import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fail, isMain, root, run, runNode, seconds, step } from "./lib/process.mjs";
import { buildMnist } from "./mnist.mjs";
import { setUp } from "./setup.mjs";

const sources = ["src", "shaders", "Cargo.toml", "Cargo.lock", ".cargo", "build.rs"];

/** When the newest of the files below was changed; folders count too, since deleting a file changes only them. */
function newest(path) {
  if (!existsSync(path)) return 0;
  const state = statSync(path);
  if (!state.isDirectory()) return state.mtimeMs;
  return Math.max(state.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

export async function buildWasm() {
  await step("isoflat as WebAssembly", async (say) => {
    const pkg = join(root, "pkg");
    const built = join(pkg, "isoflat_bg.wasm");
    const size = () => `${(statSync(built).size / 1e6).toFixed(2)} MB`;
    if (existsSync(built)) {
      const changed = Math.max(...sources.map((name) => newest(join(root, name))));
      if (statSync(built).mtimeMs > changed) return `up to date, ${size()}`;
    }
    say("compiling it with wasm-pack (some minutes the first time, then seconds)");
    // Built aside and moved when it is whole, so that what was interrupted is never taken for finished. Without
    // wasm-pack's own package.json (the root's counts) and .gitignore (npm would leave the whole folder out for it).
    const fresh = join("target", "pkg");
    rmSync(join(root, fresh), { recursive: true, force: true });
    await run("wasm-pack", [
      "build",
      "--target",
      "web",
      "--release",
      "--mode",
      "no-install",
      "--no-pack",
      "--no-gitignore",
      "--out-dir",
      fresh,
    ]);
    rmSync(pkg, { recursive: true, force: true });
    renameSync(join(root, fresh), pkg);
    return `${size()} in pkg/`;
  });
}

/** The page, into dist/. */
export async function buildSite() {
  const start = performance.now();
  await runNode("node_modules/vite/bin/vite.js", ["build", "--config", "www/vite.config.ts"]);
  console.log(`✓ The page: built into dist/ (${seconds(performance.now() - start)})`);
}

if (isMain(import.meta)) {
  await setUp().then(buildWasm).then(buildMnist).catch(fail);
}
