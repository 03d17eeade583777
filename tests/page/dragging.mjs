/** While the slider is dragged numbers change, and nothing else moves: gauges keep what they showed, dimmed, until they know better. */

import { Lab } from "./lab.mjs";

const WINDOWS = [
  { viewport: { width: 1366, height: 650 } },
  { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true },
];

/** What should stand where it stands. */
const PARTS = [
  ".gauge",
  ".gauge .label",
  ".gauge .values",
  ".gauge .scale",
  ".gauge .verdict",
  "#digits",
  "#same",
  ".control",
];

const boxes = (page) =>
  page.evaluate(
    (parts) =>
      parts.flatMap((part) =>
        [...document.querySelectorAll(`#stage ${part}`)].map((element, index) => {
          const { left, top, width, height } = element.getBoundingClientRect();
          return `${part} ${index}: ${[left, top, width, height].map((value) => value.toFixed(1)).join(" ")}`;
        }),
      ),
    PARTS,
  );

const swings = (page) =>
  page.locator("#gauge-swings").evaluate((gauge) => ({
    kind: gauge.dataset.verdict,
    verdict: gauge.querySelector(".verdict").textContent,
    values: gauge.querySelector(".values").textContent,
    before: gauge.querySelector(".values .before")?.textContent,
    marks: [...gauge.querySelectorAll(".mark")].map(({ className }) => className),
  }));

export async function checkDragging(browser, url, check) {
  for (const options of WINDOWS) {
    const lab = await Lab.open(browser, url, options);
    const { page } = lab;
    const what = `${options.viewport.width} px`;
    await lab.drag("#sharpness", 0.3);
    await page.waitForSelector("#gauge-swings[data-verdict=moves]");
    await page.waitForSelector("#same[data-state=same]");
    const shown = (await swings(page)).values.split(" → ")[1];
    const before = await boxes(page);
    const moved = async (when) => {
      const now = await boxes(page);
      const others = now.filter((box, index) => box !== before[index]);
      check(
        `${what}: ${when} nothing has moved`,
        now.length === before.length && others.length === 0,
        others.join("; "),
      );
    };
    const slider = await page.locator("#sharpness").boundingBox();
    const y = slider.y + slider.height / 2;
    const x = (share) => slider.x + 8 + share * (slider.width - 16);
    await page.mouse.move(x(0.3), y);
    await page.mouse.down();
    let computing = 0;
    for (const share of [0.35, 0.5, 0.62, 0.55]) {
      await page.mouse.move(x(share), y, { steps: 4 });
      await page.evaluate(() => new Promise(requestAnimationFrame));
      const { kind, verdict, before: kept, marks } = await swings(page);
      await moved(`at ${share}`);
      // Where a move takes long, the slider has rested, and there is a number.
      if (kind === "moves") continue;
      computing++;
      check(
        `${what}: at ${share} it is computing`,
        kind === "pending" && verdict === "computing…",
        `${kind}, ${verdict}`,
      );
      const isKept = /^[\d.]+( × 10.+)?$/.test(kept ?? "") && marks.includes("mark bent before");
      check(`${what}: and shows what it showed, dimmed`, isKept, kept);
    }
    await page.mouse.up();
    check(`${what}: it was seen computing`, computing > 0);
    await page.waitForSelector("#gauge-swings[data-verdict=moves]");
    const after = await swings(page);
    check(
      `${what}: then it shows what is`,
      after.before === undefined && after.values.split(" → ")[1] !== shown,
      after.values,
    );
    await moved("let go of,");
    check(`${what}: the console is quiet`, lab.complaints.length === 0, lab.complaints.join("; "));
    await lab.close();
  }
}
