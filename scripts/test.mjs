/**
 * `npm test`: sets up, then runs every check, goes on after one that fails, and ends with a table and the line
 * `N passed, M failed`. `npm test -- --only rust,lint` takes steps or groups by name; `--list` shows them.
 */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildSite } from "./build.mjs";
import { driverCapabilities, findChrome, findDriver, findFirefox, noFirefox } from "./lib/browser.mjs";
import { hasMpi, noMpi } from "./lib/mpi.mjs";
import { begin, beginNode, Failure, fail, root, run, runNode, seconds } from "./lib/process.mjs";
import { relaxedEnvironment } from "./lib/relaxed.mjs";
import { setUp } from "./setup.mjs";

const wasm = ["--target", "wasm32-unknown-unknown"];
const denyWarnings = ["--", "-D", "warnings"];
const cargo = (...args) => run("cargo", args);

/** Lines of a step's output that its row of the summary repeats: which tests failed, and which held at a second try only. */
const told = /^(?:FAILED|UNSTEADY) .+|^test .+ \.\.\. FAILED$/gm;
let remarks = [];

/** Of a failed step this many lines besides: whoever has the end of a log alone shall know why. */
const LAST_LINES = 20;

/** Hears what a step prints, for `remarks`. */
async function heard(work) {
  let output = "";
  const onOutput = (text) => {
    output += text;
  };
  try {
    await work({ onOutput });
  } catch (error) {
    const lines = output.split("\n").filter((line) => line.trim() !== "");
    remarks.push(...lines.slice(-LAST_LINES));
    throw error;
  } finally {
    remarks.unshift(...(output.match(told) ?? []));
  }
  return output;
}

/**
 * The wasm tests in headless Chrome. They are told what they must get at compile time, the one way into a browser that
 * wasm-bindgen's test runner leaves: `option_env!("ISOFLAT_TEST_WEBGPU")` is `Some("1")` with WebGPU, `Some("0")` without.
 */
function browserCommand(webgpu) {
  const capabilities = join(root, "target", `webdriver-${webgpu ? "webgpu" : "cpu"}.json`);
  mkdirSync(join(root, "target"), { recursive: true });
  writeFileSync(capabilities, JSON.stringify(driverCapabilities(findChrome(), webgpu), null, 2));
  // The release profile is what is shipped, and shares its dependencies with the package's build.
  const args = ["test", "--headless", "--chrome", "--release", "--mode", "no-install", "--test", "web"];
  const env = {
    CHROMEDRIVER: findDriver(),
    WASM_BINDGEN_TEST_WEBDRIVER_JSON: capabilities,
    // In seconds: the defaults, 20 and 5, are too little for a software adapter and for a busy computer.
    WASM_BINDGEN_TEST_TIMEOUT: "600",
    WASM_BINDGEN_TEST_DRIVER_TIMEOUT: "60",
    ISOFLAT_TEST_WEBGPU: webgpu ? "1" : "0",
    // Each of the package's two modules once.
    ...(webgpu ? {} : relaxedEnvironment()),
  };
  return ["wasm-pack", args, { env }];
}

/** The end of what was begun. */
const ofBegun = (begun) => heard((options) => begun.end(options));

async function browserTests(begun) {
  const output = await ofBegun(begun);
  // A file without tests for the browser ends with 0 too; if no file has any, nothing was tested.
  if (!/\b[1-9]\d* passed/.test(output)) throw new Failure("no test ran in the browser");
}

/**
 * With what the feature for MPI adds, where there is MPI: with and without it would be all of the crate twice. What is there without it
 * alone (src/ranks/launch.rs) is compiled for wasm32.
 */
const features = () => (hasMpi() ? ["--features", "mpi"] : []);

/** All of tests/: `--tests` would have the crate's own once more. */
const nativeTests = ["--test", "*"];

/** What a step cannot do on this computer: neither a success nor a failure, and said with its reason. */
class Skipped extends Error {}

/** A script of tests/. One that is not there is a failure, not a success. */
async function script(file) {
  if (!existsSync(join(root, file))) throw new Failure(`${file} is missing`);
  await heard((options) => runNode(file, [], { ...options, env: { ISOFLAT_CHROME: findChrome() } }));
}

const pageTests = "tests/page/run.mjs";

async function firefoxTests(begun) {
  if (findFirefox() === undefined) throw new Skipped(noFirefox);
  await ofBegun(begun);
}

