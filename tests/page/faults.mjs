/** Faults that people met in the page, each of which would be seen again here; what logic alone can say is in tests/unit. */

import { Lab } from "./lab.mjs";

const focused = (page) => page.evaluate(() => document.activeElement?.id ?? "");
const taskOf = (page) => page.evaluate(() => window.isoflatLab.app.store.state.task);

/** A fault in a field that is folded away: *Train* did nothing, empty fields were silently taken, and nothing was marked. */
export async function checkHiddenFault(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  const options = page.locator("#train-form details.options");
  const isOpen = () => options.evaluate(({ open }) => open);
  for (const [id, wrong, right] of [
    ["learning-rate", "", "0.02"],
    ["epochs", "0", "1"],
  ]) {
    await lab.set(id, wrong);
    await options.evaluate((details) => {
      details.open = false;
    });
    await page.click("#train-button");
    const field = page.locator(`#${id}`);
    check(`${id} “${wrong}”: Train does not begin`, (await taskOf(page)) !== "training");
    check(`${id}: the fold around it opens`, (await isOpen()) && (await field.isVisible()));
    check(`${id}: it has the focus`, (await focused(page)) === id, await focused(page));
    check(`${id}: it is marked`, (await field.getAttribute("aria-invalid")) === "true");
    const note = await field.getAttribute("aria-describedby");
    check(
      `${id}: what is wrong stands beside it`,
      /must be/.test(await lab.text(`#${note}`)),
      await lab.text(`#${note}`),
    );
    check(`${id}: and above`, (await lab.count(".message.error")) === 1);
    await lab.fill(field, right);
    check(
      `${id}: mended, it is marked no more`,
      (await field.getAttribute("aria-invalid")) === null && (await lab.count(".message.error")) === 0,
    );
  }
  // What is not chosen is not read.
  await lab.set("init", "uniform");
  await lab.set("scale", "");
  check(
    "an empty field is said when it is left",
    (await page.locator("#scale").getAttribute("aria-invalid")) === "true",
  );
  await lab.set("init", "kaiming_uniform");
  await lab.set("samples", 1000);
  await lab.train();
  check("a field of what is not chosen is in nobody's way", (await lab.count(".message.error")) === 0);
  await checkLonelyFields(lab, check);
  await checkTwoAtOnce(lab, check);
  await lab.close();
}

/** One field right after the other. */
const change = (page, fields) =>
  page.evaluate((fields) => {
    for (const [id, value] of fields) {
      const field = document.querySelector(`#${id}`);
      field.value = value;
      field.dispatchEvent(new Event("change", { bubbles: true }));
    }
  }, fields);

/** The second of two options lost the first, where a network that was trained was giving way to another one. */
async function checkTwoAtOnce(lab, check) {
  const { page } = lab;
  await change(page, [
    ["samples", 900],
    ["measured", 120],
  ]);
  await lab.idle();
  const { samples, measuredSamples } = await page.evaluate(() => window.isoflatLab.app.store.state.model);
  const found = `${samples} samples, ${measuredSamples} measured`;
  check("of two options changed at once both hold", samples === 900 && measuredSamples === 120, found);
  check("and their fields say so", (await page.inputValue("#samples")) === "900");
  // And a network that was chosen right before another device.
  await change(page, [
    ["network", "straight_mnist"],
    ["network", "petzka_mnist"],
    ["backend", "cpu"],
  ]);
  await lab.idle();
  const summary = await page.evaluate(() => window.isoflatLab.app.store.state.model.summary);
  check("a network that is chosen right before a device is made", summary === "784-50-50-50-30-10", summary);
  check("and its field says so", (await page.inputValue("#network")) === "petzka_mnist");
}

