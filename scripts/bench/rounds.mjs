/**
 * One piece of work for all contenders, interleaved: every round runs each of them once, so that all see the same machine.
 * Slow ones take part in fewer rounds, spread evenly over the others', and never in fewer than three.
 */

import { beforehand, ceilings, contenders } from "./contenders.mjs";
import { openPython } from "./python.mjs";

/** Warm-up: at least this many runs and milliseconds, until the browser's compilers have done what they do. */
const WARM_UP = { runs: 3, ms: 1500, slow: 4000 };
const LEAST = 3;
/** Milliseconds one run may take before its contender is given up. */
const LIMIT = 180_000;
/** The same once it is warm. */
const WARM_LIMIT = 100_000;

/** The middle one, or the mean of the two. */
export const median = (times) => {
  const sorted = times.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

class Late extends Error {}

function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Late(`${what} took over ${LIMIT / 1000} s`)), LIMIT);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Asks a contender, in a tab or a program of its own, for one of the things that benches/web/page.mjs has. */
const call = (tab, method, argument) => within(tab.call(method, argument), method);

/** Playwright's messages carry stacks; the first line says it. */
const reason = (error) => error.message.replace(/^page\.evaluate: (Error: )?/, "").split("\n")[0];

async function openTab(browser, address, contender, work) {
  if (contender.library === "pytorch") {
    const tab = await openPython(work, address);
    return { tab, adapter: tab.adapter, has: tab.operations };
  }
  const page = await browser.newPage();
  page.setDefaultTimeout(LIMIT);
  await page.goto(contender.isolated ? `${address}?isolated` : address);
  await page.waitForFunction(() => window.bench !== undefined);
  const tab = {
    call: (method, argument) => page.evaluate(([name, value]) => window.bench[name](value), [method, argument]),
    isClosed: () => page.isClosed(),
    close: () => page.close(),
  };
  const { module, options } = contender;
  const opened = await call(tab, "open", { module, work, options });
  // A page that is not isolated as it should be would compare unequal numbers of threads.
  if (opened.isolated !== Boolean(contender.isolated)) throw new Error("the page's isolation is not as asked for");
  return { tab, adapter: opened.adapter, has: opened.operations, flops: opened.flops };
}

/** Warms one cell up, checks its numbers, and says how long a run takes. */
async function begin({ tab, contender, work, operation, budget, rounds }) {
  // The first run compiles, and may try several forms; it says nothing of the next ones.
  await call(tab, "time", operation);
  const { ms, dispatches, submissions } = await call(tab, "counts", operation);
  if (ms > WARM_LIMIT) throw new Error(`one run takes ${Math.round(ms / 1000)} s: given up`);
  let [spent, runs, last] = [ms, 1, ms];
  while (last < WARM_UP.slow && (runs < WARM_UP.runs || spent < WARM_UP.ms)) {
    last = await call(tab, "time", operation);
    spent += last;
    runs++;
  }
  const found = await call(tab, "error", { work, operation, isReference: Boolean(contender.reference) });
  const counts = contender.gpu ? { dispatches, submissions } : undefined;
  const planned = Math.max(LEAST, Math.min(rounds, Math.floor((budget * 1000) / last)));
  return { times: [], planned, ...found, counts };
}

/** Runs `operation` of `work` for everyone in `tabs`; a row each, the missing ones with their reason. */
async function compare(tabs, work, operation, { rounds, budget, say }) {
  const cells = [];
  for (const { contender, tab, failure, has, flops } of tabs) {
    const timed = contender.isCeiling ? "ceiling" : operation;
    if (tab !== undefined && !has.includes(timed)) continue;
    const { name, library, isCeiling, gpu } = contender;
    const cell = { name, library, operation, timed, ...(isCeiling && { ceilingOf: gpu ? "webgpu" : "cpu", flops }) };
    cells.push(cell);
    if (failure !== undefined || tab.isClosed()) {
      cell.failure = failure ?? "given up before";
      continue;
    }
    try {
      say(`${work}, ${operation}: warming up ${contender.name}`);
      Object.assign(cell, await begin({ tab, contender, work, operation: timed, budget, rounds }));
      cell.tab = tab;
    } catch (error) {
      cell.failure = reason(error);
      // What still runs in a tab that was given up would slow the others.
      if (error instanceof Late) await tab.close();
    }
  }
  say(`${work}, ${operation}: ${rounds} interleaved rounds`);
  for (let round = 0; round < rounds; round++) {
    for (const cell of cells) {
      const taken = (n) => Math.floor((n * cell.planned) / rounds);
      if (cell.failure !== undefined || taken(round + 1) === taken(round)) continue;
      try {
        cell.times.push(await call(cell.tab, "time", cell.timed));
      } catch (error) {
        cell.failure = reason(error);
      }
    }
  }
  return cells.map(({ tab: _, planned: __, timed: ___, times, ...cell }) =>
    cell.failure === undefined
      ? { ...cell, ms: median(times), fastest: Math.min(...times), slowest: Math.max(...times), rounds: times.length }
      : cell,
  );
}

export async function runWork(browser, address, work, operations, { only, devices, ...options }) {
  const asked = ({ library, gpu, isCeiling }) =>
    (isCeiling || only.includes(library)) && devices.includes(gpu ? "webgpu" : "cpu");
  const all = [...contenders, ...beforehand, ...ceilings];
  const chosen = all.filter((contender) => contender.reference || asked(contender));
  const tabs = [];
  const results = [];
  try {
    for (const contender of chosen) {
      options.say(`${work}: opening ${contender.name}`);
      try {
        tabs.push({ contender, ...(await openTab(browser, address, contender, work)) });
      } catch (error) {
        tabs.push({ contender, failure: reason(error) });
      }
    }
    for (const operation of operations) results.push(...(await compare(tabs, work, operation, options)));
    // Otherwise every cell after a crash, or an interruption, would be "not available" in a table that looks whole.
    if (!browser.isConnected()) throw new Error(`the browser has gone during ${work}`);
  } finally {
    for (const { tab } of tabs) await tab?.close();
  }
  const adapters = tabs.map(({ contender, adapter }) => ({ name: contender.name, adapter }));
  return { work, adapters, results };
}
