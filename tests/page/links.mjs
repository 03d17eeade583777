/** Addresses: the page as it was where one was made, the line at rest, and whoever does something while one is followed. */

import { Lab } from "./lab.mjs";
import { camera, shown, state, turn } from "./stage.mjs";

/** Part of an address: measured on few samples, all is soon there. */
const FEW = "measured=50";

/** An address opens the page as it was where the address was made. */
export async function checkLink(browser, url, check) {
  // A service worker brings threads from the second visit on, and with them other roundings.
  const same = { viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", serviceWorkers: "block" };
  const context = await browser.newContext(same);
  const lab = new Lab(await context.newPage());
  const { page } = lab;
  const opened = async (address) => {
    await page.goto(address);
    await page.waitForSelector("#badge:not([data-state=starting])");
    await page.waitForFunction(() => window.isoflatLab.app.store.state.measures.bent.has("hessian.spectral_norm"));
    await lab.settled();
    return shown(page);
  };
  const address = async () => {
    await page.click("#share");
    await page.waitForFunction(() => document.querySelector("#share").dataset.address);
    return page.locator("#share").getAttribute("data-address");
  };
  await checkMovedOn(browser, url, check);
  await checkBegunMeanwhile(browser, url, check);
  const first = await opened(`${url}#/measures?${FEW}&s=2.5`);
  const { decades } = JSON.parse(first).sharpness;
  check("an address says where the twin is", decades === 2.5 && (await page.isVisible("[data-tab=measures]")));
  const again = await address();
  check("the button gives that address back", again === `${url}#/measures?${FEW}&on=cpu&s=2.5`, again);
  await line(page, `#/measures?${FEW}&on=cpu&s=2.5`);
  await checkLine(lab, check);

  await lab.set("network", "widths");
  await lab.set("widths", "784-20-10");
  await lab.set("samples", 500);
  await lab.set("measured", 50);
  await lab.set("epochs", 2);
  await lab.train();
  await page.locator("#bend-controls .segments").getByText("Sharpen").click();
  await lab.drag("#sharpness", 0.4);
  await lab.goTo("dinh");
  await page.locator("#powers-of-two").check();
  await turn(lab);
  await lab.goTo("spectrum");
  await page.selectOption("#operator", "gauss_newton");
  await page.click("#spectrum-button");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.densities.bent);
  await lab.goTo("train");
  await lab.settled();
  const own = await shown(page);
  const top = await largest(page);
  const link = await address();
  check("that of another network is short", link.length - url.length < 250, link.slice(url.length));
  const from = await camera(page);
  const other = await browser.newContext(same);
  const there = new Lab(await other.newPage());
  await there.page.goto(link);
  await there.page.waitForFunction(() => window.isoflatLab?.app.store.state.modelChoice?.network.kind === "widths");
  await there.page.waitForFunction(() => window.isoflatLab.app.store.state.measures.bent.has("hessian.spectral_norm"));
  await there.idle();
  const found = await shown(there.page);
  check("whoever opens it sees the same numbers", found === own, `${found}\n${own}`);
  const apart = (await camera(there.page)).map((x, index) => Math.abs(x - from[index]));
  check("from the same place", Math.max(...apart) < 0.02 && Math.abs(from[0] - 2.55) > 0.1, apart.join());
  await there.page.waitForFunction(() => window.isoflatLab.app.store.state.densities.bent);
  check("those that were asked for beyond the stage, too", (await largest(there.page)) === top, String(top));
  const complaints = [...lab.complaints, ...there.complaints];
  check("the console is quiet", complaints.length === 0, complaints.join("; "));
  await there.close();
  await lab.close();
}

