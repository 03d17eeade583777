/** A training that was stopped: how far it came, its curve, and neither of them of another network. */

import { Lab } from "./lab.mjs";

const EPOCHS = 300;

/** Places of the curve of the loss. */
const places = (page) =>
  page.evaluate(async () => {
    // It is drawn with the next frame.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const curve = document.querySelector("#training-chart path.curve.loss");
    return curve ? curve.getAttribute("d").split("L").length : 0;
  });

export async function checkStopped(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  await lab.goTo("train");
  const arrival = await lab.text("#r-epoch");
  // It is a step to come back to once it has been there for a moment (`REST_MS` of the page's history).
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1000)));
  check("what comes with the page has its epochs", /^(\d+) \/ \1$/.test(arrival), arrival);
  const own = await places(page);
  check("and their curve", own === Number(arrival.split(" ")[0]), `${own} places`);
  await lab.set("samples", 500);
  await lab.set("measured", 50);
  await lab.set("epochs", EPOCHS);
  await page.click("#train-button");
  await lab.replace();
  await page.waitForFunction(() => window.isoflatLab.app.store.state.progress?.epoch >= 3);
  await page.click("#stop-button");
  await lab.idle();
  const { training } = await page.evaluate(() => window.isoflatLab.app.store.state);
  const expected = `${Number(training.epochs.toFixed(1))} / ${EPOCHS} stopped`;
  const said = await lab.text("#r-epoch");
  check("it is said how far it came", said === expected && training.epochs >= 2, said);
  const note = await lab.text("#unfinished-note");
  check("as beside Continue", note.includes(`is at ${Number(training.epochs.toFixed(1))} of ${EPOCHS}`), note);
  await lab.goTo("networks");
  await page.waitForSelector(".shelved[aria-current]");
  const card = await lab.text(".shelved[aria-current]");
  check("and among the networks", card.includes(`stopped after ${expected.split(" ")[0]} of ${EPOCHS}`), card);
  await lab.goTo("train");
  const curve = await places(page);
  check("its curve is drawn", curve > 2, String(curve));
  await page.click("#undo");
  await lab.idle();
  check("what is brought back has its own epochs", (await lab.text("#r-epoch")) === arrival);
  check("and its own curve", (await places(page)) === own);
  await page.click("#redo");
  await lab.idle();
  check("the other comes back with its own", (await lab.text("#r-epoch")) === expected);
  check("and with its curve", (await places(page)) === curve);
  await page.reload();
  await page.waitForFunction(() => window.isoflatLab?.app.store.state.training?.stopped);
  await page.waitForFunction(() => !document.querySelector("#continue-button").hidden);
  await lab.idle();
  check("a reload forgets neither how far it came", (await lab.text("#r-epoch")) === expected);
  const whole = await places(page);
  check("nor its curve, by whole epochs", whole >= Math.floor(training.epochs), `${whole} places`);
  // The network that was stopped is on the way of what goes on.
  await page.click("#continue-button");
  await lab.replace();
  const further = (epochs) => window.isoflatLab.app.store.state.progress?.epoch >= epochs;
  await page.waitForFunction(further, training.epochs + 3);
  // A checkpoint is kept within two seconds.
  await page.waitForTimeout(3000);
  await page.reload();
  await page.waitForFunction(() => !document.querySelector("#continue-button").hidden);
  await lab.idle();
  const { epochs } = await page.evaluate(() => window.isoflatLab.app.store.state.unfinished);
  check("what has gone on is further after a reload", epochs > training.epochs, `${training.epochs} → ${epochs}`);
  check("and the stage where it was", (await lab.text("#r-epoch")) === expected && (await places(page)) === whole);
  await page.click("#continue-button");
  await page.waitForFunction(further, epochs);
  check("Continue asks nothing then", (await page.locator("dialog.ask[open]").count()) === 0);
  await page.click("#stop-button");
  await lab.idle();
  await lab.close();
}
