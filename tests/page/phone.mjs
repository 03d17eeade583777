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
    await checkStage(lab, check, what);
    await checkFocus(lab, check, what);
    await checkMore(lab, check, what);
    await checkDevice(lab, check, what);
    await checkTraining(lab, check, what);
    const overflow = await lab.overflow();
    check(`${what}: nothing is wider than the window`, overflow <= 0, `${overflow} px`);
    check(`${what}: the console is quiet`, lab.complaints.length === 0, lab.complaints.join("; "));
    await lab.close();
  }
}

/** Under *More* each slider has its layer's name before it and its number behind, all of them within the box. */
async function checkMore(lab, check, what) {
  const { page } = lab;
  await lab.more();
  const rows = await page.evaluate(() => {
    const right = document.querySelector("#more .more-body").getBoundingClientRect().right;
    return [...document.querySelectorAll("#more .lambda")].map((row) => {
      const [label, input, output] = ["label", "input", "output"].map((name) => {
        const { left, right, width } = row.querySelector(name).getBoundingClientRect();
        return { left, right, width };
      });
      return label.width > 20 && label.right <= input.left && input.right <= output.left && output.right <= right;
    });
  });
  check(`${what}: each slider has its name and number beside it`, rows.length > 0 && rows.every(Boolean), `${rows}`);
  await lab.more(false);
}

/** Of the window's height: at most so much for the surfaces, and at least so much for what is read. */
const [SURFACES, ROOM] = [0.45, 0.4];

/** Both surfaces at the top, the control at the foot, and between them what goes by: digits, gauges, and each of the parts. */
async function checkStage(lab, check, what) {
  const { page } = lab;
  await page.waitForSelector("#landscapes [data-point=bent] canvas");
  // A part is as long as what it shows.
  await lab.looked();
  const height = page.viewportSize().height;
  for (const tab of await lab.tabs()) {
    await lab.goTo(tab);
    for (const share of [0.3, 1]) {
      const where = `${what}, ${tab}, ${100 * share} %`;
      const { surfaces, control, tabs, gauges } = await page.evaluate(async (share) => {
        scrollTo({ top: share * document.documentElement.scrollHeight, behavior: "instant" });
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        const box = (element) => {
          const { top, bottom, left, right } = element.getBoundingClientRect();
          return { top, bottom, left, right };
        };
        const of = (selector) => box(document.querySelector(selector));
        return {
          surfaces: [...document.querySelectorAll("#landscapes > figure")].map(box),
          control: of("#bend-controls"),
          tabs: of(".tabs"),
          gauges: of("#gauges"),
        };
      }, share);
      check(
        `${where}: both surfaces are at the top, on less than half of the window`,
        surfaces.length === 2 &&
          surfaces.every(({ top, bottom }) => top >= -1 && bottom <= SURFACES * height && bottom > 100),
        JSON.stringify(surfaces),
      );
      check(
        `${where}: beside each other`,
        surfaces[0].right <= surfaces[1].left && surfaces[0].top === surfaces[1].top,
        JSON.stringify(surfaces),
      );
      check(
        `${where}: the control is at the foot`,
        Math.abs(control.bottom - height) <= 1 && control.top > height / 2,
        JSON.stringify(control),
      );
      // At a part's beginning the gauges are still there, and the tabs below them.
      const room = control.top - Math.max(...surfaces.map(({ bottom }) => bottom), share === 1 ? tabs.bottom : 0);
      check(`${where}: what is read has room`, room >= ROOM * height, `${room} px`);
      if (share === 1) check(`${where}: gauges have gone by`, gauges.bottom < surfaces[0].bottom, `${gauges.bottom}`);
      const overflow = await lab.overflow();
      check(`${where}: nothing is wider than the window`, overflow <= 0, `${overflow} px`);
    }
  }
  await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
}

/** After so many pairs of frames what is hidden stays hidden. */
const FRAMES = 10;

/** What has the focus is never under what stays. */
async function checkFocus(lab, check, what) {
  const { page } = lab;
  for (const tab of ["train", "landscape", "keep"]) {
    await lab.goTo(tab);
    await page.locator(`.tabs a[href="#/${tab}"]`).focus();
    const hidden = [];
    let seen = 0;
    for (const key of ["Tab", "Shift+Tab"]) {
      for (let presses = 0; presses < 60; presses++) {
        await page.keyboard.press(key);
        const found = await page.evaluate(async (most) => {
          const element = document.activeElement;
          if (!element || element === document.body) return null;
          // A segment's input has no box to be seen: its words have.
          const shown = element.matches("[type=radio]") ? element.parentElement : element;
          // A surface's caption lies over it.
          const figure = shown.closest("figure");
          let isThere = false;
          let covering = "";
          // Two frames are enough unless the browser is busy: what is drawn meanwhile may move what it has just scrolled to.
          for (let frames = 0; frames < most && !isThere; frames++) {
            await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
            const { left, right, top, bottom } = shown.getBoundingClientRect();
            const over = document.elementFromPoint((left + right) / 2, (top + Math.min(bottom, top + 40)) / 2);
            isThere =
              over !== null && (shown.contains(over) || over.contains(shown) || (figure?.contains(over) ?? false));
            covering = over ? over.id || over.className : `nothing at ${left}, ${top}`;
          }
          return { isThere, name: element.id || element.textContent.trim().slice(0, 30), over: covering };
        }, FRAMES);
        if (!found) break;
        seen++;
        if (!found.isThere) hidden.push(`${found.name} under ${found.over}`);
      }
    }
    check(
      `${what}, ${tab}: what has the focus is in sight`,
      hidden.length === 0 && seen > 20,
      `${seen}: ${hidden.join("; ")}`,
    );
  }
  await page.evaluate(() => {
    document.activeElement?.blur();
    scrollTo({ top: 0, behavior: "instant" });
  });
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
  // How long all takes is known once it has been tried out, which is not done beside a training.
  await page.waitForFunction(() => window.isoflatLab.app.store.state.costs);
  /** Not under what stays. */
  const isInSight = () =>
    page.evaluate(() => {
      const box = (selector) => document.querySelector(selector).getBoundingClientRect();
      const { top, bottom } = box("#training-chart");
      return top >= box("#landscapes > figure").bottom && bottom <= box("#bend-controls").top;
    });
  const seen = () =>
    page.waitForFunction(() => {
      const box = (selector) => document.querySelector(selector).getBoundingClientRect();
      const { top, bottom } = box("#training-chart");
      return top >= box("#landscapes > figure").bottom && bottom <= box("#bend-controls").top;
    });
  const begin = page.locator("#train-button");
  await begin.evaluate((button) => button.scrollIntoView({ block: "center", behavior: "instant" }));
  check(`${what}: the curve is out of sight of Train`, !(await isInSight()));
  await begin.tap();
  await lab.replace();
  await seen();
  check(`${what}: Train brings it into sight`, await isInSight());

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
  check(`${what}: the curve is out of sight of Continue`, !(await isInSight()));
  await goOn.tap();
  await seen();
  check(`${what}: Continue brings it into sight`, await isInSight());
  await page.locator("#status-stop").evaluate((button) => button.click());
  await lab.idle();
}