async function rankTests(begun) {
  if (!hasMpi()) throw new Skipped(noMpi);
  await ofBegun(begun);
}

/** The same cases every time; but for those that a busy computer's clock would decide, which `npm run fuzz` has too. */
const someFuzz = ["--minutes", "0.5", "--seed", "npm test", "--only", "files,options,hostile,extremes,invariance"];

// `needs` names steps whose results a step reads; they are run before it even if --only leaves them out. `begin` begins a step beside
// the one that `beside` names, or when it is its turn.
const steps = [
  { name: "format", group: "rust", says: "cargo fmt", work: () => cargo("fmt", "--check") },
  {
    name: "commands",
    group: "web",
    says: "the commands, before anything is installed",
    work: () => script("tests/commands.mjs"),
  },
  {
    name: "clippy",
    group: "rust",
    says: "clippy",
    work: () => cargo("clippy", "--all-targets", ...features(), ...denyWarnings),
  },
  {
    name: "cargo",
    group: "rust",
    says: "cargo test, CPU and GPU",
    // Without the examples, which Clippy has checked: each would be linked with all of the crate, and none has tests. Unit tests are of
    // a copy of the crate of their own, and small: to optimise it would take ten times as long as they do without.
    work: () =>
      heard(async (options) => {
        const env = { CARGO_PROFILE_TEST_OPT_LEVEL: "0" };
        await run("cargo", ["test", "--lib", ...features()], { ...options, env });
        // One more at a time than there are cores, which one that waits for the GPU leaves idle.
        const threads = { RUST_TEST_THREADS: String(availableParallelism() + 1) };
        await run("cargo", ["test", ...nativeTests, ...features()], { ...options, env: threads });
        await run("cargo", ["test", "--doc", ...features()], options);
      }),
  },
  {
    name: "doc",
    group: "rust",
    says: "cargo doc",
    work: () => run("cargo", ["doc", "--no-deps", ...features()], { env: { RUSTDOCFLAGS: "-D warnings" } }),
  },
  // Before the tests in the browser, which are linked with what it leaves.
  // It begins with the first step, since each of its modules is compiled by one core, and nothing before this place reads them.
  {
    name: "build",
    group: "web",
    says: "the package: wasm and data",
    beside: "format",
    begin: () => beginNode("scripts/build.mjs"),
    work: ofBegun,
  },
  {
    name: "clippy-wasm",
    group: "rust",
    says: "clippy for wasm32",
    // As the module with relaxed SIMD is built, in whose folder it has what runs while all else is compiled; and of what the build has
    // left to do one core does it.
    beside: "build",
    begin: () =>
      begin("cargo", ["clippy", ...wasm, "--release", "--all-targets", ...denyWarnings], { env: relaxedEnvironment() }),
    work: ofBegun,
  },
  {
    name: "ranks",
    group: "rust",
    says: "the program over ranks that MPI connects",
    beside: "build",
    begin: () => (hasMpi() ? beginNode("tests/ranks.mjs") : undefined),
    work: rankTests,
  },
  {
    name: "webgpu",
    group: "wasm",
    says: "wasm tests in Chrome with WebGPU",
    begin: () => begin(...browserCommand(true)),
    work: browserTests,
  },
  {
    name: "cpu",
    group: "wasm",
    says: "wasm tests in Chrome without WebGPU, relaxed SIMD",
    // Both are compiled by one core each, and a software adapter compiles its kernels by one.
    beside: "webgpu",
    begin: () => begin(...browserCommand(false)),
    work: browserTests,
  },
  {
    name: "lint",
    group: "web",
    says: "Biome: lint and format",
    work: () => runNode("node_modules/@biomejs/biome/bin/biome", ["check", "--error-on-warnings"]),
  },
  {
    name: "types",
    group: "web",
    says: "TypeScript",
    needs: ["build"],
    work: () => runNode("node_modules/typescript/bin/tsc", ["--noEmit", "-p", "www"]),
  },
  {
    name: "unit",
    group: "web",
    says: "the lab's logic, without a browser",
    // What goes through the engine's options imports the package.
    needs: ["build"],
    // The tests in the browser leave a quarter of the time of two cores, and have no clock that a third program could upset.
    beside: "webgpu",
    begin: () => beginNode("node_modules/vitest/vitest.mjs", ["run", "--config", "tests/unit/vitest.config.ts"]),
    work: ofBegun,
  },
  {
    name: "fuzz",
    group: "web",
    says: "some of the fuzzer",
    needs: ["build"],
    beside: "webgpu",
    begin: () => beginNode("scripts/fuzz.mjs", someFuzz),
    work: ofBegun,
  },
  { name: "site", group: "web", says: "the page, bundled", needs: ["build"], work: buildSite },
  {
    name: "page",
    group: "web",
    says: "the page in Chrome",
    needs: ["build", "site"],
    work: () => script(pageTests),
  },
  {
    name: "package",
    group: "web",
    says: "the npm package in a fresh project",
    needs: ["build"],
    work: () => script("tests/package/run.mjs"),
  },
  {
    name: "firefox",
    group: "web",
    says: "the page in Firefox",
    needs: ["build", "site"],
    // Both leave processors idle.
    beside: "package",
    begin: () => (findFirefox() ? beginNode(pageTests, ["--only", "firefox"]) : undefined),
    work: firefoxTests,
  },
];

