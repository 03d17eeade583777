/**
 * The minute of somebody who has never heard of flatness: what is read, in which order, and what is seen beside each sentence. Who
 * has read this can say: a rescaling makes the valley of the loss as sharp as one likes, the network answers as before, so sharpness
 * alone says nothing; a measure that takes the rescaling into account stands still.
 */

import { Lab } from "./lab.mjs";

/** Of people who read about something new. */
const WORDS_A_MINUTE = 200;

const stage = (page) =>
  page.evaluate(() => {
    const text = (selector) => document.querySelector(selector)?.innerText.replace(/\s+/g, " ").trim() ?? "";
    const { bend, measures, accuracy, examples, bendSummary, preview } = window.isoflatLab.app.store.state;
    const ratio = (key) => (measures.bent.get(key)?.value ?? Number.NaN) / measures.trained.get(key).value;
    const answers = bendSummary?.answers ?? preview?.answers ?? [];
    const best = (rows) => rows.map((row) => row.indexOf(Math.max(...row)));
    return {
      sentence: text("#riddle"),
      swings: text("#gauge-swings"),
      stands: text("#gauge-stands"),
      same: text("#same"),
      sharper: ratio("hessian.spectral_norm"),
      riemannian: ratio("riemannian.layerwise_flat.spectral_norm"),
      bent: bend.lambda.some((factor) => factor !== 1),
      accuracy,
      digits: [best(examples.answers), best(answers)],
    };
  });

/** Until the slider has been where it is for as long as one needs to see that. */
async function resting(page) {
  await page.evaluate(() => {
    window.seenRest = {};
  });
  await page.waitForFunction(() => {
    const { decades } = window.isoflatLab.app.store.state.sharpness;
    if (window.seenRest.decades !== decades) window.seenRest = { decades, since: performance.now() };
    return performance.now() - window.seenRest.since > 500;
  });
}

const words = (text) => text.split(/\s+/).filter(Boolean).length;

export async function checkMinute(browser, url, check) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 } });
  const lab = new Lab(await context.newPage());
  const { page } = lab;
  await page.goto(url);
  await lab.idle();
  const read = [];
  const look = async (about) => {
    await resting(page);
    await lab.idle();
    const seen = await stage(page);
    read.push(seen.sentence);
    console.log(`  ${about}: ${seen.sentence}`);
    return seen;
  };

  const riddle = await look("on arrival");
  check(
    "the riddle names two networks that answer alike, one of them far sharper",
    /alike.*sharp/.test(riddle.sentence),
  );
  await page.click("#guide-next");
  const valley = await look("first");
  check("a minimum is a valley, and nothing is bent", /valley/.test(valley.sentence) && !valley.bent);
  await page.click("#guide-next");
  const needle = await look("second");
  check("it is bent, and a needle", /needle/.test(needle.sentence) && needle.sharper > 100, `× ${needle.sharper}`);
  await page.click("#guide-next");
  const same = await look("third");
  check(
    "the ten digits are read as before",
    same.digits[0].length === 10 &&
      same.digits[0].join() === same.digits[1].join() &&
      /same function/.test(same.sentence),
    JSON.stringify(same.digits),
  );
  check(
    "as many of the test set are right",
    same.accuracy.trained === same.accuracy.bent,
    JSON.stringify(same.accuracy),
  );
  await page.click("#guide-next");
  const gauges = await look("fourth");
  const said = Number(/× ([\d.,\u202f]+)/.exec(gauges.sentence)?.[1].replaceAll(/[\u202f,]/g, ""));
  check(
    "the sentence says by how much the norm went up, and it did",
    Math.abs(said / gauges.sharper - 1) < 0.1,
    `× ${said}, computed × ${gauges.sharper}`,
  );
  check("the other norm stands still", Math.abs(gauges.riemannian - 1) < 1e-3, `× ${gauges.riemannian}`);
  await page.click("#guide-next");
  const yours = await look("fifth");
  check("then it is one's own turn", /drag the slider/.test(yours.sentence));
  const seconds = (read.reduce((sum, text) => sum + words(text), 0) / WORDS_A_MINUTE) * 60;
  check("all of it is read in a minute", seconds < 60, `${seconds.toFixed(0)} s`);
  await context.close();
}
