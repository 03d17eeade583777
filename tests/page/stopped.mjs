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
  check("as beside Continue", note.includes(`after ${Number(training.epochs.toFixed(1))} of ${EPOCHS}`), note);
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
  check("and not the other's curve", (await places(page)) === 0);
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
  await lab.close();
}
