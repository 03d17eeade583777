/** Builds the npm package's `pkg/` (wasm and its JavaScript) and the page's data: `npm run build`. */

import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { asFactory } from "./lib/glue.mjs";
import { Failure, fail, isMain, root, run, runNode, seconds, step } from "./lib/process.mjs";
import { assertSame, relaxedEnvironment, withChoice } from "./lib/relaxed.mjs";
import { buildMnist } from "./mnist.mjs";
import { setUp } from "./setup.mjs";

const sources = ["src", "shaders", "Cargo.toml", "Cargo.lock", ".cargo", "build.rs"];
/** What the package adds to its modules, which needs no compiler. */
const [face, types] = [join(root, "src", "web", "package"), join(root, "src", "web", "isoflat.d.ts")];

/** When the newest of the files below was changed; folders count too, since deleting a file changes only them. */
function newest(path) {
  if (!existsSync(path) || path === face || path === types) return 0;
  const state = statSync(path);
  if (!state.isDirectory()) return state.mtimeMs;
  return Math.max(state.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/**
 * A module and its JavaScript in a folder of their own. Names of functions are left out; wasm-opt is too: it takes as long as the
 * compiler, and what it makes is neither faster nor, compressed, smaller.
 */
async function pack(folder, { env = {}, name = "isoflat", features = [] } = {}) {
  rmSync(join(root, folder), { recursive: true, force: true });
  const target = "wasm32-unknown-unknown";
  const chosen = features.length > 0 ? ["--features", features.join(",")] : [];
  await run("cargo", ["build", "--release", "--lib", "--target", target, ...chosen], { env });
  const built = env.CARGO_TARGET_DIR ?? process.env.CARGO_TARGET_DIR ?? "target";
  const module = resolve(root, built, target, "release", "isoflat.wasm");
  const sections = ["--remove-name-section", "--remove-producers-section"];
  const out = ["--target", "web", "--no-typescript", "--out-dir", join(root, folder), "--out-name", name];
  await run("wasm-bindgen", [module, ...out, ...sections]);
  return join(root, folder);
}

/** What callers see: the package's own JavaScript, and its types with the names that only the module knows in their places. */
async function addFace(folder) {
  for (const name of readdirSync(face)) copyFileSync(join(face, name), join(folder, name));
  const {
    default: init,
    describeMeasures,
    describeOperators,
  } = await import(pathToFileURL(join(folder, "isoflat.js")));
  await init({ module_or_path: readFileSync(join(folder, "isoflat_bg.wasm")) });
  let text = readFileSync(types, "utf8");
  const unions = {
    MeasureKey: describeMeasures().map(({ key }) => key),
    WholeOperatorName: describeOperators().map(({ name }) => name),
  };
  for (const [type, names] of Object.entries(unions)) {
    const place = new RegExp(`^export type ${type} = string;.*$`, "m");
    if (!place.test(text)) throw new Failure(`isoflat.d.ts has no place for the names of ${type}`);
    text = text.replace(place, `export type ${type} =${names.map((name) => `\n  | "${name}"`).join("")};`);
  }
  writeFileSync(join(folder, "isoflat.d.ts"), text);
}

export async function buildWasm() {
  await step("isoflat as WebAssembly", async (say) => {
    const pkg = join(root, "pkg");
    const modules = ["isoflat_bg.wasm", "isoflat_relaxed_bg.wasm", "isoflat_files_bg.wasm", "isoflat_command_bg.wasm"];
    const built = modules.map((name) => join(pkg, name));
    const size = () => built.map((path) => `${(statSync(path).size / 1e6).toFixed(2)} MB`).join(", ");
    if (built.every(existsSync)) {
      const changed = Math.max(...sources.map((name) => newest(join(root, name))));
      if (built.every((path) => statSync(path).mtimeMs > changed)) {
        await addFace(pkg);
        return `up to date, ${size()}`;
      }
    }
    // Two of the modules are this crate with other parts of it: what reads files alone, and the whole with the command line. They
    // come first: Cargo keeps whichever is last, and the one without either is what the tests in the browser are linked with.
    const parts = [];
    for (const [name, expected] of Object.entries({ files: "openModel", command: "commandWork" })) {
      say(`compiling the module for the package's ${name} (some minutes the first time)`);
      const folder = await pack(join("target", `pkg-${name}`), { name: `isoflat_${name}`, features: [name] });
      parts.push({ name, expected, folder });
    }
    say("compiling the module itself");
    // Built aside and moved when it is whole, so that what was interrupted is never taken for finished.
    const fresh = await pack(join("target", "pkg"));
    say("compiling it again for relaxed SIMD");
    const relaxed = await pack(join("target", "pkg-relaxed"), { env: relaxedEnvironment });
    const glue = (folder) => readFileSync(join(folder, "isoflat.js"), "utf8");
    assertSame(glue(fresh), glue(relaxed));
    writeFileSync(join(fresh, "isoflat_glue.js"), asFactory(withChoice(glue(fresh)), "Engine"));
    renameSync(join(relaxed, modules[0]), join(fresh, modules[1]));
    for (const { name, expected, folder } of parts) {
      const text = readFileSync(join(folder, `isoflat_${name}.js`), "utf8");
      writeFileSync(join(fresh, `isoflat_${name}_glue.js`), asFactory(text, expected));
      renameSync(join(folder, `isoflat_${name}_bg.wasm`), join(fresh, `isoflat_${name}_bg.wasm`));
    }
    rmSync(join(fresh, "isoflat.js"));
    await addFace(fresh);
    rmSync(pkg, { recursive: true, force: true });
    renameSync(fresh, pkg);
    return `${size()} in pkg/`;
  });
}

/** The page, into dist/. */
export async function buildSite() {
  const start = performance.now();
  await runNode("node_modules/vite/bin/vite.js", ["build", "--config", "www/vite.config.ts"]);
  console.log(`✓ The page: built into dist/ (${seconds(performance.now() - start)})`);
}

async function main() {
  parseArgs({ options: {} });
  await setUp();
  await buildWasm();
  await buildMnist();
}

if (isMain(import.meta)) await main().catch(fail);
