/**
 * The first seconds: what is seen when, that nothing moves away from under the eye, that only what is looked at is loaded, and that
 * what can wait does while something moves.
 */

import { expect } from "@playwright/test";

/** Above this Chrome calls it in need of improvement at 0.1; ours is an order of magnitude below. */
const MOST_SHIFT = 0.03;

/** Begins before the page does. `processors`: as many as the page is to think that there are. */
function watch(processors) {
  Object.defineProperty(navigator, "hardwareConcurrency", { get: () => processors });
  window.firstSeconds = { shift: 0, shifted: [], longest: 0, blocked: 0, keeps: null, stands: null };
  const { firstSeconds } = window;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      firstSeconds.shift += value;
      firstSeconds.shifted.push(...sources.map(({ node }) => node?.id || node?.className || node?.nodeName));
    }
  }).observe({ type: "layout-shift", buffered: true });
  // What is longer than this keeps a press waiting, by the definition of the total blocking time.
  const SHORT = 50;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      firstSeconds.longest = Math.max(firstSeconds.longest, duration);
      firstSeconds.blocked += Math.max(duration - SHORT, 0);
    }
  }).observe({ type: "longtask", buffered: true });
  const look = () => {
    if (document.querySelector("#landscapes .view")?.shadowRoot?.querySelector("canvas"))
      firstSeconds.surface ??= performance.now();
    if (window.isoflatLab?.app.store.state.sharpness.decades > 0) firstSeconds.moves = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  const watchStore = () => {
    const store = window.isoflatLab?.app.store;
    if (!store) return setTimeout(watchStore);
    store.watch(["sharpness"], () => {
      // Where the twin comes to stand on arrival.
      if (store.state.sharpness.decades >= 3.5) firstSeconds.stands ??= Date.now();
    });
  };
  watchStore();
  const container = navigator.serviceWorker;
  const register = container.register.bind(container);
  container.register = (...args) => {
    firstSeconds.keeps = window.isoflatLab.app.store.state.task;
    return register(...args);
  };
}

const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;

export async function checkFirstSeconds(browser, url, check) {
  for (const [name, processors, options] of [
    ["a laptop", 8, { viewport: { width: 1366, height: 768 } }],
    ["a phone", 2, { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }],
  ]) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const loaded = [];
    let data;
    page.on("request", (request) => {
      loaded.push(request.url());
      if (/\/mnist\//.test(request.url())) data ??= Date.now();
    });
    await page.addInitScript(watch, processors);
    await page.goto(url);
    await page.waitForFunction(() => window.firstSeconds.moves, null, { timeout: 60_000 });
    const scrolled = await page.evaluate(() => window.scrollY);
    check(`${name}: the page begins at its beginning`, scrolled === 0, `${scrolled} px down`);
    await page.waitForFunction(() => window.isoflatLab.app.store.state.task === "idle", null, { timeout: 120_000 });
    const { shift, shifted, surface, moves, paint, longest, blocked, stands } = await page.evaluate(() => ({
      ...window.firstSeconds,
      paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
    }));
    console.log(
      `  ${name}: words after ${seconds(paint)}, a surface after ${seconds(surface)}, it moves after ${seconds(moves)}; ` +
        `its longest task took ${longest.toFixed()} ms, all together kept presses waiting for ${blocked.toFixed()} ms`,
    );
    check(
      `${name}: nothing moves while the stage fills`,
      shift < MOST_SHIFT,
      `${shift.toFixed(4)}: ${shifted.join(", ")}`,
    );
    // Where there are more, the engine gets ready while the twin moves.
    if (processors <= 2) {
      const said = `asked for ${data - stands} ms after it`;
      check(`${name}: the network's data come when the twin stands, and then by themselves`, data >= stands, said);
    }
    await page.waitForFunction(() => window.firstSeconds.keeps);
    const keeps = await page.evaluate(() => window.firstSeconds.keeps);
    check(`${name}: its files are kept when all that it shows by itself is there`, keeps === "idle", keeps);
    // One that is never over has the browser make frames for as long as the page is open.
    const animations = () => document.getAnimations().map(({ effect }) => effect.target.outerHTML.slice(0, 80));
    const rests = { message: `${name}: what moved is at rest`, timeout: 3000 };
    await expect.poll(() => page.evaluate(animations), rests).toEqual([]);
    const spaces = () => loaded.some((address) => /\/spaces-(?!worker)/.test(address));
    check(`${name}: a part that is not open is not loaded`, !spaces());

    const before = await page.evaluate(() => window.scrollY);
    await page.evaluate(() => document.querySelector(".tabs a[href='#/spaces']").click());
    await page.waitForSelector("#spaces h2");
    const { top, after } = await page.evaluate(() => ({
      after: window.scrollY,
      top: document.querySelector(".tabs a[aria-current]").getBoundingClientRect(),
    }));
    check(`${name}: it is when it is opened`, spaces());
    check(`${name}: the page stays where it is`, after === before, `${before} px, then ${after} px`);
    const isInView = top.left >= 0 && top.right <= options.viewport.width;
    check(`${name}: the tab is in view in its list`, isInView, `${top.left.toFixed()} to ${top.right.toFixed()}`);
    await context.close();
  }
}
