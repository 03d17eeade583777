/** On a phone: what computes is named, the time that is left is written whole, and a training is seen when it is begun. */

import { Lab } from "./lab.mjs";

/** As wide as most, and as narrow as any. */
const PHONES = [
  { width: 390, height: 844 },
  { width: 320, height: 640 },
];

export async function checkPhone(browser, url, check) {
  for (const viewport of PHONES) {
    const lab = await Lab.open(browser, url, { viewport, deviceScaleFactor: 2, isMobile: true, hasTouch: true });
    const what = `${viewport.width} px`;
    await checkDevice(lab, check, what);
    await checkTraining(lab, check, what);
    const overflow = await lab.overflow();
    check(`${what}: nothing is wider than the window`, overflow <= 0, `${overflow} px`);
    check(`${what}: the console is quiet`, lab.complaints.length === 0, lab.complaints.join("; "));
    await lab.close();
  }
}

/** Where an element is, whether its text is cut off, and how wide the window is. */
const boxOf = (page, selector) =>
  page.locator(selector).evaluate((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const isCut = element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline";
    return { left, right, top, bottom, isCut, wide: document.documentElement.clientWidth };
  });

const isWhole = ({ left, right, isCut, wide }) => !isCut && left >= 0 && right <= wide;

async function checkDevice({ page }, check, what) {
  check(`${what}: what computes is to be seen`, await page.locator("#badge").isVisible());
  const [badge, choice, theme] = await Promise.all(["#badge", "#backend", "#theme"].map((part) => boxOf(page, part)));
  check(`${what}: it is named whole`, isWhole(badge), JSON.stringify(badge));
  check(
    `${what}: on a line of its own`,
    badge.top >= Math.max(choice.bottom, theme.bottom) - 1,
    `${badge.top} below ${choice.bottom}`,
  );
  // A GPU's name may be long.
  const long = "WebGPU · ANGLE (Qualcomm, Adreno (TM) 740, OpenGL ES 3.2 V@0615.50) · software adapter · f32";
  const said = await page.locator("#badge").evaluate((badge, long) => {
    const before = badge.textContent;
    badge.textContent = long;
    return before;
  }, long);
  check(`${what}: a long name too`, isWhole(await boxOf(page, "#badge")));
  await page.locator("#badge").evaluate((badge, said) => {
    badge.textContent = said;
  }, said);
}

async function checkTraining(lab, check, what) {
  const { page } = lab;
  await lab.set("samples", 24000);
  await lab.set("epochs", 60);
  await lab.idle();
  const chart = () => boxOf(page, "#training-chart");
  const height = page.viewportSize().height;
  const isInSight = ({ top, bottom }) => top >= 0 && bottom <= height;
  const seen = () =>
    page.waitForFunction(() => {
      const { top, bottom } = document.querySelector("#training-chart").getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
  const begin = page.locator("#train-button");
  await begin.evaluate((button) => button.scrollIntoView({ block: "center", behavior: "instant" }));
  check(`${what}: the curve is out of sight of Train`, !isInSight(await chart()));
  await begin.tap();
  await lab.replace();
  await seen();
  check(`${what}: Train brings it into sight`, isInSight(await chart()));

  await page.waitForFunction(() => /left/.test(document.querySelector("#status .left")?.textContent ?? ""));
  const left = await boxOf(page, "#status .left");
  const words = await page.locator("#status .left").textContent();
  check(`${what}: the time that is left is written whole`, isWhole(left), `${words} ${JSON.stringify(left)}`);
  const buttons = await Promise.all(["#status-stop", "#status-more"].map((part) => boxOf(page, part)));
  check(
    `${what}: and nothing lies over it`,
    buttons.every(({ bottom }) => bottom <= left.top + 1),
  );
  // The longest that is said, and looked at before anything else is.
  const longest = await page.evaluate(() => {
    const { store } = window.isoflatLab.app;
    const { waiting } = store.state;
    store.set({ waiting: { ...waiting, left: 0.5, after: 3, count: { done: 10000, total: 10000, of: "epochs" } } });
    const left = document.querySelector("#status .left");
    const { right } = left.getBoundingClientRect();
    return { words: left.textContent, right, isCut: left.scrollWidth > left.clientWidth + 1 };
  });
  check(
    `${what}: the longest too`,
    !longest.isCut && longest.right <= page.viewportSize().width,
    `${longest.words}, to ${longest.right} px`,
  );

  await page.waitForFunction(() => (window.isoflatLab.app.store.state.progress?.epoch ?? 0) >= 2);
  await page.locator("#status-stop").evaluate((button) => button.click());
  const goOn = page.locator("#continue-button");
  await goOn.waitFor();
  await goOn.evaluate((button) => button.scrollIntoView({ block: "center", behavior: "instant" }));
  check(`${what}: the curve is out of sight of Continue`, !isInSight(await chart()));
  await goOn.tap();
  await seen();
  check(`${what}: Continue brings it into sight`, isInSight(await chart()));
  await page.locator("#status-stop").evaluate((button) => button.click());
  await lab.idle();
}
