/** The README's pictures: `node tests/page/run.mjs --screenshots`. */

import { mkdirSync } from "node:fs";
import { root, test } from "./fixtures.mjs";
import { Lab } from "./lab.mjs";

const folder = `${root}docs/screenshots`;
const desktop = { width: 1440, height: 900 };

const pictures = [
  { name: "lab-light", viewport: desktop, colorScheme: "light" },
  { name: "lab-dark", viewport: desktop, colorScheme: "dark" },
  { name: "lab-phone", viewport: { width: 390, height: 844 }, colorScheme: "light" },
];

test("Pictures of the page as it opens", async ({ browser, url, check }) => {
  const lab = await Lab.open(browser, url, { measured: null });
  const { page } = lab;
  mkdirSync(folder, { recursive: true });
  for (const { name, viewport, colorScheme } of pictures) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await page.evaluate(() => {
      document.activeElement?.blur();
      scrollTo({ top: 0, behavior: "instant" });
    });
    // Surfaces are drawn anew at the new size.
    await page.waitForTimeout(1000);
    await page.screenshot({ path: `${folder}/${name}.png` });
    check(name, true, `docs/screenshots/${name}.png`);
  }
});
