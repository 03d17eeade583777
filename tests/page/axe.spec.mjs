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

/** What is told by grounds or by lines that are not seen is told in forced colours too, which make all grounds and all lines alike. */
async function checkForced(lab, check, colorScheme) {
  const { page } = lab;
  await page.emulateMedia({ colorScheme, forcedColors: "active" });
  const all = (selector, read) => page.locator(selector).evaluateAll(read);
  const what = (name) => `forced colours, ${colorScheme}: ${name}`;
  const links = await all(".tabs a", (links) =>
    links.map((link) => [
      link.hasAttribute("aria-current"),
      Number.parseFloat(getComputedStyle(link).borderBottomWidth),
    ]),
  );
  check(
    what("the open part's link has a line, and no other"),
    links.filter(([isOpen]) => isOpen).length === 1 && links.every(([isOpen, width]) => isOpen === width > 0),
    JSON.stringify(links),
  );
  const choices = await all(".stage .segments, #cite .segments", (groups) =>
    groups.map((group) =>
      [...group.querySelectorAll("input")].map((input) => [
        input.checked,
        // Without how opaque: what is not seen through is the page's ground again.
        getComputedStyle(input.nextElementSibling)
          .backgroundColor.match(/[\d.]+/g)
          .slice(0, 3)
          .join(),
      ]),
    ),
  );
  check(
    what("what is chosen is not the ground of what is not"),
    choices.length > 1 &&
      choices.every((group) => {
        const chosen = group.filter(([isChosen]) => isChosen).map(([, ground]) => ground);
        return chosen.length === 1 && group.every(([isChosen, ground]) => isChosen === (ground === chosen[0]));
      }),
    JSON.stringify(choices),
  );
  const cells = await all("table.invariance td button", (cells) =>
    cells.map((cell) => {
      const { borderLeftWidth, backgroundColor } = getComputedStyle(cell);
      return [cell.dataset.expected === "invariant", Number.parseFloat(borderLeftWidth) > 0, backgroundColor];
    }),
  );
  const bars = cells.filter(([, hasBar]) => hasBar).length;
  check(
    what("the bar stands where something should stand still"),
    bars > 0 && bars < cells.length && cells.every(([should, hasBar]) => should === hasBar),
    `${bars} of ${cells.length}`,
  );
  check(what("cells have their heat"), new Set(cells.map(([, , ground]) => ground)).size > 4);
  const ramps = await all(".loss-scale .colours, .heat-scale .ramp", (ramps) =>
    ramps.map((ramp) => getComputedStyle(ramp).backgroundImage),
  );
  check(what("legends have their colours"), ramps.length > 1 && ramps.every((ramp) => ramp.includes("gradient")));
  const tracks = await all(".gauge .scale", (scales) =>
    scales.map((scale) => {
      const ground = getComputedStyle(scale.closest(".gauge")).backgroundColor;
      return getComputedStyle(scale, "::before").backgroundColor !== ground;
    }),
  );
  check(what("gauges have their scales"), tracks.length === 3 && tracks.every(Boolean), tracks.join());
  const sliders = await all("#sharpness", ([slider]) => getComputedStyle(slider).forcedColorAdjust);
  check(what("sliders have their tracks"), sliders === "none", sliders);
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
  await part("in forced colours", async () => {
    await page.setViewportSize(DESKTOP);
    await lab.goTo("check");
    for (const colorScheme of ["light", "dark"]) await checkForced(lab, check, colorScheme);
  });
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
