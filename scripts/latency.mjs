/** `npm run latency`: how long `init` takes in Chrome, and how long work on a page's own thread holds its event loop. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromeArguments, findChrome } from "./lib/browser.mjs";
import { Failure, fail, root } from "./lib/process.mjs";

const HELP = `npm run latency -- [--held] [--seconds N] [--network NAME] [--only TEXT]

How long init() takes in Chrome: over a cache that is empty, and again in the same browser; from a server on this computer,
so that no network is in it. Needs pkg/ ("npm run build").

  --held          instead: the longest time, of a processor, for which each measure and method holds the event loop of a page
                  that computes on its own thread, in f64, with 500 samples; more than 50 ms is marked
  --seconds N     how long each is listened to before it is stopped, 4 if not said
  --network NAME  dense (784-300-100-10) or resnet8; both if not said
  --only TEXT     those whose names have this in them`;

/** Milliseconds that people feel. */
const FELT = 50;
const RUNS = 11;

const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))];
const inMs = (value) => `${value.toFixed(0)} ms`;

/** A page of this server, with the package's module as `globalThis.isoflat` and nothing loaded. */
async function opened(context, address) {
  const page = await context.newPage();
  // There is no page: any text of the server will do.
  await page.goto(`${address}/simd.js`);
  await page.evaluate(async () => {
    globalThis.isoflat = await import("/isoflat.js");
  });
  return page;
}

const initTime = (page) =>
  page.evaluate(async () => {
    const start = performance.now();
    await globalThis.isoflat.default();
    return performance.now() - start;
  });

/** `first`: nothing is in the cache. `again`: what the browser has kept of the visit before, compiled code among it. */
async function measureInit(browser, address) {
  const times = { first: [], again: [] };
  for (let run = 0; run < RUNS; run++) {
    const context = await browser.newContext();
    for (const visit of ["first", "again"]) {
      const page = await opened(context, address);
      times[visit].push(await initTime(page));
      await page.close();
    }
    await context.close();
  }
  for (const [visit, values] of Object.entries(times)) {
    const [least, middle, most] = [0, 0.5, 1].map((share) => inMs(quantile(values, share)));
    console.log(`init() in Chrome, ${visit} visit: ${middle} (median of ${RUNS}; ${least} to ${most})`);
  }
}

/** What is listened to: text that the page evaluates. The engine's options come last. */
const METHODS = readFileSync(new URL("latency/page.js", import.meta.url), "utf8");

/** How long the tasks of the page's own thread took, by the lesser of clock and processor: others may use this computer too. */
function tasksIn(trace) {
  const { traceEvents } = JSON.parse(trace);
  const threadOf = ({ pid, tid }) => `${pid} ${tid}`;
  const names = traceEvents.filter(({ name }) => name === "thread_name");
  const main = names.filter(({ args }) => args.name === "CrRendererMain").map(threadOf);
  const tasks = traceEvents.filter((event) => event.name.endsWith("RunTask") && main.includes(threadOf(event)));
  return tasks.map(({ dur = 0, tdur = dur }) => Math.min(dur, tdur) / 1000);
}

async function measureHeld(browser, address, { networks, seconds, only }) {
  for (const network of networks) {
    const context = await browser.newContext();
    const page = await opened(context, address);
    await page.addScriptTag({ content: METHODS });
    const names = await page.evaluate((network) => globalThis.prepare(network), network);
    console.log(`${network}, 500 samples, f64: the longest task, which the event loop waits for`);
    for (const name of names.filter((name) => name.includes(only))) {
      await browser.startTracing(page, { categories: ["toplevel"] });
      const took = await page.evaluate(([name, ms]) => globalThis.listen(name, ms), [name, seconds * 1000]);
      const tasks = tasksIn((await browser.stopTracing()).toString());
      const [held, over] = [Math.max(...tasks), tasks.filter((ms) => ms > FELT).length];
      const mark = held > FELT ? `  ✗ more than ${FELT} ms${over > 1 ? `, ${over} times` : ""}` : "";
      console.log(`${name.padEnd(54)} ${inMs(held).padStart(8)} of ${inMs(took).padStart(8)}${mark}`);
    }
    await context.close();
  }
}

async function main() {
  const text = { type: "string" };
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", short: "h" },
      held: { type: "boolean" },
      seconds: text,
      network: text,
      only: text,
    },
  });
  if (values.help) return console.log(HELP);
  if (!existsSync(join(root, "pkg"))) throw new Failure('There is no package in pkg/ yet: "npm run build" makes it');
  const networks = values.network ? [values.network] : ["dense", "resnet8"];
  const seconds = Number(values.seconds ?? 4);
  if (!(seconds > 0)) throw new Failure(`--seconds takes a positive number, not ${values.seconds}`);
  const executablePath = findChrome();
  if (!executablePath) throw new Failure("Chrome was not found: install it, or name it in CHROME");
  // It may not be installed yet where nobody has built anything.
  const { chromium } = await import("@playwright/test");
  const { serve } = await import("../tests/package/environments/chrome.mjs");
  const browser = await chromium.launch({ executablePath, args: chromeArguments(false) });
  const server = await serve(join(root, "pkg"), { "Cache-Control": "max-age=3600" });
  try {
    const address = server.address;
    if (values.held) await measureHeld(browser, address, { networks, seconds, only: values.only ?? "" });
    else await measureInit(browser, address);
  } finally {
    await browser.close();
    server.end();
  }
}

await main().catch(fail);