/** Fields that stand alone took what was empty for a number of their own. */
async function checkLonelyFields(lab, check) {
  const { page } = lab;
  const state = (key) => page.evaluate((key) => window.isoflatLab.app.store.state[key], key);
  const refused = async (id) => {
    const field = page.locator(`#${id}`);
    const note = (await field.getAttribute("aria-describedby")) ?? "none";
    const isMarked = (await field.getAttribute("aria-invalid")) === "true";
    return isMarked && /The largest factor of a unit (is empty|must be)/.test(await lab.text(`#${note}`));
  };
  await lab.goTo("check");
  for (const wrong of ["", "1"]) {
    await lab.fill(page.locator("#check-range"), wrong);
    await page.click("#check-button");
    check(`units up to “${wrong}” are refused`, await refused("check-range"));
    check("and nothing is checked", (await state("checkChoice")) === null && (await taskOf(page)) !== "checking");
    check("the focus is where it is mended", (await focused(page)) === "check-range");
  }
  await lab.fill(page.locator("#check-range"), "5");
  check("mended, it is not marked", (await page.locator("#check-range").getAttribute("aria-invalid")) === null);
  await lab.more();
  await page.locator("#nodewise").check();
  await page.waitForFunction(() => window.isoflatLab.app.store.state.bend.nodewise?.range === 10);
  await lab.fill(page.locator("#nodewise-range"), "");
  await page.locator("#nodewise-range").blur();
  check("units of the bend up to nothing are refused", await refused("nodewise-range"));
  check("and the twin stays", (await state("bend")).nodewise?.range === 10);
  await lab.fill(page.locator("#nodewise-range"), "20");
  await page.locator("#nodewise-range").blur();
  await page.waitForFunction(() => window.isoflatLab.app.store.state.bend.nodewise?.range === 20);
  check("mended, it bends", (await page.locator("#nodewise-range").getAttribute("aria-invalid")) === null);
}

/** *Train* by keyboard lost the focus. */
export async function checkTrainByKeyboard(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  await lab.set("epochs", 400);
  await page.locator("#train-button").focus();
  await page.keyboard.press("Enter");
  await lab.replace();
  await page.waitForFunction(() => window.isoflatLab.app.store.state.progress?.epoch > 0);
  check("by keyboard the focus goes on to Stop", (await focused(page)) === "stop-button", await focused(page));
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !["training", "starting"].includes(window.isoflatLab.app.store.state.task));
  check("and comes back to Train", (await focused(page)) === "train-button", await focused(page));
  await lab.close();
}

/** *Train* during a report cut it off, and saved what there was as if it were the whole. */
export async function checkTrainDuringReport(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  const downloads = [];
  page.on("download", (download) => downloads.push(download.suggestedFilename()));
  await lab.set("epochs", 1);
  await lab.goTo("keep");
  await page.click("#save-report");
  await page.waitForFunction(() => {
    const { task, progress } = window.isoflatLab.app.store.state;
    return task === "reporting" && progress?.done > 0;
  });
  await lab.goTo("train");
  await lab.train();
  await lab.idle();
  const said = (await page.locator(".message").allInnerTexts()).join("; ");
  check("a report that Train has cut off is not said to be there", !/report/i.test(said), said);
  check("nor saved", downloads.length === 0, downloads.join());
  await page.evaluate(() => {
    location.hash = "#/report";
  });
  await page.waitForSelector("[data-tab=report]:not([hidden])");
  check("nor shown", (await lab.count("#report-save")) === 0);
  await lab.close();
}

/** Links to `#spaces`, as older addresses were, landed far below what they are of. */
export async function checkOldLinks(browser, url, check) {
  const lab = await Lab.open(browser, `${url}#spaces`, { rests: true });
  const { page } = lab;
  await page.waitForSelector("#spaces-title");
  const title = () =>
    page.locator("#spaces-title").evaluate((title) => ({ top: title.getBoundingClientRect().top, high: innerHeight }));
  const first = await title();
  check("an older address opens its part", first.top > 0 && first.top < first.high, `${first.top} of ${first.high}`);
  const current = await lab.text(".tabs a[aria-current]");
  check("and says which it is", current === "Spaces", current);
  await lab.goTo("train");
  await page.evaluate(() => {
    location.hash = "#spaces";
  });
  await page.waitForSelector("#spaces:not([hidden])");
  const later = await title();
  check("so does a link on the page", later.top > 0 && later.top < later.high, `${later.top} of ${later.high}`);
  await lab.close();
}

/** What cannot be had or drawn is said, and leaves the page as one that goes on. */
export async function checkImpossible(browser, url, check) {
  const address = "#/train?net=nosuch&init=kaiming_uniform_1_1&data=mnist_100&measured=10";
  const lab = await Lab.open(browser, `${url}${address}`, { rests: true });
  const { page } = lab;
  await page.waitForSelector(".message.error");
  await lab.idle();
  const said = await lab.text(".message.error");
  check("an address of a network that there is not says so", /No preset is named "nosuch"/.test(said), said);
  check(
    "and the form is of what is on the stage",
    (await page.inputValue("#network")) === "small" && (await page.inputValue("#samples")) === "24000",
    `${await page.inputValue("#network")}, ${await page.inputValue("#samples")}`,
  );

  // A rate that rounding swallows: the way is a point.
  await lab.set("samples", 500);
  await lab.set("measured", 50);
  await lab.set("epochs", 1);
  await lab.set("learning-rate", "1e-300");
  await lab.train();
  await page.waitForFunction(() => window.isoflatLab.app.store.state.surfaces.trained);
  check("a training that moves nothing is looked at", (await lab.count(".message.error")) === 0);

  await lab.goTo("check");
  await page.click("#check-button");
  await page.waitForSelector("#invariance-summary[data-agrees]", { timeout: 240_000 });
  const before = await lab.text("#invariance-summary");
  await lab.drag("#sharpness", 0.7);
  await page.waitForFunction(() => /bent otherwise/.test(document.querySelector("#invariance-summary").textContent));
  check("a table of another bend says so", !/bent otherwise/.test(before), await lab.text("#invariance-summary"));
  await lab.close();
}

