/**
 * The page in Chrome, driven as a person would: once with WebGPU, once without; and the package's threads. `--screenshots`
 * writes the README's pictures. `--only` with `webgpu`, `cpu`, `files` or `threads` runs one of them, `--only large` what takes
 * long (large.mjs). Needs the built page in dist/ and the package in pkg/.
 */

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { runWithoutWebGpu } from "./cpu.mjs";
import { checkFiles } from "./files.mjs";
import { runLarge } from "./large.mjs";
import { serve } from "./server.mjs";
import { runThreads } from "./threads.mjs";
import { runWithWebGpu } from "./webgpu.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const { values } = parseArgs({ options: { screenshots: { type: "boolean" }, only: { type: "string" } } });

const FLAGS = [
  "--headless=new",
  "--disable-background-networking",
  "--disable-dev-shm-usage",
  "--enable-unsafe-swiftshader",
  ...(process.getuid?.() === 0 || process.env.CI ? ["--no-sandbox"] : []),
];

const runs = [
  { name: "webgpu", says: "with WebGPU", flags: ["--enable-unsafe-webgpu"], body: runWithWebGpu },
  // Without the switch above Chrome offers no software adapter, and without a GPU process no other.
  { name: "cpu", says: "without WebGPU", flags: ["--disable-gpu"], body: runWithoutWebGpu },
  { name: "files", says: "files of other programs", flags: ["--disable-gpu"], body: checkFiles },
  { name: "threads", says: "with threads", flags: ["--disable-gpu"], body: runThreads },
  { name: "large", says: "large", flags: ["--enable-unsafe-webgpu"], body: runLarge },
].filter(({ name }) => (values.only === undefined ? name !== "large" : values.only === name));

let passed = 0;
let failed = 0;

/** Prints a check's outcome; a failed one does not end the run. */
function check(name, holds, detail = "") {
  if (holds) passed++;
  else failed++;
  console.log(`${holds ? "✓" : "✗"} ${name}${detail === "" ? "" : `: ${detail}`}`);
}

/** A part that breaks off counts as one failure, and the next part goes on. */
async function part(name, body) {
  const start = performance.now();
  console.log(`\n${name}`);
  try {
    await body();
  } catch (error) {
    check(name, false, error instanceof Error ? error.message : String(error));
  }
  console.log(`  (${((performance.now() - start) / 1000).toFixed(1)} s)`);
}

if (!existsSync(`${root}dist/index.html`)) {
  console.error("dist/ is missing: build the page first (`npm run build`, then Vite).");
  console.log("0 passed, 1 failed");
  process.exit(1);
}

const page = readFileSync(`${root}dist/index.html`, "utf8");
const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1].replaceAll("&#39;", "'");
if (policy === undefined) {
  console.error("dist/index.html has no Content-Security-Policy.");
  console.log("0 passed, 1 failed");
  process.exit(1);
}
// A plain file server, whose page brings its policy itself; and one that sends it, so that it holds in workers too.
const server = await serve(`${root}dist`);
const strict = await serve(`${root}dist`, { "Content-Security-Policy": policy });
const problem = readFileSync(`${root}tests/golden/mlp_bias.json`, "utf8");
for (const { name, says, flags, body } of runs) {
  console.log(`\n=== ${says}`);
  let browser;
  try {
    browser = await chromium.launch({
      executablePath: process.env.ISOFLAT_CHROME ?? "/usr/bin/chromium",
      args: [...FLAGS, ...flags],
    });
    const { url } = name === "webgpu" ? strict : server;
    await body({ browser, url, check, part, problem, root, screenshots: values.screenshots === true });
  } catch (error) {
    check(says, false, error instanceof Error ? error.message : String(error));
  } finally {
    await browser?.close();
  }
}
server.close();
strict.close();
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
