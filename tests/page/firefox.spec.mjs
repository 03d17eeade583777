/** The page's way in Firefox: it arrives, moves, bends, trains, measures and checks, and a reload brings it all back. */

import { findFirefox, noFirefox } from "../../scripts/lib/browser.mjs";
import { launchFirefox, pageForDriver } from "./firefox.mjs";
import { test as base, root } from "./fixtures.mjs";
import { Lab } from "./lab.mjs";
import { checkBent, checkInvariance, checkTestAccuracy } from "./steps.mjs";

const test = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs.
  changed: [async ({}, use) => use(pageForDriver(`${root}dist`)), { scope: "worker" }],

  browser: [
    async ({ playwright }, use) => {
      const { browser, close } = await launchFirefox(playwright);
      await use(browser);
      await close();
    },
    { scope: "worker" },
  ],

  /** As it arrives: with what the page comes with, and with its service worker. */
  lab: async ({ browser, url }, use) => use(await Lab.open(browser, url, { serviceWorkers: "allow" })),
});

test.skip(findFirefox() === undefined, noFirefox);

/** Surfaces want WebGL; where there is none the page says so, and draws maps of the same numbers. */
async function checkDrawn(lab, check, point) {
  const without = await lab.count(`#landscapes [data-point=${point}] svg path.level`);
  if (without > 0) {
    check(`the ${point} landscape is drawn as a map, without WebGL`, without >= 3, `${without} levels`);
    return false;
  }
  const colours = await lab.colours(`#landscapes [data-point=${point}] canvas`);
  check(`the ${point} surface is drawn`, colours > 20, `${colours} colours`);
  return true;
}

const shown = (page) =>
  page.evaluate(() => {
    const { training, sharpness, measures } = window.isoflatLab.app.store.state;
    const norms = ["trained", "bent"].map((point) => measures[point].get("hessian.spectral_norm")?.value);
    return JSON.stringify({ training, sharpness, norms });
  });

/** What is saved, before it leaves the page: Playwright hears of no downloads over WebDriver BiDi. */
const written = (page, button) =>
  page.evaluate(
    (button) =>
      new Promise((resolve) => {
        const { createObjectURL } = URL;
        URL.createObjectURL = (blob) => {
          URL.createObjectURL = createObjectURL;
          resolve(blob.text());
          return createObjectURL(blob);
        };
        document.querySelector(button).click();
      }),
    button,
  );

test("The way through the page", async ({ browser, check, lab, part }) => {
  // Half a minute is usual. Of what hangs one should hear sooner than by the limit of other tests.
  test.setTimeout(5 * 60_000);
  const { page } = lab;
  let hasWebGl = true;

  await part("Arriving", async () => {
    check(
      "the badge says what computes",
      /^(CPU|WebGPU) · .+ · f(64|32)$/.test(await lab.text("#badge")),
      await lab.text("#badge"),
    );
    check("this is Firefox", /Firefox\//.test(await page.evaluate(() => navigator.userAgent)), browser.version());
    for (const point of ["trained", "bent"]) if (!(await checkDrawn(lab, check, point))) hasWebGl = false;
    check("ten digits are read", (await lab.count("#digits figure")) === 10);
    check("one gauge swings", (await lab.verdict("swings")) === "moves");
  });

  await part("The slider", async () => {
    await page.evaluate(() => {
      const { store } = window.isoflatLab.app;
      window.seenPreviews = 0;
      store.watch(["preview"], () => {
        if (store.state.preview) window.seenPreviews++;
      });
    });
    const start = performance.now();
    // Held until it has: how soon that is, a busy computer decides.
    const follows = () =>
      page.waitForFunction(() => window.seenPreviews > 0, null, { timeout: 10_000 }).catch(() => {});
    await lab.drag("#sharpness", 0.2, { held: follows });
    const seconds = (performance.now() - start) / 1000;
    const previews = await page.evaluate(() => window.seenPreviews);
    check("the surface follows it", previews > 0, `${previews} in ${seconds.toFixed(1)} s`);
    await lab.looked();
    await page.click("#bend-reset");
    await lab.idle();
    check("and it comes back to × 1", (await page.inputValue("#sharpness")) === "0");
  });

  await part("Training", async () => {
    await lab.set("seed", 7);
    await lab.train();
    const { seed } = await page.evaluate(() => window.isoflatLab.app.store.state.trainChoice);
    check("with the seed that was typed", seed === 7, `seed ${seed}`);
    await lab.idle();
    await checkTestAccuracy(lab, check);
  });

  await part("Bending and measuring", async () => {
    await lab.waitForMeasure("hessian.trace", "trained");
    await lab.drag("#lambda-1", 5 / 6);
    await checkBent(lab, check, "f64");
    await lab.goTo("measures");
    await lab.waitForMeasure("petzka.kappa_sum", "bent");
    check("a tab's measures are computed when it is opened", true);
  });

  await part("The check", async () => {
    await lab.goTo("check");
    await page.click("#check-button");
    await checkInvariance(lab, check);
    await lab.idle();
  });

  await part("A reload", async () => {
    const before = await shown(page);
    // So long the page waits for a choice to rest before it is kept.
    await page.waitForTimeout(800);
    // The next load is the service worker's, whole.
    await page.waitForFunction(() => /Works offline/.test(document.querySelector("#offline")?.textContent ?? ""));
    await page.reload({ timeout: 60_000 });
    await page.waitForSelector("#badge:not([data-state=starting])");
    await lab.idle();
    // The twin is measured anew, on more threads where the service worker has brought them: but for rounding it is the same.
    const rounded = (text) => text.replaceAll(/\d+\.\d{8,}/g, (digits) => Number(digits).toPrecision(9));
    const after = await shown(page);
    check(
      "brings the network, its bend and its numbers back",
      rounded(after) === rounded(before),
      `${before} ${after}`,
    );
    await lab.goTo("train");
    const seed = await page.inputValue("#seed");
    check("with its options", seed === "7", `seed ${seed}`);
  });

  await part("Saving", async () => {
    await lab.goTo("keep");
    const saved = JSON.parse(await written(page, "#save-problem"));
    check("the problem file has the parameters", saved.parameters.length === 784 * 64 + 64 + 64 * 32 + 32 + 330);
  });

  await part("Narrow", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.waitForTimeout(200);
    const overflow = await lab.overflow();
    check("nothing is wider than a window of 390 px", overflow <= 0, `${overflow} px`);
  });

  // Firefox and three.js say so in the console, each time.
  if (!hasWebGl) lab.forgive(/WebGL/);
});

