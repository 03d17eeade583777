/** Networks that are kept by name, side by side; undo and redo; the question before one is given up. */

import { Lab } from "./lab.mjs";
import { checkMenus } from "./taken.mjs";
import { checkNote } from "./words.mjs";

async function text(download) {
  let text = "";
  for await (const chunk of await download.createReadStream()) text += chunk;
  return text;
}

const state = (page, read) => page.evaluate(read);
const stamp = (page) => state(page, () => window.isoflatLab.app.store.state.stamp);
const decades = (page) => state(page, () => window.isoflatLab.app.store.state.sharpness.decades);
const measured = (page) => state(page, () => window.isoflatLab.app.store.state.model?.measuredSamples);
const norm = (page) =>
  state(page, () => window.isoflatLab.app.store.state.measures.trained.get("hessian.spectral_norm")?.value);

/** At once, and not over a while in which a busy machine may see it rest. */
const slide = (page, decades) => page.locator("#sharpness").fill(String(decades));

/** So long a choice rests before it is something to come back to. */
const REST_MS = 900;

/** Where an address has put the page is the first step, whichever part it opens, and what somebody follows later is a single one. */
export async function checkLinksAsSteps(browser, url, check) {
  const said = (page) =>
    state(page, () => [window.isoflatLab.app.store.state.undo, window.isoflatLab.app.store.state.redo].join());
  const shows = async (page) => `${await measured(page)} ${await decades(page)}`;
  for (const part of ["train", "measures", "layers"]) {
    const lab = await Lab.open(browser, `${url}#/${part}?measured=50&s=3`);
    await lab.measuring(50);
    await lab.idle();
    await lab.page.waitForTimeout(REST_MS);
    check(`nothing to undo where a link has opened ${part}`, (await said(lab.page)) === ",", await said(lab.page));
    if (part !== "measures") {
      await lab.close();
      continue;
    }
    await lab.page.evaluate(() => {
      location.hash = "#/measures?measured=400&s=2";
    });
    await lab.measuring(400);
    await lab.idle();
    await lab.page.waitForTimeout(REST_MS);
    check("one that is followed later is a step", (await said(lab.page)) === "the bend,", await said(lab.page));
    await lab.page.click("#undo");
    await lab.idle();
    check("which one press takes back", (await shows(lab.page)) === "50 3", await shows(lab.page));
    check("and nothing before it", (await said(lab.page)) === ",the bend", await said(lab.page));
    await lab.close();
  }
}

export async function checkUndo(browser, url, check) {
  const lab = await Lab.open(browser, url);
  const { page } = lab;
  const isOff = (id) => page.locator(id).getAttribute("aria-disabled");
  await page.waitForTimeout(REST_MS);
  check("nothing to undo on arrival", (await isOff("#undo")) === "true" && (await isOff("#redo")) === "true");
  const [arrival, beginning] = [await stamp(page), await decades(page)];

  await slide(page, 1.8);
  await lab.idle();
  await page.waitForTimeout(REST_MS);
  const first = await decades(page);
  await slide(page, 3.6);
  await lab.idle();
  await page.waitForTimeout(REST_MS);
  const second = await decades(page);
  await page.click("#undo");
  await lab.idle();
  check("undo takes the slider back", (await decades(page)) === first, `${second} to ${await decades(page)}`);
  check(
    "and says what it would take back next",
    (await page.locator("#undo").getAttribute("title")) === "Undo: the bend",
  );
  await page.keyboard.press("Control+z");
  await lab.idle();
  check("by keys too, to the beginning", (await decades(page)) === beginning);
  await page.keyboard.press("Control+Shift+z");
  await page.keyboard.press("Control+y");
  await lab.idle();
  check("redo goes on to where it was", (await decades(page)) === second);
  const swings = await lab.verdict("swings");
  check("with its numbers", swings === "moves", swings);

  await lab.set("epochs", 1);
  await lab.set("seed", 5);
  await page.waitForSelector("#put-aside button");
  check("another seed puts the network aside", (await lab.text("#put-aside")).includes("put aside"));
  await page.click("#put-aside button");
  await lab.idle();
  check("and it comes back", (await stamp(page)) === arrival && (await decades(page)) === second);

  await lab.set("seed", 4);
  await lab.train();
  await lab.idle();
  await page.waitForTimeout(REST_MS);
  const trained = [await stamp(page), await norm(page)];
  await page.click("#undo");
  await lab.idle();
  check("undo brings the network before", (await stamp(page)) === arrival && (await decades(page)) === second);
  await page.click("#redo");
  await lab.idle();
  check("redo the trained one", [await stamp(page), await norm(page)].join() === trained.join());
  await page.locator(".tabs a[href='#/train']").click();
  await page.locator("#learning-rate").focus();
  await page.keyboard.press("Control+z");
  await page.waitForTimeout(300);
  check("in a field the keys are the field's", (await stamp(page)) === trained[0]);
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}

/** Rescaled, the flattest by the Hessian is no longer that; by what respects the symmetry it has the place that it had. */
async function checkRanking(lab, check) {
  const { page } = lab;
  await page.click("#flip");
  await page.waitForSelector("#ranking .named-row[data-row^='Riemannian'] .mark", { state: "attached" });
  await lab.idle();
  const { trained, bent } = await page.evaluate(() => {
    const { measures } = window.isoflatLab.app.store.state;
    const of = (point) => measures[point].get("hessian.spectral_norm")?.value;
    return { trained: of("trained"), bent: of("bent") };
  });
  check("the flattest has been rescaled, and is a needle", bent > 100 * trained, `${trained} → ${bent}`);
  const said = await lab.text("#ranking-said");
  const [flips, stays] = said.split("Its place stays by");
  check("by the Hessian its place is another one", /Hessian/.test(flips) && !/Riemannian|κ/.test(flips), said);
  check("by what respects the symmetry it is the same", /Riemannian.*κ.*trace/.test(stays ?? ""), said);
  const rows = await lab.count("#ranking .named-row");
  check("each measure has its row", rows >= 8, `${rows} rows`);
}