/** What somebody begins while an address is still being followed goes on: the address has no further step that would end it. */
async function checkBegunMeanwhile(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  await lab.set("epochs", 400);
  await page.evaluate(() => {
    location.hash = "#/train?measured=300&s=2&with=spectrum";
  });
  await lab.measuring(300);
  await page.click("#train-button");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.progress?.epoch > 0);
  await page.waitForTimeout(1500);
  const task = await state(page, () => window.isoflatLab.app.store.state.task);
  check("a training that begins while an address is followed goes on", task === "training", task);
  await lab.rest();
  const complaints = lab.complaints.join("; ");
  check("the console is quiet", complaints === "", complaints);
  await lab.close();
}

/** Whoever has moved the slider of a page that a link has opened, and reloads it while it still computes, finds it where it was. */
async function checkMovedOn(browser, url, check) {
  const lab = await Lab.open(browser, `${url}#/train?${FEW}&s=2.5`);
  const { page } = lab;
  await page.evaluate(() => {
    const { app } = window.isoflatLab;
    void app.twin.setSharpness({ ...app.store.state.sharpness, decades: 1.5 });
    // Nothing comes to rest.
    setInterval(() => app.store.set({ task: "looking" }), 20);
  });
  await page.waitForTimeout(1500);
  await page.reload();
  await page.waitForSelector("#badge:not([data-state=starting])");
  await lab.idle();
  const decades = await state(page, () => window.isoflatLab.app.store.state.sharpness.decades);
  check("a link has been followed once", decades === 1.5, String(decades));
  await lab.close();
}

/** The address line, once the page rests. */
const line = (page, hash) => page.waitForFunction((hash) => location.hash === hash, hash, { timeout: 180_000 });
const largest = (page) => state(page, () => window.isoflatLab.app.store.state.spectra.trained?.top[0].value);

/** It holds the state at rest, each part has its own step back, and none of this is taken for an address to follow. */
async function checkLine(lab, check) {
  const { page } = lab;
  await lab.goTo("layers");
  await page.locator("#sharpness").fill("1.5");
  await lab.settled();
  await line(page, `#/layers?${FEW}&on=cpu&s=1.5`);
  await page.goBack();
  await line(page, `#/measures?${FEW}&on=cpu&s=1.5`);
  check("one step back is the part before, of the page as it is", await page.isVisible("[data-tab=measures]"));
  await page.goForward();
  await line(page, `#/layers?${FEW}&on=cpu&s=1.5`);
  const stampBefore = await state(page, () => window.isoflatLab.app.store.state.measures.bent.size);
  await page.reload();
  await page.waitForSelector("#badge:not([data-state=starting])");
  const after = await state(page, () => [
    window.isoflatLab.app.store.state.sharpness.decades,
    window.isoflatLab.app.store.state.measures.bent.size,
  ]);
  check("a reload keeps what was computed", after[0] === 1.5 && after[1] >= stampBefore, after.join());
  await lab.idle();
  await page.locator("#sharpness").fill("1.7");
  await line(page, `#/layers?${FEW}&on=cpu&s=1.7`);
  // Chrome, told to reload while the page writes its address, opens the one before.
  await page.evaluate((hash) => history.replaceState(history.state, "", hash), `#/layers?${FEW}&on=cpu&s=1.5`);
  await page.reload();
  await page.waitForSelector("#badge:not([data-state=starting])");
  await lab.idle();
  const kept = await state(page, () => window.isoflatLab.app.store.state.sharpness.decades);
  check("so does one that comes while the address is being written", kept === 1.7, String(kept));
  await page.evaluate((few) => {
    location.hash = `#/layers?${few}&s=2&view=sideways_1`;
  }, FEW);
  await line(page, `#/layers?${FEW}&on=cpu&s=2`);
  check("what somebody types there is followed", (await page.locator("#sharpness").inputValue()) === "2");
  const said = await lab.text("#messages");
  check("and what cannot be read of it is told", said.includes("cannot be read: view=sideways_1."), said);
  await page.evaluate((few) => {
    location.hash = `#/layers?${few}&on=cpu`;
  }, FEW);
  await page.waitForFunction(() => window.isoflatLab.app.store.state.sharpness.decades === 0);
  check("to the weights as they are, too", await page.locator("#bend-reset").isDisabled());
  await lab.idle();
}
