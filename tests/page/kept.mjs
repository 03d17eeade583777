/** What is kept where it is not simple: two tabs, no storage, a full one, a newer build, a reload at once, a worker that is lost. */

import { readFileSync } from "node:fs";
import { Lab, measuredOn } from "./lab.mjs";

const stamp = (page) => page.evaluate(() => window.isoflatLab.app.store.state.stamp);
const decades = (page) => page.evaluate(() => window.isoflatLab.app.store.state.sharpness.decades);
const shelf = (page) => page.evaluate(() => window.isoflatLab.app.store.state.shelf);
const named = async (page, of) => (await shelf(page)).find((entry) => entry.stamp === of)?.name ?? null;

/** At once, and not over a while in which a busy machine may see it rest. */
const slide = (page, decades) => page.locator("#sharpness").fill(String(decades));

const REST_MS = 900;

/** Few samples and one epoch: it is not the training that is tried, nor what is measured. */
async function quick(lab, seed) {
  await lab.set("epochs", 1);
  await lab.set("samples", 1000);
  await lab.set("seed", seed);
  await lab.set("measured", 100);
  await lab.train();
  // What is left to be computed is not waited for.
  await lab.rest();
}

async function reload({ page }) {
  await page.reload();
  await page.waitForSelector("#badge:not([data-state=starting])");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.stamp !== null);
}

/** Another tab of the same browser. */
async function another(lab, url) {
  const other = new Lab(await lab.page.context().newPage());
  await other.page.goto(url);
  await other.page.waitForSelector("#badge:not([data-state=starting])");
  await other.idle();
  return other;
}

/** A training that runs in one tab is nothing that another one goes on with, until it has been stopped or its tab is gone. */
export async function checkTrainingElsewhere(browser, url, check) {
  const first = await Lab.open(browser, url, { rests: true });
  const note = ({ page }) => page.locator("#unfinished-note").textContent();
  const offers = ({ page }, isOffered) =>
    page.waitForFunction(
      (isOffered) => {
        const { unfinished } = window.isoflatLab.app.store.state;
        return unfinished !== null && document.querySelector("#continue-button").hidden !== isOffered;
      },
      isOffered,
      { timeout: 20_000 },
    );
  await first.set("samples", 500);
  await first.set("epochs", 10_000);
  await first.page.click("#train-button");
  await first.replace();
  await first.page.waitForFunction(() => window.isoflatLab.app.store.state.progress?.epoch >= 3);
  const second = await another(first, url);
  await second.page.waitForFunction(() => window.isoflatLab.app.store.state.unfinished !== null);
  check(
    "a training that runs in another tab is said to",
    /in another tab/.test(await note(second)),
    await note(second),
  );
  check("and Continue is not offered", await second.page.locator("#continue-button").isHidden());

  await first.page.click("#stop-button");
  await first.rest();
  await offers(second, true);
  check("once it is stopped there, it goes on here", /Continue goes on/.test(await note(second)), await note(second));
  check("as in its own tab", await first.page.isVisible("#continue-button"), await note(first));

  await second.page.click("#continue-button");
  await second.replace();
  await offers(first, false);
  check("which the first tab hears of", /in another tab/.test(await note(first)), await note(first));
  await second.page.close();
  await offers(first, true);
  check("and of its end, though the tab was closed", /Continue goes on/.test(await note(first)), await note(first));

  const third = await another(first, url);
  await third.set("epochs", 1);
  await third.train();
  await third.rest();
  await first.page.waitForFunction(() => window.isoflatLab.app.store.state.unfinished === null);
  check("what has come to its end there is offered nowhere", await first.page.locator("#unfinished-note").isHidden());

  await first.page.click("#train-button");
  await first.replace();
  await third.page.waitForFunction(() => window.isoflatLab.app.store.state.unfinished?.isElsewhere);
  const { run } = await third.page.evaluate(() => window.isoflatLab.app.store.state.unfinished);
  await third.train();
  await third.rest();
  await third.page.waitForFunction((run) => window.isoflatLab.app.store.state.unfinished?.run === run, run);
  check(
    "where one was trained to its end beside it, the first is kept again",
    /in another tab/.test(await note(third)),
  );
  await first.close();
}