export async function checkNetworksKept(browser, url, check) {
  const lab = await Lab.open(browser, url);
  const { page } = lab;
  const question = page.locator("dialog.ask");
  await lab.set("epochs", 1);
  await lab.set("samples", 2000);
  await lab.train();
  check("what comes with the page is replaced without a question", !(await question.isVisible()));
  await lab.idle();
  const first = [await stamp(page), await norm(page)];

  await lab.goTo("train");
  await page.click("#train-button");
  await question.waitFor();
  await page.keyboard.press("Escape");
  check("one that has been trained is asked about; Escape keeps it", (await stamp(page)) === first[0]);
  check("the focus is back", await page.evaluate(() => document.activeElement?.id === "train-button"));
  await lab.set("batch", 256);
  await lab.train(async () => {
    await page.click("#train-button");
    await question.getByRole("button", { name: "Keep it, and go on" }).click();
  });
  await lab.idle();
  const second = [await stamp(page), await norm(page)];
  check("another one is on the stage", second[0] !== first[0] && second[1] !== first[1]);

  await lab.goTo("networks");
  const card = (of) => page.locator(`.shelved[data-stamp="${of}"]`);
  await card(first[0]).waitFor();
  const name = card(first[0]).locator("input");
  check(
    "the first has the name it was given",
    (await name.inputValue()).includes("batches of 64"),
    await name.inputValue(),
  );
  await name.fill("Small batches");
  await name.blur();
  await card(second[0]).getByRole("button", { name: /^Keep/ }).click();
  await page.keyboard.type("Large batches");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".beside");
  const row = page.locator('.beside tr[data-measure="hessian.spectral_norm"] td');
  const heads = await page.locator(".beside thead th").allInnerTexts();
  const beside = await row.evaluateAll((cells) => cells.map((cell) => Number(cell.dataset.value)));
  check("both stand side by side", heads.slice(1, 3).join() === "Large batches,Small batches", heads.join());
  await checkMenus(lab, check, "[data-tab=networks]");
  const explained = await page.locator(".beside tr[data-measure]:not([data-measure=accuracy]) th [data-about]").count();
  check(
    "each measure there says what it is",
    explained > 0 &&
      explained === (await page.locator(".beside tr[data-measure]:not([data-measure=accuracy])").count()),
    `${explained}`,
  );
  await checkNote(page, check, "side by side", page.locator('.beside [data-about="hessian.spectral_norm"]'));
  await page.locator(".chart-head:has(#beside-title) button.take").click();
  const numbers = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Numbers (CSV)" }).click();
  const csv = await text(await numbers);
  check(
    "taken along with a row for each number, and the names that they were given",
    csv.startsWith("network,key,measure,trained") &&
      ["Small", "Large"].every((name) => new RegExp(`^${name} batches,hessian.spectral_norm,`, "m").test(csv)),
    csv.split("\n")[1],
  );
  check("with their own numbers", beside[0] === second[1] && beside[1] === first[1], beside.join());
  await page.setViewportSize({ width: 320, height: 640 });
  check("no wider than a window of 320 px", (await lab.overflow()) <= 0, `${await lab.overflow()} px`);
  await page.setViewportSize({ width: 1440, height: 900 });
  check("and pictures", (await page.locator(".shelved canvas").count()) >= 2);

  await card(first[0]).getByRole("button", { name: /^Show/ }).click();
  await page.waitForFunction((of) => window.isoflatLab.app.store.state.stamp === of, first[0]);
  await lab.idle();
  check("the other on the stage again, number by number", (await norm(page)) === first[1]);
  check("with its options", (await page.inputValue("#batch")) === "64", await page.inputValue("#batch"));
  await page.waitForTimeout(800);
  await page.reload();
  await page.waitForSelector("#badge:not([data-state=starting])");
  await lab.idle();
  check(
    "after a reload it is the one that was shown",
    (await stamp(page)) === first[0] && (await norm(page)) === first[1],
  );
  const names = await page.locator(".shelved input").evaluateAll((fields) => fields.map(({ value }) => value));
  check("and both are kept", names.join() === "Large batches,Small batches", names.join());

  await card(second[0])
    .getByRole("button", { name: /^Remove/ })
    .click();
  await question.getByRole("button", { name: "Keep it" }).click();
  check("removing asks", (await card(second[0]).count()) === 1);
  await card(second[0])
    .getByRole("button", { name: /^Remove/ })
    .click();
  await question.getByRole("button", { name: "Remove it" }).click();
  await card(second[0]).waitFor({ state: "detached" });
  const focused = () =>
    page.evaluate(() => document.activeElement?.closest("[data-stamp]")?.dataset.stamp ?? "nothing");
  check("the focus is on the one beside it", (await focused()) !== "nothing", await focused());
  const left = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const open = indexedDB.open("isoflat");
        open.onsuccess = () => {
          const keys = open.result.transaction("networks").objectStore("networks").getAllKeys();
          keys.onsuccess = () => resolve(keys.result);
        };
      }),
  );
  check("and then its weights are gone too", !left.includes(second[0]) && left.includes(first[0]), left.join("; "));
  await checkRanking(lab, check);
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}
