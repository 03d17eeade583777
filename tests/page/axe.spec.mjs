/** No violation that axe finds: the stage and every tab, light, dark and on a phone, and what opens over them. */

import { AxeBuilder } from "@axe-core/playwright";
import { test } from "./fixtures.mjs";

const DESKTOP = { width: 1366, height: 768 };
const PHONE = { width: 390, height: 844 };

/** What axe finds wrong with a part of the page as it is now, one line for each rule. */
async function violations(page, part, rules) {
  const builder = new AxeBuilder({ page }).include(part);
  const { violations } = await (rules ? builder.withRules(rules) : builder).analyze();
  return violations.map(({ id, help, nodes }) => {
    const places = nodes.slice(0, 3).map(({ target, any }) => `${target.join(" ")} ${any[0]?.message ?? ""}`.trim());
    return `${id} (${help}): ${nodes.length} × ${places.join(" | ")}`;
  });
}

async function checkAxe(page, check, what, { part = "html", rules } = {}) {
  // Nothing may be on its way from one colour to another.
  await page.evaluate(() =>
    Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => {}))),
  );
  const found = await violations(page, part, rules);
  check(`nothing is wrong with ${what}`, found.length === 0, found.join("\n      "));
}

/** What is right in one theme can only be wrong in the other by its colours. */
const CONTRAST = ["color-contrast"];
const surroundings = [
  { name: "light", viewport: DESKTOP, colorScheme: "light" },
  { name: "dark", viewport: DESKTOP, colorScheme: "dark", rules: CONTRAST },
  { name: "on a phone", viewport: PHONE, colorScheme: "light" },
];

test("Every tab, after training, bending and the check", async ({ lab, check, part }) => {
  const { page } = lab;
  await lab.set("epochs", 1);
  await lab.train();
  await lab.drag("#sharpness", 0.4);
  await lab.goTo("check");
  await page.click("#check-button");
  await page.waitForSelector("table.invariance");
  await lab.goTo("spectrum");
  await page.selectOption("#operator-part", "layer_3");
  await page.click("#spectrum-button");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.densities.trained);
  await lab.looked();
  for (const { name, viewport, colorScheme, rules } of surroundings) {
    await part(name, async () => {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      for (const tab of await lab.tabs()) {
        await lab.goTo(tab);
        await checkAxe(page, check, tab, { part: "#panels", rules });
      }
    });
  }
});

test("On arrival, and what opens over the page", async ({ lab, check, part, problem }) => {
  const { page } = lab;
  for (const { name, viewport, colorScheme, rules } of surroundings) {
    await part(name, async () => {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await checkAxe(page, check, "the page as it opens", { rules });
      await lab.more();
      await page.getByLabel("every hidden unit by its own random factor").check();
      await checkAxe(page, check, "what is under More", { part: "#stage", rules });
      await page.getByLabel("every hidden unit by its own random factor").uncheck();
      await lab.more(false);
      await page.click("#guide-next");
      await page.click("#guide-next");
      await lab.idle();
      await checkAxe(page, check, "the tour", { part: "#stage", rules });
      await page.click("#guide-skip");
      await lab.idle();
    });
  }
  await part("an error, a question, a file", async () => {
    await lab.chooseFile("bad.json", "[1, 2, 3]");
    await page.waitForSelector(".message.error");
    await checkAxe(page, check, "an error");
    await page.getByRole("button", { name: "Dismiss" }).click();
    await lab.set("epochs", 1);
    await lab.train();
    await lab.idle();
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
