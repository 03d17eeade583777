/** Builds the npm package's `pkg/` (wasm and its JavaScript) and the page's data: `npm run build`. */

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { buildArrival } from "./arrival.mjs";
import { writeCommonJs } from "./lib/commonjs.mjs";
import { copyDocs, makeDocs } from "./lib/docs.mjs";
import { asFactory } from "./lib/glue.mjs";
import { newest } from "./lib/newest.mjs";
import { writePlots } from "./lib/plots.mjs";
import { Failure, fail, isMain, root, run, runNode, seconds, step } from "./lib/process.mjs";
import { assertSame, relaxedEnvironment } from "./lib/relaxed.mjs";
import { addProgram } from "./lib/section.mjs";
import { writeText } from "./lib/texts.mjs";
import { buildMnist } from "./mnist.mjs";
import { setUp } from "./setup.mjs";

const sources = ["src", "shaders", "Cargo.toml", "Cargo.lock", ".cargo", "build.rs", "scripts/lib/glue.mjs"];
/** What the package adds to its modules, which needs no compiler. */
const [face, types] = [join(root, "src", "web", "package"), join(root, "src", "web", "isoflat.d.ts")];

/**
 * A module and its JavaScript in a folder of their own. Names of functions are left out; wasm-opt is too: it takes as long as the
 * compiler, and what it makes is neither faster nor, compressed, smaller.
 */
async function pack(folder, { env = {}, name, features = [] }) {
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
export async function addFace(folder = pkg) {
  for (const name of readdirSync(face)) copyFileSync(join(face, name), join(folder, name));
  const modules = ["whole", "relaxed"].map((name) => join(folder, basename(placeOf(name))));
  await addProgram(folder, modules.filter(existsSync));
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
  await writeCommonJs(folder);
  await writePlots(folder);
}

/**
 * The package's modules. Two are this crate with other parts of it: what reads files alone, and the whole with the command line. They come
 * first: Cargo keeps whichever of the three is last, and the one without either is what the tests in the browser are linked with.
 */
const modules = {
  files: { glue: "isoflat_files", features: ["files"], exports: "openModel" },
  command: { glue: "isoflat_command", features: ["command"], exports: "commandWork" },
  whole: { glue: "isoflat", exports: "Engine" },
  relaxed: { glue: "isoflat", file: "isoflat_relaxed", env: relaxedEnvironment, exports: "Engine" },
};

/** Those that the package has as JavaScript too. */
const carried = ["whole", "relaxed", "files"];

const pkg = join(root, "pkg");
const placeOf = (name) => join(pkg, `${modules[name].file ?? modules[name].glue}_bg.wasm`);

/** Those of the modules that are not there, or older than what they are made of. */
export function staleOf(names) {
  const changed = Math.max(...sources.map((source) => newest(join(root, source), [face, types])));
  return names.filter((name) => !existsSync(placeOf(name)) || statSync(placeOf(name)).mtimeMs <= changed);
}

/** One module and its JavaScript, in a folder of their own. */
function compile(name) {
  const { glue, env, features } = modules[name];
  return pack(join("target", `pkg-${name}`), { env: env?.(), name: glue, features });
}

/** Both into the package; the module comes last, so that what was interrupted is never taken for finished. */
function install(name, folder) {
  const { glue, exports } = modules[name];
  const text = asFactory(readFileSync(join(folder, `${glue}.js`), "utf8"), exports);
  const place = join(pkg, `${glue}_glue.js`);
  mkdirSync(pkg, { recursive: true });
  if (name === "relaxed") assertSame(readFileSync(place, "utf8"), text);
  else writeFileSync(place, text);
  renameSync(join(folder, `${glue}_bg.wasm`), placeOf(name));
}

/** The package, or those of its modules that are named. */
export async function buildWasm(names = Object.keys(modules)) {
  await step("isoflat as WebAssembly", async (say) => {
    const stale = staleOf(names);
    // A module is compiled in one unit, by one core: the one whose target folder is its own, beside the others.
    const own = stale.filter((name) => modules[name].env);
    const folders = new Map();
    const compileAll = async (names) => {
      for (const name of names) {
        say(`compiling the module ${basename(placeOf(name))} (a minute or two)`);
        folders.set(name, await compile(name));
      }
    };
    await Promise.all([own, stale.filter((name) => !own.includes(name))].map(compileAll));
    for (const name of stale) install(name, folders.get(name));
    if (staleOf(["relaxed"]).length > 0) {
      // Another one's JavaScript would not fit it. As old as can be, so that it is built when it is asked for.
      copyFileSync(placeOf("whole"), placeOf("relaxed"));
      utimesSync(placeOf("relaxed"), 0, 0);
    }
    if (names.includes("whole")) await addFace();
    for (const name of carried) if (existsSync(placeOf(name))) writeText(placeOf(name));
    const sizes = names.map((name) => `${(statSync(placeOf(name)).size / 1e6).toFixed(2)} MB`).join(", ");
    return stale.length > 0 ? `${sizes} in pkg/` : `up to date, ${sizes}`;
  });
}

/** The documentation into dist/docs/, beside the page: which keeps its own files for use without a network, and not these. */
export async function buildDocs() {
  await step("The documentation", async () => {
    const isNew = await makeDocs();
    copyDocs(join(root, "dist"));
    return isNew ? "built into dist/docs/" : "up to date";
  });
}

/** The page and its documentation, into dist/. */
export async function buildSite() {
  await buildArrival();
  const start = performance.now();
  await runNode("node_modules/vite/bin/vite.js", ["build", "--config", "www/vite.config.ts"]);
  console.log(`✓ The page: built into dist/ (${seconds(performance.now() - start)})`);
  await buildDocs();
}

async function main() {
  parseArgs({ options: {} });
  await setUp();
  await buildWasm();
  await buildMnist();
}

if (isMain(import.meta)) await main().catch(fail);