function chosen() {
  const { values } = parseArgs({ options: { only: { type: "string" }, list: { type: "boolean" } } });
  if (values.list) {
    for (const { name, group, says } of steps) console.log(`${group.padEnd(5)} ${name.padEnd(12)} ${says}`);
    process.exit(0);
  }
  if (values.only === undefined) return steps;
  const wanted = values.only.split(",").map((name) => name.trim());
  for (const name of wanted) {
    if (!steps.some((step) => step.name === name || step.group === name)) {
      throw new Failure(`There is no step or group ${name}; \`npm test -- --list\` shows them.`);
    }
  }
  const asked = steps.filter(({ name, group }) => wanted.includes(name) || wanted.includes(group));
  return steps.filter((step) => asked.includes(step) || asked.some(({ needs }) => needs?.includes(step.name)));
}

/** Runs one step; the outcome is its row in the table. */
async function attempt({ name, says, needs = [], begin, work }, outcomes, begun) {
  console.log(`\n=== ${name}: ${says}`);
  const start = performance.now();
  let problem = "";
  let skipped = "";
  remarks = [];
  try {
    const failed = needs.filter((need) => outcomes.some((outcome) => outcome.name === need && outcome.problem !== ""));
    if (failed.length > 0) throw new Failure(`needs ${failed.join(" and ")}, which failed`);
    await work(begun ?? begin?.());
  } catch (error) {
    if (error instanceof Skipped) skipped = error.message;
    else problem = error instanceof Failure ? error.message : `${error.stack}`;
    console.error(`${skipped ? "–" : "✗"} ${name}: ${skipped || problem}`);
  }
  return { name, says, problem, skipped, remarks, time: performance.now() - start };
}

/** A step that begins beside another one. What keeps it from that is told when it is its turn. */
function started({ begin }) {
  try {
    return begin();
  } catch (error) {
    return { end: () => Promise.reject(error) };
  }
}

async function test() {
  const plan = chosen();
  const outcomes = [await attempt({ name: "setup", says: "what is needed", work: () => setUp({ tests: true }) }, [])];
  // Without what it needs every step would fail for the same reason.
  if (outcomes[0].problem === "") {
    const begun = new Map();
    for (const step of plan) {
      for (const other of plan) if (other.beside === step.name) begun.set(other, started(other));
      outcomes.push(await attempt(step, outcomes, begun.get(step)));
    }
  }

  console.log("\n=== summary");
  for (const { name, says, problem, skipped, remarks, time } of outcomes) {
    const outcome = problem ? "FAILED" : skipped ? "SKIPPED" : "passed";
    const row = `${outcome.padEnd(7)} ${name.padEnd(12)} ${seconds(time).padStart(8)}  ${says}`;
    console.log(outcome === "passed" ? row : `${row}: ${(problem || skipped).split("\n")[0]}`);
    for (const remark of remarks) console.log(`        ${remark}`);
  }
  const failed = outcomes.filter(({ problem }) => problem !== "").length;
  const skipped = outcomes.filter(({ skipped }) => skipped !== "").length;
  if (failed > 0) process.exitCode = 1;
  const passed = outcomes.length - failed - skipped;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
}

await test().catch((error) => {
  fail(error);
  console.log("0 passed, 1 failed");
});
