/** No violation that axe finds: the stage, every tab, a report and a frame, light, dark and on a phone, and what opens over them. */

import { AxeBuilder } from "@axe-core/playwright";
import { test } from "./fixtures.mjs";
import { openRows } from "./gallery.mjs";
import { Lab } from "./lab.mjs";

const DESKTOP = { width: 1366, height: 768 };
const PHONE = { width: 390, height: 844 };

/**
 * What axe finds wrong with a part of the page as it is now, one line for each rule. There are no frames in it, so that all of it runs
 * where it is ("legacy"), and what is in order, thousands of elements, is not written out.
 */
async function violations(page, part) {
  const { violations } = await new AxeBuilder({ page })
    .include(part)
    // Style sheets are read for one rule alone, which is an experiment and not among those that are run.
    .options({ resultTypes: ["violations"], preload: { assets: ["media"] } })
    .setLegacyMode()
    .analyze();
  return violations.map(({ id, help, nodes }) => {
    const places = nodes.slice(0, 3).map(({ target, any }) => `${target.join(" ")} ${any[0]?.message ?? ""}`.trim());
    return `${id} (${help}): ${nodes.length} × ${places.join(" | ")}`;
  });
}

async function checkAxe(page, check, what, { part = "html" } = {}) {
  // Nothing may be on its way from one colour to another.
  await page.evaluate(() =>
    Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => {}))),
  );
  const found = await violations(page, part);
  check(`nothing is wrong with ${what}`, found.length === 0, found.join("\n      "));
}

const surroundings = [
  { name: "light", viewport: DESKTOP, colorScheme: "light" },
  { name: "dark", viewport: DESKTOP, colorScheme: "dark" },
  { name: "on a phone", viewport: PHONE, colorScheme: "light" },
];

test("Every tab, after training, bending and the check", async ({ lab, check, part }) => {
  const { page } = lab;
  await lab.set("epochs", 1);
  await lab.set("samples", 2000);
  await lab.set("measured", 100);
  await lab.train();
  await lab.drag("#sharpness", 0.4);
  await lab.goTo("check");
  await page.click("#check-button");
  await page.waitForSelector("table.invariance");
  await lab.goTo("spectrum");
  await page.selectOption("#operator-part", "layer_3");
  await page.click("#spectrum-button");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.densities.trained);
  // Cards with numbers and drawings in them.
  await lab.goTo("dinh");
  for (const what of ["normalized", "inputs"]) {
    await lab.idle();
    await page.click(`#${what}-button`);
    await page.waitForFunction((what) => window.isoflatLab.app.store.state.dinh[what], what);
  }
  await lab.looked();
  for (const { name, viewport, colorScheme } of surroundings) {
    await part(name, async () => {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      for (const tab of await lab.tabs()) {
        await lab.goTo(tab);
        if (tab === "papers" && viewport === PHONE) await openRows(page);
        await checkAxe(page, check, tab, { part: "#panels" });
      }
    });
  }
});

test("On arrival, and what opens over the page", async ({ browser, url, check, part, problem }) => {
  const lab = await Lab.open(browser, url, { measured: null });
  const { page } = lab;
  for (const { name, viewport, colorScheme } of surroundings) {
    await part(name, async () => {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await checkAxe(page, check, "the page as it opens");
      await lab.more();
      await page.getByLabel("every hidden unit by its own random factor").check();
      await checkAxe(page, check, "what is under More", { part: "#stage" });
      await page.getByLabel("every hidden unit by its own random factor").uncheck();
      await lab.more(false);
      await page.click("#guide-next");
      await page.click("#guide-next");
      await lab.rest();
      await checkAxe(page, check, "the tour", { part: "#stage" });
      await page.click("#guide-skip");
      await lab.rest();
    });
  }
  await part("an error, a question, a file", async () => {
    await lab.chooseFile("bad.json", "[1, 2, 3]");
    await page.waitForSelector(".message.error");
    await checkAxe(page, check, "an error");
    await page.getByRole("button", { name: "Dismiss" }).click();
    await lab.set("epochs", 1);
    await lab.train();
    await lab.rest();
    await page.click("#train-button");
    await page.locator("dialog.ask").waitFor();
    await checkAxe(page, check, "a question");
    await page.keyboard.press("Escape");
    await lab.chooseFile("mlp_bias.json", problem);
    // What is on the stage has been trained here, and has no name.
    await page.locator("dialog.ask").getByText("Replace it").click();
    await page.waitForFunction(() => /7-6-4-3/.test(document.querySelector("#model-summary")?.textContent ?? ""));
    await lab.idle();
    await checkAxe(page, check, "a file that is open");
  });
});

test("A report, notes, a menu, a frame", async ({ browser, url, lab, check, part, problem }) => {
  const { page } = lab;
  await lab.reportOf("mlp_bias.json", problem);
  const context = await browser.newContext({ viewport: { width: 880, height: 680 }, reducedMotion: "reduce" });
  const frame = new Lab(await context.newPage());
  await frame.page.goto(`${url}?embed#/train`);
  await frame.page.waitForSelector("#landscapes [data-point=bent] canvas");
  for (const { name, viewport, colorScheme } of surroundings) {
    await part(name, async () => {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.evaluate(() => {
        location.hash = "#/report";
      });
      await page.waitForSelector("#report-save");
      await checkAxe(page, check, `a report, ${name}`);
      // A report has the page to itself.
      await page.click(".report-ways a");
      await page.click("#gauge-stands .term");
      await page.locator("#term-note").waitFor();
      await checkAxe(page, check, `what a word means, ${name}`);
      await page.click("#gauge-swings [data-about]");
      await page.locator("#measure-note .formula math").first().waitFor();
      await checkAxe(page, check, `what a measure is, ${name}`);
      await page.keyboard.press("Escape");
      await page.click("#gauges button.take");
      await page.locator(".take-menu").waitFor();
      await checkAxe(page, check, `a menu, ${name}`);
      await page.keyboard.press("Escape");
      await frame.page.emulateMedia({ colorScheme });
      await checkAxe(frame.page, check, `a frame of another page, ${name}`);
    });
  }
});