const NORM = "hessian.spectral_norm";

test("WebGPU, where there is an adapter", async ({ check, lab }) => {
  const { page } = lab;
  // Where one software driver is had for WebGPU, Firefox may have none for WebGL; the other test holds that it draws.
  lab.forgive(/WebGL (context could not be created|creation failed)|Error creating WebGL context/);
  // Firefox 140 has the interface without what is behind it.
  const isThere = await page.evaluate(async () => Boolean(await navigator.gpu?.requestAdapter().catch(() => null)));
  test.skip(
    !isThere,
    "this Firefox finds no WebGPU adapter (140 never does; for later ones Mesa's Vulkan driver is one on Linux)",
  );
  /** What the stage shows of the trained network; what the parts below it would is not waited for. */
  const known = async () => {
    await page.waitForFunction(
      (norm) => {
        const { measures, surfaces, accuracy } = window.isoflatLab.app.store.state;
        return surfaces.trained && measures.trained.has(norm) && accuracy.trained !== undefined;
      },
      NORM,
      { timeout: 8 * 60_000 },
    );
    await page.evaluate(() => window.isoflatLab.app.stop());
    await lab.idle();
    return page.evaluate((norm) => {
      const { engine, measures, surfaces, accuracy } = window.isoflatLab.app.store.state;
      const { loss } = surfaces.trained;
      return { info: engine.info, norm: measures.trained.get(norm).value, accuracy: accuracy.trained, loss: [...loss] };
    }, NORM);
  };
  // A software adapter computes on the cores that the page is drawn with.
  await page.evaluate(() => void window.isoflatLab.app.setMeasured(100));
  await lab.measuring(100);
  const cpu = await known();
  await page.selectOption("#backend", "webgpu");
  await page.waitForFunction(() => /WebGPU/.test(document.querySelector("#badge")?.textContent ?? ""));
  check("the badge names it", /^WebGPU · .+ · f32$/.test(await lab.text("#badge")), await lab.text("#badge"));
  const gpu = await known();
  check("it is the GPU that has computed", gpu.info.api === "webgpu" && gpu.info.precision === "f32");
  check("the Hessian's norm is the CPU's", Math.abs(gpu.norm / cpu.norm - 1) < 1e-4, `${gpu.norm}, ${cpu.norm}`);
  check("so is the accuracy", Math.abs(gpu.accuracy - cpu.accuracy) < 1e-3, `${gpu.accuracy}, ${cpu.accuracy}`);
  const worst = Math.max(...gpu.loss.map((loss, index) => Math.abs(loss / cpu.loss[index] - 1)));
  check("and the surface, point by point", worst < 1e-4, `${worst}`);
  check("nobody was told of an error", (await lab.count(".message")) === 0);
});
