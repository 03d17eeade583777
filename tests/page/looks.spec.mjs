/**
 * What people see: the stage and every tab as pictures that were looked at, and a layout in which nothing is too wide or lies over
 * something else. The pictures are in looks/; `node tests/page/run.mjs --update` takes them anew, and then somebody looks.
 *
 * Every width has both themes for the stage, as the page opens and while a part is read; tabs and a report are taken at all widths,
 * in one theme each, so that each is seen in both themes and on both kinds of screens. Screens of two pixels to the point are paired
 * with two of the widths, and their pictures kept at one: what is drawn half as large shows all the same.
 */

import { expect, test } from "./fixtures.mjs";
import { Lab } from "./lab.mjs";

const screens = {
  "One pixel to the point": [
    { width: 1366, height: 650, theme: "light" },
    { width: 820, height: 1180, theme: "dark" },
    { width: 320, height: 640, theme: "light" },
  ],
  "Two pixels to the point": [
    { width: 390, height: 844, theme: "light" },
    { width: 1920, height: 1080, theme: "dark" },
  ],
};

/** What the pictures were taken with: other letters are other pictures, on every one of them. */
const FONT = "DejaVu Sans Condensed";

/** Of a picture, in pixels. */
const LONGEST = 1400;

/**
 * What differs from one computer to the next: surfaces, by whatever draws there, and how long things take or took. The control of a
 * phone lies over every part's picture, wherever the window ended.
 */
const NOT_SEEN = `
  [data-seconds], .estimate { display: none }
  [data-picture] #landscapes .view::part(surface) { visibility: hidden }
  .report-facts div:nth-child(n + 3), #report-trust .note:last-child { visibility: hidden }
  [data-picture="part"] #bend-controls { visibility: hidden }
`;

/** Letters are smoothed a little differently by each version of a browser; a line that is moved or gone is more than that. */
const TOLERANCE = { threshold: 0.2, maxDiffPixelRatio: 0.01 };
/** Surfaces themselves, as SwiftShader draws them: edges and shades are another version's doing, a missing or a flat one is not. */
const SURFACES = { threshold: 0.3, maxDiffPixelRatio: 0.04 };

/** The font in which the page's text is drawn. */
async function fontOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("DOM.enable");
  await session.send("CSS.enable");
  const { root } = await session.send("DOM.getDocument");
  const { nodeId } = await session.send("DOM.querySelector", { nodeId: root.nodeId, selector: "#riddle" });
  const { fonts } = await session.send("CSS.getPlatformFontsForNode", { nodeId });
  await session.detach();
  return fonts.map(({ familyName }) => familyName).join(", ");
}

