/**
 * A worker that is killed, a module that crashes, a page that is loaded anew, a device that is lost: each at a random moment of
 * whatever the page does. The trained weights are the same to the last bit after each. `ISOFLAT_SEED` repeats a run.
 */

import { Lab } from "./lab.mjs";

const MINUTE = 60_000;
/** Work of the small network takes about so long: most ends come in the middle of it. */
const LONGEST_MS = 500;

/** Marsaglia's xorshift: numbers in [0, 1) that a seed brings back. */
export function randomBy(seed) {
  let state = (seed ^ 0x9e3779b9) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

export const drawSeed = () => Number(process.env.ISOFLAT_SEED) || Math.floor(Math.random() * 2 ** 31);

/** The trained weights, bit for bit, as a short text; while a worker is being replaced there is nothing to ask. */
export async function weights(page) {
  for (const end = Date.now() + MINUTE; Date.now() < end; await page.waitForTimeout(100)) {
    const found = await page.evaluate(async () => {
      const { app } = window.isoflatLab;
      const { engine, ready, stamp } = app.store.state;
      const file = engine && ready && stamp ? await app.savedFile("trained", "safetensors") : null;
      if (!file) return null;
      const digest = await crypto.subtle.digest("SHA-256", file.bytes);
      return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
    });
    if (found) return found;
  }
  return "none";
}

const WORK = {
  looking: (page, draw) =>
    page.evaluate(
      (seed) => {
        const { app } = window.isoflatLab;
        app.setLandscape({ ...app.store.state.landscapeChoice, seed });
      },
      Math.floor(draw() * 1000),
    ),
  bending: (page, draw) => page.locator("#sharpness").fill(String(1 + Math.floor(draw() * 200) / 50)),
  checking: (page) => page.evaluate(() => void window.isoflatLab.app.asking.check(10, false)),
  training: (page, draw) =>
    page.evaluate(
      (seed) => {
        const { app } = window.isoflatLab;
        const { modelChoice, trainChoice } = app.store.state;
        void app.trainings.begin(modelChoice, { ...trainChoice, epochs: 50, seed });
      },
      Math.floor(draw() * 1000),
    ),
};

const ENDS = {
  kill: (page) => page.evaluate(() => window.isoflatLab.kill()),
  crash: (page) => page.evaluate(() => window.isoflatLab.crash()),
  reload: (page) => page.reload(),
  loseDevice: (page) => page.evaluate(() => window.isoflatLab.loseDevice()),
};

function shuffled(list, draw) {
  const rest = [...list];
  return list.map(() => rest.splice(Math.floor(draw() * rest.length), 1)[0]);
}

/** Each of the ends in each of the works. */
async function checkEnds(lab, check, ends, works) {
  const { page } = lab;
  const seed = drawSeed();
  const draw = randomBy(seed);
  const of = await page.evaluate(() => window.isoflatLab.app.store.state.stamp);
  const trained = await weights(page);
  const rounds = shuffled(
    ends.flatMap((end) => works.map((work) => [end, work])),
    draw,
  );
  let inTime = 0;
  for (const [end, work] of rounds) {
    await WORK[work](page, draw);
    await page
      .waitForFunction((work) => window.isoflatLab.app.store.state.task === work, work, { polling: 5, timeout: 3000 })
      .catch(() => {});
    const wait = Math.floor(draw() * LONGEST_MS);
    await page.waitForTimeout(wait);
    if (await page.evaluate((work) => window.isoflatLab.app.store.state.task === work, work)) inTime++;
    await ENDS[end](page);
    if (end === "reload") await page.waitForSelector("#badge:not([data-state=starting])");
    // What trains takes the network from the stage, and not from what is kept.
    if (work === "training") {
      await page.waitForFunction(() => window.isoflatLab.app.store.state.engine !== null);
      await page.evaluate((of) => void window.isoflatLab.app.show(of), of);
      await page.waitForFunction((of) => window.isoflatLab.app.store.state.stamp === of, of);
    }
    const found = await weights(page);
    const [stamp, hash, messages] = await page.evaluate(() => [
      window.isoflatLab.app.store.state.stamp,
      location.hash,
      document.querySelector("#messages").textContent,
    ]);
    check(
      `${end} after ${wait} ms of ${work}: the weights are there (ISOFLAT_SEED=${seed})`,
      found === trained && stamp === of,
      `${stamp === of ? "the network" : `${stamp} instead of ${of}`} at ${hash} ${messages}`,
    );
  }
  check("most ends came while it was at work", inTime * 2 >= rounds.length, `${inTime} of ${rounds.length}`);
  await lab.rest();
  await page.locator("#sharpness").fill("2.2");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.bendSummary !== null);
  check("and the network can be worked with as before", (await lab.count("#digits figcaption[data-same=false]")) === 0);
  // Crashes and lost workers are what was tried out.
  lab.forgive(/crash\(\) was called|unreachable/);
}

/** A network that was trained here, quickly. */
async function quick(lab) {
  await lab.set("epochs", 1);
  await lab.set("samples", 1000);
  await lab.train();
  await lab.rest();
}

export async function checkEnded(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  await quick(lab);
  await checkEnds(lab, check, ["kill", "crash", "reload"], ["looking", "bending", "checking", "training"]);
  await lab.close();
}

/** With WebGPU; a lost device in a training is in way.mjs. */
export async function checkLost(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  await quick(lab);
  await lab.page.selectOption("#backend", "webgpu");
  await lab.page.waitForFunction(() => window.isoflatLab.app.store.state.engine?.info.backend === "gpu");
  await checkEnds(lab, check, ["loseDevice"], ["looking", "bending", "checking"]);
  await lab.close();
}
