/** `npm run fuzz`: looks for calls that break the package or the crate. tests/fuzz/run.mjs says how it is made. */

import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { kinds } from "../tests/fuzz/kinds.mjs";
import { again, fuzz, report, targets } from "../tests/fuzz/run.mjs";
import { buildWasm } from "./build.mjs";
import { Failure, fail, isMain, list, root } from "./lib/process.mjs";

const HELP = `npm run fuzz -- [--minutes N] [--seed S] [--target NAMES] [--only KINDS] [--case FILE]

Looks for faults: calls that end in anything but finite numbers or an IsoflatError, numbers that are wrong, panics, hangs,
memory out of proportion, stops that are not heard. Ends with counts for each target and kind, and with 1 if it found anything.

  --minutes N     how long, 1 if not said; fractions will do
  --seed S        the same seed gives the same cases in the same order; drawn from the clock if not said
  --target NAMES  where, one or more, with commas:
                    wasm    the package in Node (default)
                    cpu     the crate, natively
                    gpu     the crate on the GPU that there is, a software one (llvmpipe) included
                    chrome  the package in Chrome, with WebGPU on SwiftShader and with threads
                    all     all of them
  --only KINDS    which kinds of case, one or more, with commas:
                    files       problem files, networks, batch normalisations, transformations, IDX bytes, changed
                    options     every method with options out of a grammar
                    hostile     arguments that fight back, handles that are none, calls out of turn, leaks
                    extremes    numbers from 1e-300 to 1e300, dead and saturated networks, against a reference
                    invariance  invariance tables over inputs of all sizes
                    stopping    long work, stopped; how long the event loop is held
                    faults      lost devices, killed threads, a stop at each report, a thousand rounds without growth
  --case FILE     runs one case of target/fuzz/ again and makes it smaller

What fails is written to target/fuzz/, once for each kind of failure, with the command that repeats it.`;

function number(text, name) {
  const value = Number(text);
  if (!(value > 0)) throw new Failure(`--${name} takes a positive number, not ${text}`);
  return value;
}

/** Resolves with the number of kinds of failure. */
async function search({ minutes, seed, chosen, only }) {
  console.log(`seed ${seed}, ${minutes} minutes on ${chosen.join(", ")}, ${availableParallelism()} processors`);
  if (chosen.includes("wasm") || chosen.includes("chrome")) await buildWasm();
  const start = performance.now();
  const found = await fuzz({ minutes, seed, chosen, only });
  report(found, performance.now() - start);
  return found.findings.size;
}

async function main() {
  const text = { type: "string" };
  const options = { minutes: text, seed: text, target: text, only: text, case: text, help: { type: "boolean" } };
  const { values } = parseArgs({ options });
  if (values.help) return console.log(HELP);
  if (values.case !== undefined) {
    const { faults, least } = await again(resolve(root, values.case), (faults, ms) => {
      for (const { failure, where, detail } of faults) console.log(`✗ ${failure} in ${where}: ${detail}`);
      console.log(`${faults.length === 0 ? "nothing wrong" : `${faults.length} faults`} in ${ms.toFixed(0)} ms`);
    });
    if (faults.length > 0) console.log(`the smallest case that fails so:\n${JSON.stringify(least, null, 1)}`);
    process.exitCode = faults.length === 0 ? 0 : 1;
    return;
  }
  const all = Object.keys(targets);
  const chosen = values.target === "all" ? all : list(values.target ?? "wasm", all, "target");
  const only = values.only === undefined ? undefined : list(values.only, Object.keys(kinds), "kind");
  const minutes = number(values.minutes ?? "1", "minutes");
  const failures = await search({ minutes, seed: values.seed ?? `${Date.now() % 1e6}`, chosen, only });
  if (failures > 0) process.exitCode = 1;
}

if (isMain(import.meta)) await main().catch(fail);