export async function checkTwoTabs(browser, url, check) {
  const first = await Lab.open(browser, url, { rests: true });
  await quick(first, 3);
  const a = await stamp(first.page);
  const second = await another(first, url);
  check("a second tab opens with the last network", (await stamp(second.page)) === a);
  await quick(second, 4);
  const b = await stamp(second.page);
  await first.page.waitForFunction(
    (of) => window.isoflatLab.app.store.state.shelf.some((entry) => entry.stamp === of),
    b,
  );
  check("what one tab trains the other lists", (await shelf(first.page)).length === 2);
  await second.page.evaluate((of) => window.isoflatLab.app.shelf.name(of, "Named in the second"), a);
  await first.page.waitForFunction(
    (of) => window.isoflatLab.app.store.state.shelf.some(({ stamp, name }) => stamp === of && name !== null),
    a,
  );
  // As if the tab had not been told.
  await first.page.evaluate((of) => {
    const { store } = window.isoflatLab.app;
    store.set({
      shelf: store.state.shelf.map((entry) => (entry.stamp === of ? { ...entry, name: null, testAccuracy: 0 } : entry)),
      accuracy: { ...store.state.accuracy },
    });
  }, a);
  await first.page.waitForTimeout(REST_MS);
  check("a name that another tab has given is not lost", (await named(first.page, a)) === "Named in the second");
  await reload(first);
  check("a reload brings back what this tab showed", (await stamp(first.page)) === a);
  await first.idle();

  // Far more without a name than are kept: those that a tab has on its stage stay.
  await second.page.evaluate(async () => {
    const open = indexedDB.open("isoflat");
    await new Promise((resolve) => {
      open.onsuccess = resolve;
    });
    const work = open.result.transaction(["shelf", "networks"], "readwrite");
    const { shelf } = window.isoflatLab.app.store.state;
    for (let index = 0; index < 12; index++) {
      const stamp = `later ${index}`;
      work.objectStore("shelf").put({ ...shelf[0], stamp, name: null, at: Date.now() + index }, stamp);
      work.objectStore("networks").put({}, stamp);
    }
    work.objectStore("shelf").put({ ...shelf.at(-1), name: null, at: 1 }, shelf.at(-1).stamp);
    await new Promise((resolve) => {
      work.oncomplete = resolve;
    });
    open.result.close();
    const { app } = window.isoflatLab;
    await app.shelf.name(app.store.state.stamp, "Named to have it sorted");
  });
  const left = (await shelf(second.page)).map((entry) => entry.stamp);
  check(
    "and another tab does not let it go",
    left.includes(a) && left.includes(b) && left.length < 14,
    left.join("; "),
  );
  const complaints = [...first.complaints, ...second.complaints];
  check("the console is quiet", complaints.length === 0, complaints.join("; "));
  await first.close();
}

export async function checkNothingKept(browser, url, check) {
  for (const [about, script] of [
    ["a full disk", full],
    ["no database", without],
  ]) {
    const lab = await spoilt(browser, url, script);
    const { page } = lab;
    await slide(page, 3.0);
    await lab.idle();
    await page.waitForTimeout(REST_MS);
    const bent = [await stamp(page), await decades(page)];
    await quick(lab, 3);
    const said = await lab.text("#messages");
    check(`${about}: what was trained cannot be kept, and that is said`, /does not keep/.test(said), said);
    const question = page.locator("dialog.ask");
    await page.click("#train-button");
    await question.waitFor();
    check("it is asked about", /cannot be brought back/.test(await question.innerText()));
    await page.keyboard.press("Escape");
    await page.waitForTimeout(REST_MS);
    await page.locator("#undo").click();
    await lab.idle();
    check("undo brings the network before", [await stamp(page), await decades(page)].join() === bent.join());
    check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
    await lab.close();
  }
}

