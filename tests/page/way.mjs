/** The way of a training on its landscape, and a training that goes on wherever it was broken off. */

import { drawSeed, randomBy, weights } from "./ends.mjs";
import { Lab } from "./lab.mjs";
import { readSvg, taken } from "./taken.mjs";

const MINUTE = 60_000;
/** Long enough for a checkpoint or two on a slow computer. */
const RUN = { epochs: 10, seed: 4 };
/** What a way is drawn with on paper. */
const ON_PAPER = 'stroke="rgb(176, 18, 143)"';

const state = (page, key) => page.evaluate((key) => window.isoflatLab.app.store.state[key], key);

async function choose(lab, run = RUN) {
  for (const [id, value] of Object.entries(run)) await lab.set(id, value);
  // A training begins with nothing of what is computed meanwhile, for minutes on a software GPU.
  await lab.rest();
}

/** How a training that nothing disturbs ends, and how its way is drawn. */
export async function checkWay(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  await lab.goTo("landscape");
  const option = page.locator("#directions option[value=way]");
  check("the network that the page comes with has no way", await option.isDisabled());
  const reason = await lab.text("#directions-note");
  check("and says why", reason.includes("comes without its own"), reason);

  await choose(lab);
  await lab.train();
  await lab.looked();
  const way = await state(page, "way");
  check("a training keeps snapshots of its way", way >= 17 && way <= 33, String(way));
  check("nothing is left to be continued", await page.locator("#continue-button").isHidden());
  const found = { hash: await weights(page), training: await state(page, "training") };

  await lab.goTo("landscape");
  await page.waitForSelector(`#landscapes [data-point=trained] canvas[data-way="${way}"]`);
  const note = () => lab.text("#look-note");
  check("in random directions it is projected, and said so", (await note()).includes("projected onto this plane"));
  await page.selectOption("#directions", "way");
  await page.waitForFunction(() => {
    const { surfaces, landscapeChoice } = window.isoflatLab.app.store.state;
    return landscapeChoice.directions === "way" && surfaces.trained?.path;
  });
  // It is drawn at the next frame.
  const drawn = page.waitForSelector(`canvas[data-way="${way}"]`, { timeout: 10_000 });
  check("along its own components it is drawn", await drawn.then(Boolean, () => false));
  const words = await note();
  const shares = [...words.matchAll(/([\d.]+) %/g)].map(([, share]) => Number(share));
  check("with what each explains", shares.length === 2 && shares[0] > 30 && shares[0] > shares[1], words);
  const inside = await page.evaluate(() => {
    const { s, t, path } = window.isoflatLab.app.store.state.surfaces.trained;
    const within = (axis, along) => along.every((x) => axis[0] < x && x < axis.at(-1));
    return (
      within(s, path.s) && within(t, path.t) && Math.hypot(path.s.at(-1), path.t.at(-1)) < 1e-6 * Math.abs(path.s[0])
    );
  });
  check("all of it inside, from its beginning to the weights", inside);
  const saved = await readSvg(lab, (await taken(lab, "#landscapes [data-point=trained]", /SVG/)).bytes);
  check(
    "on paper too",
    saved.text.split(ON_PAPER).length > way && saved.desc.includes("magenta line: the way"),
    saved.desc,
  );
  check("other directions are not to be drawn then", await page.locator("#draw-directions").isDisabled());
  await page.locator("input[name=view][value=contour]").check({ force: true });
  await page.waitForSelector("#landscapes [data-point=trained] svg .way");
  check("in the contour map too", (await lab.count("#landscapes [data-point=trained] .way .dot")) === way - 1);
  await page.locator("input[name=view][value=line]").check({ force: true });
  await page.waitForSelector("#landscapes [data-point=trained] .chart");
  check("and of a line its one direction", /this direction explains [\d.]+ % of/.test(await note()), await note());

  await lab.goTo("train");
  await page.waitForTimeout(1000);
  await page.reload();
  await page.waitForSelector("#badge:not([data-state=starting])");
  await lab.idle();
  await lab.goTo("landscape");
  check("the choice survives a reload", (await page.locator("#directions").inputValue()) === "way");
  check("so does the way", (await state(page, "way")) === way && !(await option.isDisabled()));
  await page.locator("#points").fill("11");
  await page.locator("#points").blur();
  await page.waitForFunction(() => window.isoflatLab.app.store.state.surfaces.trained?.s.length === 11);
  check("which is computed anew from what was kept", (await state(page, "surfaces")).trained.path.share > 0.5);
  check("no complaints", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
  return found;
}

const ENDS = {
  kill: (page) => page.evaluate(() => window.isoflatLab.kill()),
  crash: (page) => page.evaluate(() => window.isoflatLab.crash()),
  reload: (page) => page.reload(),
  // Gone if the run has just come to its end, which is looked at next.
  stop: (page) => page.click("#stop-button", { timeout: 5000 }).catch(() => {}),
};

/** `expected`: what `checkWay` has found of the same run. */
export async function checkContinued(browser, url, check, expected) {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  await choose(lab);
  await page.click("#train-button");
  await lab.replace();
  const come = [];
  const seed = drawSeed();
  const draw = randomBy(seed);
  for (const end of ["kill", "crash", "reload", "stop", "kill", "reload"]) {
    // What is left of a run may be over before anybody looks.
    const goesOn = await page.waitForFunction((loss) => {
      const { progress, training, task } = window.isoflatLab.app.store.state;
      if (progress?.done > 0) return "on";
      return training?.loss === loss && task !== "training" ? "at its end" : null;
    }, expected.training.loss);
    if ((await goesOn.jsonValue()) === "at its end") break;
    // The first before there can be a checkpoint, the others anywhere.
    const wait = come.length === 0 ? 300 : 300 + draw() * 2700;
    await page.waitForTimeout(wait);
    if ((await state(page, "task")) !== "training") break;
    await ENDS[end](page);
    const button = page.locator("#continue-button");
    // A run may come to its end between the look at it and what should break it off.
    const outcome = await page.waitForFunction((loss) => {
      if (!document.querySelector("#continue-button").hidden) return "broken off";
      const { training, task } = window.isoflatLab.app.store.state;
      return training?.loss === loss && task !== "training" ? "at its end" : null;
    }, expected.training.loss);
    if ((await outcome.jsonValue()) === "at its end") break;
    await page.waitForSelector("#badge:not([data-state=starting])");
    const { epochs } = await state(page, "unfinished");
    come.push(epochs);
    check(
      `after ${end} at ${Math.round(wait)} ms it can be continued (ISOFLAT_SEED=${seed})`,
      (await lab.text("#unfinished-note")) !== "",
    );
    await lab.idle();
    await button.click();
    await lab.replace();
  }
  check("it was broken off twice at least", come.length >= 2, String(come.length));
  check(
    "nothing of it is lost on the way",
    come.every((at, index) => at >= (come[index - 1] ?? 0)),
    come.join(", "),
  );
  // The network that the page comes with was not stopped either, and is there until the training goes on.
  const atItsEnd = (epochs) => {
    const { training } = window.isoflatLab.app.store.state;
    return training?.stopped === false && training.epochs === epochs;
  };
  await page.waitForFunction(atItsEnd, RUN.epochs, { timeout: 4 * MINUTE });
  await lab.looked();
  const { training } = expected;
  const ended = await state(page, "training");
  check("it ends with the same loss", ended.loss === training.loss, JSON.stringify([ended, training]));
  check("and the same weights to the last bit", (await weights(page)) === expected.hash);
  check("its way is that of the whole run", (await state(page, "way")) > 16);
  check("nothing is left to be continued", await page.locator("#continue-button").isHidden());
  // A crash is what was tried out here.
  lab.forgive(/crash\(\) was called/);
  await lab.close();
}

/** With WebGPU: a training takes a lost device for no beginning, and no end. */
export async function checkLostDevice(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  await page.selectOption("#backend", "webgpu");
  // All that the page shows is computed anew then, which a software adapter takes minutes for.
  await page.waitForFunction(() => window.isoflatLab.app.store.state.engine?.info.backend !== "cpu");
  await choose(lab, { samples: 300, measured: 50, epochs: 6, seed: 4 });
  await lab.train();
  await lab.rest();
  const whole = await weights(page);
  await lab.train(async () => {
    await page.click("#train-button");
    await lab.replace();
    const begun = performance.now();
    await page.waitForFunction(() => window.isoflatLab.app.store.state.progress?.epoch >= 2);
    // Four epochs are left, which take about twice as long as what there was: a quick computer would be at the end in a second.
    const seed = drawSeed();
    const wait = randomBy(seed)() * Math.min(1000, performance.now() - begun);
    check("a moment is drawn", true, `${Math.round(wait)} ms (ISOFLAT_SEED=${seed})`);
    await page.waitForTimeout(wait);
    await page.evaluate(() => window.isoflatLab.loseDevice());
  });
  const said = await lab.text("#messages");
  check("a lost device is said", said.includes("The GPU was lost"), said);
  check("and training goes on", (await state(page, "training")).stopped === false);
  check("to the same weights, to the last bit", (await weights(page)) === whole);
  const line = await page.locator("#training-chart .curve.loss").getAttribute("d");
  const at = [...line.matchAll(/[ML]\s*([\d.]+)/g)].map(([, x]) => Number(x));
  check("its curve does not run back", at.length > 2 && at.every((x, i) => i === 0 || x >= at[i - 1]), at.join());
  await lab.close();
}
