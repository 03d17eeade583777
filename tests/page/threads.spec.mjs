/** The package's threads: in a page that is cross-origin isolated, in one that is not, and where workers are forbidden. */

import { root, test } from "./fixtures.mjs";
import { Lab } from "./lab.mjs";
import { serve } from "./server.mjs";

/**
 * Sums of N terms in another order differ by N ε, and every one of training's 4 steps passes on what has come before. Outputs
 * are computed by the same operations. A measure at a point that is so much another one differs by a multiple, its condition;
 * an eigenvalue besides by the square of its residual's tolerance (1e-9 or 2e-5), an ascent by the gap that it ended at.
 */
const tolerancesOf = (epsilon) => ({
  outputs: 0,
  trained: 4 * 200 * epsilon,
  measures: 100 * 4 * 200 * epsilon,
  other: 4 * 200 * epsilon,
});
const TOLERANCES = { f64: tolerancesOf(2 ** -52), f32: tolerancesOf(2 ** -23) };

const ISOLATED = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** A page with a worker that has the package. */
async function open(browser, folder, headers) {
  const server = await serve(folder, headers);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${server.url}tests/page/threads/`);
  await page.waitForFunction(() => window.run !== undefined);
  const run = (body, argument) => page.evaluate(([body, argument]) => window.run(body, argument), [body, argument]);
  const close = async () => {
    await context.close();
    server.close();
  };
  return { page, run, close };
}

/** Dedicated workers of the browser, nested ones too. */
async function workers(browser) {
  const session = await browser.newBrowserCDPSession();
  const { targetInfos } = await session.send("Target.getTargets", { filter: [{}] });
  await session.detach();
  return targetInfos.filter(({ type }) => type === "worker").length;
}

async function workersBecome(browser, count) {
  for (let tries = 0; tries < 50 && (await workers(browser)) !== count; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return workers(browser);
}

const folder = root.replace(/\/$/, "");
const list = (stops) =>
  stops.map(({ name, after, code, next }) => `${name} ${after}: ${code} ${next.toFixed()} ms`).join();
const saysSo = ({ info, loss }, reason) => info.threads === 1 && reason.test(info.threadsReason) && loss > 0;

test("Threads in an isolated page", async ({ browser, check }) => {
  const { page, run, close } = await open(browser, folder, ISOLATED);
  check("the page is isolated", await page.evaluate(() => crossOriginIsolated));
  for (const [precision, tolerances] of Object.entries(TOLERANCES)) {
    const { infos, two, three, again } = await run("compare", precision);
    const counts = infos.map(({ threads }) => threads).join();
    check(`${precision}: there are as many threads as were asked for`, counts === "1,2,3", infos[1].adapter);
    check(
      `${precision}: and no reason for fewer`,
      infos.every(({ threadsReason }) => threadsReason === undefined),
    );
    for (const [name, differences] of Object.entries({ two, three })) {
      const wrong = Object.entries(differences).filter(
        ([key, difference]) => !(difference <= (tolerances[key] ?? tolerances.other)),
      );
      check(`${precision}: ${name} threads find what one does`, wrong.length === 0, JSON.stringify(differences));
    }
    const same = Object.values(again).every((difference) => difference === 0);
    check(`${precision}: the same number of threads finds the same bits`, same, JSON.stringify(again));
  }
  const { info, cores } = await run("ask", "auto");
  check("auto takes what the computer has", info.threads === Math.min(cores, 8), `${info.threads} of ${cores}`);
  const codes = await run("refused", [0, 1.5, -2, 65, "many"]);
  check("other numbers are refused", codes.join() === Array(5).fill("invalid_option").join(), codes.join());

  const { code, ms, reports, loss } = await run("stop");
  check("stopping stops within a second", code === "AbortError" && ms < 1000 && reports <= 4, `${code}, ${ms} ms`);
  check("and the engine goes on", loss > 0);

  const { stops, again } = await run("stopWithin");
  // A pass over these data takes seconds.
  const late = stops.filter(({ code, next }) => code !== "AbortError" || !(next < 500));
  check(
    "stops are heard in the middle of a pass, by all threads",
    stops.length === 10 && late.length === 0,
    list(stops),
  );
  check("and the engine finds what it has found before", again);

  const said = await run("fail");
  const expected = /^true device_lost: thread [23] of 3 has failed: RangeError: out of luck\. Create a new engine$/;
  check(
    "a thread that fails is an error, not a hang",
    said.every((text) => expected.test(text)),
    said[0],
  );
  const lost = await run("lose");
  const silent = /^device_lost: thread 2 of 2 has failed: it has not answered for 10 s\. Create a new engine$/;
  check(
    "one that is gone is missed",
    silent.test(lost.said) && lost.ms < 20_000,
    `${lost.said}, ${lost.ms.toFixed()} ms`,
  );
  check("and the caller is free until then", lost.longest < 500, `${lost.longest.toFixed()} ms`);
  const unstarted = await run("failToStart");
  check("workers that do not start leave one thread", saysSo(unstarted, /no such luck/), unstarted.info.threadsReason);

  const before = await workers(browser);
  const kept = (await run("keep", 3)) + (await run("keep", 2));
  const running = await workersBecome(browser, before + 3);
  check("engines have a worker a thread but their own", kept === 5 && running === before + 3, `${running}`);
  const length = await run("free");
  const after = await workersBecome(browser, before);
  check("free() ends them, when running calls have ended", length > 1e6 && after === before, `${after}`);
  await run("keep", 3);
  await workersBecome(browser, before + 2);
  await page.evaluate(() => window.begin());
  const replaced = await workersBecome(browser, before);
  check("they end with the worker that has started them", replaced === before, `${replaced}`);

  const here = await page.evaluate(async () => {
    const isoflat = await import("/pkg/isoflat.js");
    await isoflat.default();
    return (await import("./bodies.mjs")).ask(isoflat, 2);
  });
  check("on a page's main thread there is one", saysSo(here, /main thread/), here.info.threadsReason);
  await close();
});

test("Threads in a page that is not isolated", async ({ browser, check }) => {
  const { run, close } = await open(browser, folder, {});
  for (const threads of [2, "auto"]) {
    const found = await run("ask", threads);
    check(`${threads}: one thread, and why`, saysSo(found, /isolated/), found.info.threadsReason);
  }
  const { info } = await run("ask", 1);
  check("one thread needs no reason", info.threads === 1 && info.threadsReason === undefined);
  await close();
});

test("Threads under a policy that forbids such workers", async ({ browser, check }) => {
  const policy = { "Content-Security-Policy": "worker-src 'self'" };
  const { run, close } = await open(browser, folder, { ...ISOLATED, ...policy });
  const found = await run("ask", 2);
  check("one thread, and why", saysSo(found, /Content-Security-Policy/), found.info.threadsReason);
  await close();
});

test("The lab, isolated", async ({ browser, check }) => {
  const server = await serve(`${folder}/dist`, ISOLATED);
  const lab = await Lab.open(browser, server.url);
  const { page } = lab;
  await page.selectOption("#backend", "cpu");
  await lab.idle();
  const cores = await page.evaluate(() => Math.min(navigator.hardwareConcurrency, 8));
  const badge = await lab.text("#badge");
  check("the badge names the threads", badge.includes(cores > 1 ? `${cores} threads` : "one thread"), badge);
  await lab.set("epochs", 1);
  await lab.train();
  await page.waitForSelector("#landscapes [data-point=trained] canvas", { timeout: 180_000 });
  const norm = await lab.waitForMeasure("hessian.spectral_norm", "trained");
  check("it trains, measures and draws", norm > 0, `spectral norm ${norm}`);
  await lab.idle();
  check("nothing failed to load", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
  server.close();
});