/** Buttons, fields and links, of which no two may lie over each other, by more than their edges. */
const overlaps = (page) =>
  page.evaluate(() => {
    const controls = [...document.querySelectorAll("main :is(a[href], button, input, select, summary)")]
      .filter((element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 2 && box.height > 2);
    const named = ({ element }) =>
      element.id || element.getAttribute("aria-label") || element.textContent.trim().slice(0, 30);
    const over = (a, b) =>
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
    // What stays in sight lies over what is scrolled under it.
    const staying = (element) => {
      for (let up = element; up; up = up.parentElement) {
        if (["sticky", "fixed"].includes(getComputedStyle(up).position)) return up;
      }
      return null;
    };
    const found = [];
    for (const [index, one] of controls.entries()) {
      for (const another of controls.slice(index + 1)) {
        if (one.element.contains(another.element) || another.element.contains(one.element)) continue;
        if (staying(one.element) !== staying(another.element)) continue;
        if (over(one.box, another.box)) found.push(`${named(one)} and ${named(another)}`);
      }
    }
    return found;
  });

async function checkLayout(lab, check, what) {
  await lab.page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
  const overflow = await lab.overflow();
  check(`${what}: nothing is wider than the window`, overflow <= 0, `${overflow} px`);
  const found = await overlaps(lab.page);
  check(`${what}: no control lies over another`, found.length === 0, found.slice(0, 5).join("; "));
}

/**
 * Of the window as it is, or of a part of the page from where it begins, and of a long one no more than that. In whole pixels: versions
 * of browsers cut a part of one off, or add the rest of it.
 */
async function picture(page, part, name) {
  const kind = part === null ? "window" : "part";
  const box = await page.evaluate(
    ({ part, kind }) => {
      document.documentElement.dataset.picture = kind;
      if (part === null) return null;
      scrollTo({ top: 0, behavior: "instant" });
      const { x, y, width, height } = document.querySelector(part).getBoundingClientRect();
      return { x, y, width, height };
    },
    { part, kind },
  );
  const clip = box && { ...box, y: Math.round(box.y), height: Math.min(Math.round(box.height), LONGEST) };
  const options = { ...TOLERANCE, scale: "css", ...(clip && { clip, fullPage: true }) };
  await expect.soft(page, name).toHaveScreenshot(`${name}.png`, options);
  await page.evaluate(() => delete document.documentElement.dataset.picture);
}

async function checkStage(lab, check, { width, theme, compares }) {
  const { page } = lab;
  await checkLayout(lab, check, "the stage");
  for (const point of ["trained", "bent"]) {
    const colours = await lab.colours(`#landscapes [data-point=${point}] canvas`);
    check(`the ${point} surface is drawn`, colours > 20, `${colours} colours`);
  }
  if (!compares) return;
  await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
  for (const colorScheme of [theme === "light" ? "dark" : "light", theme]) {
    await page.emulateMedia({ colorScheme });
    await picture(page, null, `stage-${width}-${colorScheme}`);
  }
  if (width !== 1366) return;
  await expect
    .soft(page.locator("#landscapes"), "surfaces")
    .toHaveScreenshot("surfaces.png", { ...SURFACES, scale: "css" });
}

/** A part as it is read, under what stays. */
async function checkReading(lab, { width, theme, compares }) {
  if (!compares) return;
  await lab.goTo("landscape");
  await lab.page.evaluate(() => {
    const { top } = document.querySelector("#landscape-panel").getBoundingClientRect();
    scrollTo({ top: scrollY + top - 120, behavior: "instant" });
  });
  await picture(lab.page, null, `reading-${width}-${theme}`);
}

async function opened(browser, url, index) {
  const lab = await Lab.open(browser, url, { deviceScaleFactor: index + 1, measured: null, serviceWorkers: "allow" });
  await lab.page.waitForSelector("#landscapes [data-point=bent] canvas");
  await lab.page.addStyleTag({ content: NOT_SEEN });
  const font = await fontOf(lab.page);
  return { lab, font, compares: font === FONT };
}

const skipWithout = (font) =>
  test.skip(
    font !== FONT,
    `pictures are compared where text is drawn in ${FONT} (fonts-dejavu-extra); here it is ${font}`,
  );

for (const [index, [title, sizes]] of Object.entries(screens).entries()) {
  test(title, async ({ browser, url, check, part }) => {
    const { lab, font, compares } = await opened(browser, url, index);
    const { page } = lab;
    for (const { width, height, theme } of sizes) {
      await part(`${width} px`, async () => {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme: theme });
        await checkStage(lab, check, { width, theme, compares });
        for (const tab of await lab.tabs()) {
          await part(tab, async () => {
            await lab.goTo(tab);
            await lab.idle();
            // The page fetches what it came with once more for it, and the part is higher then.
            if (tab === "networks") await page.waitForSelector(".shelved .thumbnail");
            // The engine's answer is drawn when it comes.
            if (tab === "dinh") await page.waitForSelector("#figure5[data-curvature]:not([aria-busy])");
            // Computed beside all tasks.
            if (tab === "layers") await page.waitForSelector("#neighbours[data-ratio]");
            await checkLayout(lab, check, tab);
            if (compares) await picture(page, `[data-tab=${tab}]:not([hidden])`, `${tab}-${width}-${theme}`);
          });
        }
        await checkReading(lab, { width, theme, compares });
      });
    }
    skipWithout(font);
  });

  test(`A report, ${title.toLowerCase()}`, async ({ browser, url, check, part, problem }) => {
    const { lab, font, compares } = await opened(browser, url, index);
    const { page } = lab;
    await lab.reportOf("mlp_bias.json", problem);
    for (const { width, height, theme } of sizes) {
      await part(`${width} px`, async () => {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme: theme });
        await checkLayout(lab, check, "the report");
        if (compares) await picture(page, "#report-panel", `report-${width}-${theme}`);
      });
    }
    skipWithout(font);
  });
}
