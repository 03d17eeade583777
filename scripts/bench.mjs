/**
 * `npm run bench`: sets up, builds, and measures isoflat against @jax-js/jax and TensorFlow.js in one browser, on the same
 * work, interleaved; then natively with Criterion; then whole answers, as people wait for them, in Node and natively, beside
 * PyTorch, SciPy and PyHessian where Python has them. Ratios hold within a run; times vary between machines and runs.
 *
 *   --work f1,c1,resnet20         which work (benches/web/problems.mjs); default all, but for `convolutions`: kinds of convolutions beside
 *                                 dense layers
 *   --only isoflat,jax,tfjs       which libraries (pytorch too, natively, where Python has it); isoflat in f64 is always there, as the
 *                                 reference
 *   --device cpu,webgpu           where; default both. That is of the browser: named without a part, it takes that part alone, and `webgpu`
 *                                 prints tables to paste into an issue
 *   --rounds 15                   the most rounds a cell
 *   --budget 15                   seconds a cell may take, if that is at least 3 rounds
 *   --browser, --native, --answers one part alone
 *   --plain-simd                  isoflat without relaxed SIMD, as browsers without it get it
 *   --against FOLDER              another checkout of isoflat, whose module runs beside this one's
 *   --markdown                    tables as the README has them
 *
 * Everything is in target/bench/results.json as well.
 */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { convolutions, workOf, works } from "../benches/web/problems.mjs";
import { wholeAnswers } from "./bench/answers.mjs";
import { libraries } from "./bench/contenders.mjs";
import { convolutionsNatively, natively } from "./bench/native.mjs";
import { runWork } from "./bench/rounds.mjs";
import { serve } from "./bench/server.mjs";
import { print } from "./bench/tables.mjs";
import { buildWasm } from "./build.mjs";
import { chromeArguments, findChrome } from "./lib/browser.mjs";
import { Failure, fail, list, root, run } from "./lib/process.mjs";
import { relaxedEnvironmentOf } from "./lib/relaxed.mjs";
import { setUp } from "./setup.mjs";

const folder = join(root, "target", "bench");

function number(value, option) {
  const found = Number(value);
  if (!(found >= 1)) throw new Failure(`--${option} takes a number from 1, not ${value}.`);
  return found;
}

function options() {
  const flag = { type: "boolean", default: false };
  const text = { type: "string" };
  const { values } = parseArgs({
    options: {
      work: text,
      only: text,
      device: text,
      rounds: { ...text, default: "15" },
      budget: { ...text, default: "15" },
      against: text,
      browser: flag,
      native: flag,
      answers: flag,
      "plain-simd": flag,
      markdown: flag,
    },
  });
  const only = list(values.only, libraries, "library");
  const against = values.against === undefined ? undefined : resolve(values.against);
  if (against !== undefined && !existsSync(join(against, "examples", "bench.rs"))) {
    throw new Failure(`--against takes the folder of another checkout of isoflat, and ${against} is none.`);
  }
  const isWhole = !values.browser && !values.native && !values.answers;
  const all = isWhole && values.device === undefined;
  const kinds = values.work === "convolutions";
  return {
    kinds,
    works: kinds ? Object.keys(convolutions) : list(values.work, Object.keys(works), "work"),
    only: against === undefined ? only : [...only, "before"],
    against,
    devices: list(values.device, ["cpu", "webgpu"], "device"),
    rounds: Math.floor(number(values.rounds, "rounds")),
    budget: number(values.budget, "budget"),
    plain: values["plain-simd"],
    browser: values.browser || isWhole,
    native: values.native || all,
    answers: values.answers || (all && !kinds),
    markdown: values.markdown || values.device === "webgpu",
  };
}

/** Vite is not there yet when this script is loaded. */
async function bundleTensorflow() {
  const { build } = await import("vite");
  await build({
    configFile: false,
    root,
    logLevel: "error",
    build: {
      outDir: folder,
      emptyOutDir: false,
      copyPublicDir: false,
      target: "es2022",
      lib: { entry: join(root, "benches", "web", "tensorflow.mjs"), formats: ["es"], fileName: () => "tensorflow.js" },
    },
  });
}

/** The benchmark's module of a checkout, into `out`. */
async function buildModule(checkout, out, { plain }) {
  // As the package's module that this browser gets. Each checkout has a target folder of its own: Cargo would take the one's crate
  // for the other's.
  const env = plain ? { CARGO_TARGET_DIR: join(checkout, "target") } : relaxedEnvironmentOf(checkout);
  const wasm32 = "wasm32-unknown-unknown";
  await run("cargo", ["build", "--release", "--example", "bench", "--target", wasm32], { env, cwd: checkout });
  const wasm = join(env.CARGO_TARGET_DIR, wasm32, "release", "examples", "bench.wasm");
  await run("wasm-bindgen", ["--target", "web", "--no-typescript", "--out-dir", out, wasm]);
}

async function inBrowser({ works: chosen, only, devices, rounds, budget, plain, against }) {
  await buildModule(root, folder, { plain });
  if (against !== undefined) await buildModule(against, join(folder, "before"), { plain });
  await bundleTensorflow();
  const { chromium } = await import("@playwright/test");
  const browser = await chromium.launch({ executablePath: findChrome(), args: chromeArguments(true) });
  const server = await serve();
  const say = (text) => console.log(`… ${text}`);
  try {
    const results = [];
    for (const work of chosen) {
      // The product without anything kept is a second column of the same work.
      const { operations } = workOf(work);
      const all = works[work] && operations.includes("product") ? [...operations, "plain"] : operations;
      results.push(await runWork(browser, server.address, work, all, { only, devices, rounds, budget, say }));
    }
    const adapter = results.flatMap(({ adapters }) => adapters).find(({ name }) => name === "isoflat WebGPU")?.adapter;
    const command = ["npm run bench", ...process.argv.slice(2)].join(" ").replace("bench --", "bench -- --");
    return { version: `Chrome ${browser.version()}`, adapter, command, works: results };
  } finally {
    await browser.close();
    server.close();
  }
}

async function main() {
  const chosen = options();
  await setUp({ tests: true });
  mkdirSync(folder, { recursive: true });
  const result = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${cpus()[0].model.trim()}`,
  };
  if (chosen.browser) result.browser = await inBrowser(chosen);
  if (chosen.native && chosen.kinds) result.kinds = await convolutionsNatively(convolutions);
  else if (chosen.native) result.native = await natively(chosen.works);
  const file = join(folder, "results.json");
  // What comes last is not to lose what is there.
  const write = () => writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  write();
  if (chosen.answers) {
    await buildWasm(["files", "whole"]);
    result.answers = await wholeAnswers((text) => console.log(`… ${text}`));
    write();
  }
  print(result, { ...works, ...convolutions }, chosen.markdown);
  console.log(`\nwritten to ${join("target", "bench", "results.json")}`);
}

main().catch(fail);
