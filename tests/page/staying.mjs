/** The stage stays: whichever part is read, and however far, surfaces and control are in sight, and the part has room. */

import { Lab } from "./lab.mjs";

/** A usual laptop's browser window, a large screen, one between them, and as narrow as the stage stays in one piece. */
const WINDOWS = [
  { width: 1366, height: 650 },
  { width: 1920, height: 1080 },
  { width: 1440, height: 900 },
  { width: 1024, height: 700 },
];

/** Of the window's height: at most so much for what stays. */
const STAGE = 0.53;
/** In pixels: what is smaller is no surface, and no text to be read. */
const [LEAST_SURFACE, LEAST_TEXT] = [130, 11];

export async function checkStaying(browser, url, check) {
  const lab = await Lab.open(browser, url, { viewport: WINDOWS[0], measured: null });
  const { page } = lab;
  await page.waitForSelector("#landscapes [data-point=bent] canvas");
  for (const size of WINDOWS) {
    await page.setViewportSize(size);
    const tabs = await lab.tabs();
    for (const tab of tabs) {
      await lab.goTo(tab);
      for (const share of [0.5, 1]) {
        const found = await lookedAt(page, share, `[data-tab=${tab}]`);
        const what = `${size.width} × ${size.height}, ${tab}, ${share === 1 ? "at its end" : "half way"}`;
        const outside = found.parts.filter(({ isInSight }) => !isInSight).map(({ selector }) => selector);
        check(`${what}: surfaces, digits, gauges and control are in sight`, outside.length === 0, outside.join());
        const taken = found.stays / size.height;
        // A part that ends in the window leaves nothing to be scrolled.
        check(
          `${what}: they take half of the window`,
          taken <= STAGE || found.isWhole,
          `${(100 * taken).toFixed(0)} %, and ${(size.height - found.stays).toFixed(0)} px are left`,
        );
        check(`${what}: surfaces are large enough`, found.surface >= LEAST_SURFACE, `${found.surface} px`);
        check(`${what}: letters too`, found.letters >= LEAST_TEXT, `${found.letters} px`);
      }
    }
    const room = await page.evaluate(() => {
      const [words, scale] = [".sameness .same", "#loss-scale"].map((of) =>
        document.querySelector(of).getBoundingClientRect(),
      );
      return scale.top - words.bottom;
    });
    check(`${size.width} px: the scale of colours is below the words`, room >= 0, `${room.toFixed(1)} px`);
    const cut = await cutOff(page);
    check(`${size.width} px: nothing of the stage is cut off`, cut.length === 0, cut.join("; "));
  }
  await checkGuide(lab, check);
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}

/** Where things are once the page has been scrolled so far through a part. */
const lookedAt = (page, share, part) =>
  page.evaluate(
    async ({ share, part }) => {
      const panel = () => document.querySelector(part).getBoundingClientRect();
      const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      // What comes when its part is opened makes it longer: the place is another one then.
      for (let height = null; height !== panel().height; ) {
        height = panel().height;
        scrollTo({ top: scrollY + panel().top + share * height, behavior: "instant" });
        await drawn();
      }
      const panelEnd = () => panel().bottom;
      const selectors = ["[data-point=trained] .view", "[data-point=bent] .view", "#digits", "#gauges", "#sharpness"];
      const parts = selectors.map((selector) => {
        const { top, bottom } = document.querySelector(`#stage ${selector}`).getBoundingClientRect();
        return { selector, isInSight: top >= -1 && bottom <= innerHeight && bottom > top };
      });
      const stays = Math.max(
        ...[".stage", ".bar"].map((one) => document.querySelector(one).getBoundingClientRect().bottom),
      );
      const allIn = (root) =>
        [...root.querySelectorAll("*")].flatMap((element) => [
          element,
          ...(element.shadowRoot ? allIn(element.shadowRoot) : []),
        ]);
      const sizes = allIn(document.querySelector("#stage"))
        .filter((element) => element.checkVisibility() && element.closest(".visually-hidden") === null)
        .filter(({ childNodes }) => [...childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ""))
        .map((element) => Number.parseFloat(getComputedStyle(element).fontSize));
      return {
        parts,
        stays,
        isWhole: scrollY + innerHeight >= document.documentElement.scrollHeight - 1 && panelEnd() <= innerHeight,
        surface: document.querySelector("#landscapes .view").clientHeight,
        letters: Math.min(...sizes),
      };
    },
    { share, part },
  );

/** Boxes of the stage whose content is wider than they are, where it is not meant to end in dots; and those that lie over the next. */
const cutOff = (page) =>
  page.evaluate(() => {
    const right = (selector) => document.querySelector(selector).getBoundingClientRect().right;
    const found = [];
    for (const selector of ["#bend-controls", ".control-head", "#sameness", "#same", "#gauges", "#loss-scale"]) {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.querySelector(selector);
      if (scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1) found.push(selector);
    }
    if (right("#more summary") > document.querySelector("#gauges").getBoundingClientRect().left) found.push("More");
    return found;
  });

/** The riddle goes out of sight, and comes back with the focus. */
async function checkGuide({ page }, check) {
  await page.setViewportSize(WINDOWS[0]);
  await page.evaluate(() => scrollTo({ top: 400, behavior: "instant" }));
  const box = () => page.locator("#guide-next").evaluate((button) => button.getBoundingClientRect().top);
  await page.waitForFunction(() => document.querySelector("#guide-next").getBoundingClientRect().bottom < 0);
  check("the riddle has gone out of sight", (await box()) < 0);
  await page.locator("#guide-next").evaluate((button) => button.focus());
  await page.waitForFunction(() => document.querySelector("#guide-next").getBoundingClientRect().top >= 0);
  check("what has the focus is in sight", (await box()) >= 0);
  await page.keyboard.press("Enter");
  await page.evaluate(() => scrollTo({ top: 400, behavior: "instant" }));
  await page.waitForTimeout(100);
  check("a caption of the tour stays", (await box()) >= 0);
  await page.click("#guide-skip");
}