/** In the page and in its worker, which runs no script of the context's. */
async function spoilt(browser, url, script) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" });
  await context.addInitScript(script);
  await context.route("**/assets/worker-*.js", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${script}\n${await response.text()}` });
  });
  const lab = new Lab(await context.newPage());
  await lab.page.goto(measuredOn(url, 50));
  await lab.page.waitForSelector("#badge:not([data-state=starting])");
  await lab.idle();
  return lab;
}

const full = `IDBObjectStore.prototype.put = function () {
  this.transaction.abort();
  throw new DOMException("full", "QuotaExceededError");
};`;

const without = `Object.defineProperty(self, "indexedDB", { value: undefined });
Object.defineProperty(self, "sessionStorage", { get() { throw new DOMException("denied", "SecurityError"); } });`;

/** What was shown of networks, in the browser's database: `clear` takes it away, `age` makes it another build's. */
const inSnapshots = (page, what) =>
  page.evaluate(
    (what) =>
      new Promise((resolve) => {
        const open = indexedDB.open("isoflat");
        open.onsuccess = () => {
          const work = open.result.transaction("snapshots", "readwrite");
          const store = work.objectStore("snapshots");
          if (what === "clear") store.clear();
          else
            store.getAllKeys().onsuccess = ({ target }) => {
              for (const key of target.result) {
                store.get(key).onsuccess = (found) => store.put({ ...found.target.result, build: "older" }, key);
              }
            };
          work.oncomplete = () => {
            open.result.close();
            resolve();
          };
        };
      }),
    what,
  );

export async function checkNewerBuild(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  await quick(lab, 3);
  const trained = await stamp(page);
  const training = () => page.evaluate(() => JSON.stringify(window.isoflatLab.app.store.state.training));
  const reached = await training();
  await page.waitForTimeout(REST_MS);
  // As a newer build of the page finds it: weights, and nothing of what was shown.
  await inSnapshots(page, "age");
  await reload(lab);
  await lab.idle();
  check("a newer build has the weights", (await stamp(page)) === trained);
  const entry = (await shelf(page)).find((other) => other.stamp === trained);
  check("and what their training came to", (await training()) === reached && reached !== "null", reached);
  check("and knows how they were trained", entry?.training?.batchSize === 64, JSON.stringify(entry));
  await lab.goTo("train");
  await page.click("#train-button");
  await page.waitForSelector("dialog.ask");
  check("so it asks before they are given up", (await stamp(page)) === trained);
  await page.keyboard.press("Escape");

  await slide(page, 2.4);
  await page.locator("input[name=way][value=sharpen]").check({ force: true });
  await page.locator("input[name=way][value=bend]").check({ force: true });
  await lab.idle();
  const before = await decades(page);
  await page.waitForTimeout(REST_MS);
  await slide(page, 4.2);
  await lab.idle();
  await page.waitForTimeout(REST_MS);
  await page.locator("input[name=way]:checked").focus();
  await page.keyboard.press("Control+z");
  await lab.idle();
  check("the keys of Undo work on a choice that has the focus", (await decades(page)) === before);

  await page.evaluate(() => window.isoflatLab.kill());
  await page.waitForFunction(() => window.isoflatLab.app.store.state.engine !== null);
  await page.keyboard.press("Control+y");
  await lab.idle();
  check("and at once after the worker was lost", (await decades(page)) > before);
  const code = await page.evaluate(() => document.querySelector("#messages .message")?.dataset.code ?? "none");
  check("with no fault of the step’s own", code === "none" || code === "unexpected", code);
  await lab.close();
}

/** The page is left before it has noted what is on its stage: it comes to the question what other tabs need, and no further. */
const neverNoted = (page) =>
  page.evaluate(() => {
    navigator.locks.query = () => new Promise(() => {});
  });

export async function checkLinkOnOwn(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  // The address line has the network that the page comes with, and another one is trained: a reload in the middle of what follows.
  await page.waitForFunction(() => location.hash.includes("?"));
  await lab.set("epochs", 1);
  await lab.set("samples", 1000);
  await lab.set("measured", 100);
  await neverNoted(page);
  await lab.train();
  const trained = await stamp(page);
  await reload(lab);
  await page.waitForFunction((of) => window.isoflatLab.app.store.state.stamp === of, trained);
  await page.waitForTimeout(REST_MS);
  check("an address that the page wrote of another network is not followed", (await lab.count("dialog.ask")) === 0);
  check("and the network that was trained is there", (await stamp(page)) === trained);
  await lab.rest();
  const { training } = (await shelf(page)).find((entry) => entry.stamp === trained) ?? {};
  check("and that it was trained, and how, is known", training?.epochs === 1, JSON.stringify(await shelf(page)));
  await page.evaluate(() => {
    location.hash = "#/train?measured=50&s=0";
  });
  await page.locator("dialog.ask").getByText("Replace it").click();
  await page.waitForFunction(() => window.isoflatLab.app.store.state.stamp?.startsWith("arrival"));
  await lab.idle();
  await slide(page, 3.0);
  await lab.idle();
  const arrival = await stamp(page);
  // An address of the network that the page comes with.
  const link = await page.evaluate(async () => {
    Object.defineProperty(navigator, "clipboard", {
      value: { writeText: async (text) => Object.assign(window, { copied: text }) },
    });
    document.querySelector("#share").click();
    await new Promise((resolve) => setTimeout(resolve, 200));
    return window.copied;
  });
  const shared = await decades(page);
  await quick(lab, 3);
  const own = await stamp(page);
  await page.evaluate((hash) => {
    location.hash = hash;
  }, new URL(link).hash);
  await page.waitForSelector("dialog.ask");
  check("an address that is followed asks before it takes one’s own from the stage", (await stamp(page)) === own);
  await page.locator("dialog.ask").getByText("Replace it").click();
  await page.waitForFunction((of) => window.isoflatLab.app.store.state.stamp === of, arrival);
  await lab.idle();
  check("it shows the network that it is of", (await stamp(page)) === arrival && (await decades(page)) === shared);
  await page.waitForTimeout(REST_MS);
  await reload(lab);
  check("a reload stays with it", (await stamp(page)) === arrival);
  await lab.idle();
  // It does not come to rest: what is kept is not kept by that.
  await page.evaluate((least) => {
    const { setTimeout } = window;
    window.setTimeout = (body, ms, ...rest) => (ms >= least ? 0 : setTimeout(body, ms, ...rest));
  }, REST_MS / 4);
  await slide(page, 1.2);
  const last = await decades(page);
  // The page is put into the background, where it may be ended at any time: within a moment, and on a busy computer that is longer.
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await page.waitForTimeout(REST_MS);
  await reload(lab);
  check(
    "a bend of the last moment is there after it",
    (await decades(page)) === last,
    `${last}, ${await decades(page)}`,
  );
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}

export async function checkOpenedKept(browser, url, check) {
  const problem = readFileSync(new URL("../golden/mlp_bias.json", import.meta.url), "utf8");
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  const norm = () =>
    page.evaluate(() => window.isoflatLab.app.store.state.measures.trained.get("hessian.spectral_norm")?.value);
  // What is left to be computed is not waited for.
  const settled = async () => {
    await page.waitForFunction(() => window.isoflatLab.app.store.state.measures.trained.has("hessian.spectral_norm"));
    await lab.rest();
    return [await stamp(page), await norm()];
  };
  await lab.chooseFile("mlp_bias.json", problem);
  await page.waitForFunction(() => window.isoflatLab.app.store.state.opened?.model);
  const opened = await settled();
  await lab.set("epochs", 2);
  await lab.train();
  const trained = await settled();
  check("a model that was opened is trained further", trained[0] !== opened[0] && trained[1] !== opened[1]);

  // Data that do not fit it: the network on the stage is what it was.
  await lab.goTo("train");
  await page
    .locator("#open-input")
    .setInputFiles({ name: "rows.csv", mimeType: "text/csv", buffer: Buffer.from("1,2\n3,4") });
  await page.locator("dialog.ask").getByText("Replace it").click();
  await page.waitForSelector("#messages .message, #opened-fault:not([hidden])");
  await lab.idle();
  check("files that are no network take none from the stage", (await stamp(page)) === trained[0]);
  await page.evaluate(() => {
    const { app } = window.isoflatLab;
    return app.trainings.begin(null, { ...app.store.state.trainChoice, seed: 9 });
  });
  const further = await settled();
  check("it is trained on", further[0] !== trained[0]);
  await page.waitForTimeout(REST_MS);
  // Another tab says that networks were kept, just when they cannot be read.
  const shelf = await page.evaluate(async () => {
    const { open } = IDBFactory.prototype;
    let asked = 0;
    IDBFactory.prototype.open = () => {
      asked++;
      throw new Error("not now");
    };
    new BroadcastChannel("isoflat networks").postMessage(null);
    await new Promise((resolve) => setTimeout(resolve, 500));
    IDBFactory.prototype.open = open;
    return [asked > 0, window.isoflatLab.app.store.state.shelf.length];
  });
  check("what cannot be read is not gone", shelf[0] && shelf[1] >= 3, shelf.join());
  const shows = (of) => page.waitForFunction((of) => window.isoflatLab.app.store.state.stamp === of, of);
  await page.click("#undo");
  await shows(trained[0]);
  const back = await settled();
  check("undo brings its weights back", back.join() === trained.join(), back.join());
  await page.click("#redo");
  await shows(further[0]);
  await lab.idle();
  await page.waitForTimeout(REST_MS);
  // Nothing of what was computed, so that the engine says what the weights are.
  await inSnapshots(page, "clear");
  await reload(lab);
  await lab.idle();
  await page.evaluate(() => window.isoflatLab.app.look());
  const again = await settled();
  check("and a reload has the weights that it was trained to", again.join() === further.join(), again.join());
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}