/** A part is opened, and before the page is told of it the address of the part before is due to be written. */
export async function checkLateAddress(browser, url, check) {
  const lab = await Lab.open(browser, url);
  const { page } = lab;
  await lab.settled();
  const late = 1000;
  await page.evaluate((late) => {
    // In the capture phase of the target itself: before all of the page's own, which came first.
    const told = (event) => {
      if (!event.isTrusted) return;
      event.stopImmediatePropagation();
      setTimeout(() => window.dispatchEvent(new HashChangeEvent("hashchange")), late);
    };
    window.addEventListener("hashchange", told, { capture: true });
    // What is at rest is written soon after.
    const { store } = window.isoflatLab.app;
    store.set({ look: { ...store.state.look, height: "linear" } });
  }, late);
  await page.locator('.tabs a[href="#/layers"]').click();
  await page.waitForTimeout(2 * late);
  check(
    "it is opened all the same",
    await page.isVisible("[data-tab=layers]"),
    await page.evaluate(() => location.hash),
  );
  await lab.close();
}

/** Small ones on the way through the page. */
export async function checkSmallFaults(browser, url, check) {
  const lab = await Lab.open(browser, url);
  const { page } = lab;
  await lab.goTo("landscape");
  await page.getByText("Line", { exact: true }).click();
  await lab.drag("#sharpness", 0.5);
  await lab.idle();
  await page.waitForSelector("#landscapes .plot .curve.bent");
  check("the line view says which line is the bent one", await page.locator("#landscapes .of-bent").isVisible());
  const titles = await page.locator("#landscapes .plot text").allTextContents();
  check(
    "and its axes have their titles",
    ["loss", "first direction"].every((title) => titles.includes(title)),
  );
  await page.getByText("Surface", { exact: true }).click();

  const points = page.locator("#points");
  await lab.fill(points, "1000");
  await points.blur();
  const note = await lab.text("#points-note");
  check("points that are too many are said to be", /31 instead of 1000/.test(note), note);
  await lab.fill(points, "21");
  await points.blur();

  await lab.goTo("dinh");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.dinh.valley);
  check("what always refuses cannot be pressed", await page.locator("#many-button").isDisabled());

  await page.evaluate(() => {
    const { app } = window.isoflatLab;
    if (app.store.state.task !== "idle") app.stop();
  });
  await lab.idle();
  const tabs = await page.locator(".tabs a").evaluateAll((links) => links.map((link) => link.hash.slice(2)));
  for (const tab of tabs) {
    await lab.goTo(tab);
    const literal = await page.evaluate(() => {
      const words = document.body.innerText.match(/\S*[κρλΛ]_\S*/g) ?? [];
      const spoken = [...document.querySelectorAll("[aria-label], [title]")].flatMap((element) =>
        ["aria-label", "title"].flatMap((name) => element.getAttribute(name)?.match(/\S*[κρλΛ]_\S*/g) ?? []),
      );
      return [...words, ...spoken];
    });
    check(`${tab}: subscripts are no underscores`, literal.length === 0, literal.join(" "));
  }
  await lab.close();
}

/** Labels of charts were half as large on screens of two and three pixels to the point. */
export async function checkLabels(browser, url, check) {
  const heights = [];
  for (const deviceScaleFactor of [1, 2, 3]) {
    const lab = await Lab.open(browser, url, { deviceScaleFactor, measured: null });
    const { page } = lab;
    await lab.goTo("landscape");
    await page.waitForSelector("#cut text");
    heights.push(
      await page.locator("#cut text").evaluateAll((labels) => {
        const all = labels
          .map((label) => label.getBoundingClientRect())
          .map(({ width, height }) => Math.min(width, height));
        return Math.max(...all);
      }),
    );
    await lab.close();
  }
  const [one, ...others] = heights;
  check(
    "labels are as large on fine screens as on others",
    one > 8 && others.every((height) => Math.abs(height - one) < 1),
    heights.join(", "),
  );
}
