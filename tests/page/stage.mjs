/** The stage as a visitor meets it: what moves on arrival, the tour, the slider that the twin follows, addresses of the parts. */

import { Lab } from "./lab.mjs";

export const state = (page, body) => page.evaluate(body);

/** The stage as large as the screen, and in a frame of another page. */
export async function checkAlone(browser, url, check) {
  const lab = await Lab.open(browser, url, { measured: null });
  const { page } = lab;
  const before = await page.locator("#gauge-swings .values").evaluate((values) => getComputedStyle(values).fontSize);
  await page.click("#present");
  await page.waitForFunction(() => document.fullscreenElement?.id === "stage");
  const large = await page.locator("#gauge-swings .values").evaluate((values) => getComputedStyle(values).fontSize);
  check("presented, the stage is alone and its letters large", Number.parseFloat(large) > Number.parseFloat(before));
  await page.click("#present");
  await page.waitForFunction(() => document.fullscreenElement === null);
  check("and comes back", await page.isVisible(".tabs"));
  const below = () => page.locator(".tabs").evaluate((tabs) => tabs.getBoundingClientRect().top);
  const closed = await below();
  await lab.more();
  check("what lies under More moves nothing", (await below()) === closed, `${(await below()) - closed} px`);
  await lab.more(false);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator("#guide-next").click();
  await page.getByText("1 of 5").waitFor();
  const rows = await page.locator(".guide button").evaluateAll((buttons) => {
    const tops = buttons.filter((button) => button.checkVisibility()).map((button) => button.getBoundingClientRect());
    return new Set(tops.map(({ top, height }) => Math.round((top + height / 2) / 8))).size;
  });
  check("on a phone its buttons stay in one row while it shows how", rows === 1, `${rows} rows`);
  await lab.close();

  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 900, height: 700 } });
  const outer = new Lab(await context.newPage());
  const body = `<link rel="icon" href="data:,"><iframe src="${url}?embed#/train?s=2" width="880" height="680"></iframe>`;
  await context.route("**/outer.html", (route) => route.fulfill({ contentType: "text/html", body }));
  await outer.page.goto(`${url}outer.html`);
  const frame = outer.page.frameLocator("iframe");
  await frame.locator("#gauge-swings[data-verdict=moves]").waitFor();
  const seen = await Promise.all(
    [".tabs", ".masthead .device", "#panels", "footer"].map((part) => frame.locator(part).first().isVisible()),
  );
  check(
    "in a frame there is the stage alone",
    seen.every((is) => !is) && (await frame.locator("#sharpness").isVisible()),
  );
  check("where its address puts it", (await frame.locator("#sharpness").inputValue()) === "2");
  check("with a way to the lab", await frame.locator("#to-lab").isVisible());
  await outer.close();
}

/** A first visit, with motion. */
export async function checkArrival(browser, url, check) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 } });
  const lab = new Lab(await context.newPage());
  const { page } = lab;
  await page.addInitScript(() => {
    // How many different twins have been shown, and when the first one was.
    window.seenTwins = [];
    document.addEventListener("DOMContentLoaded", () => {
      const range = document.querySelector("#landscapes [data-point=bent] .range");
      new MutationObserver(() => window.seenTwins.push([performance.now(), range.textContent])).observe(range, {
        childList: true,
      });
    });
  });
  await page.goto(url);
  await page.waitForSelector("#landscapes [data-point=bent] canvas");
  await lab.idle();
  const twins = await state(page, () => window.seenTwins);
  const seconds = twins[0] ? twins[0][0] / 1000 : Number.NaN;
  check("something moves soon after the page is opened", twins.length > 10, `after ${seconds.toFixed(2)} s`);
  await checkTwin(lab, check, "on arrival");

  const riddle = await lab.text("#riddle");
  check("the riddle is asked", /So what does “flat” mean\?$/.test(riddle), riddle);
  await page.locator("#guide-next").focus();
  const captions = [];
  for (let step = 1; step <= 5; step++) {
    await page.keyboard.press("Enter");
    await page.waitForFunction((step) => document.querySelector("#guide-at").textContent === `${step} of 5`, step);
    captions.push(await lab.text("#riddle"));
    await lab.idle();
  }
  check("five captions by keyboard", new Set(captions).size === 5, captions[3]);
  await checkTwin(lab, check, "at the tour's end");
  await page.keyboard.press("Enter");
  check("then the riddle is back", (await lab.text("#riddle")) === riddle);
  await page.click("#guide-next");
  await page.click("#guide-skip");
  check("it can be skipped", (await lab.text("#riddle")) === riddle);

  await page.click("#guide-next");
  await page.click("#guide-next");
  await lab.goTo("train");
  await lab.train();
  await lab.settled();
  const after = await state(page, () => {
    const { training, sharpness, measures } = window.isoflatLab.app.store.state;
    return { ...training, decades: sharpness.decades, bent: measures.bent.size };
  });
  check(
    "training begun in the middle of the tour goes on to its end, and nothing bends what it finds",
    !after.stopped && after.epochs === 8 && after.decades === 0 && after.bent === 0,
    JSON.stringify(after),
  );
  check("the tour is of the other network, and gone", !(await page.isVisible("#guide-next")));
  await context.close();

  await checkStill(browser, url, check);
  await checkAddresses(browser, url, check);
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
}

/** A first visit of somebody who wants no motion: the tour puts the twin where it is to be, and shows no way there. */
async function checkStill(browser, url, check) {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const lab = new Lab(await context.newPage());
  const { page } = lab;
  await page.addInitScript(() => {
    window.seenFactors = [];
    document.addEventListener("DOMContentLoaded", () => {
      const value = document.querySelector("#sharpness-value");
      const see = () => window.seenFactors.push(value.textContent);
      see();
      new MutationObserver(see).observe(value, { childList: true, characterData: true, subtree: true });
    });
  });
  await page.goto(url);
  await page.waitForFunction(() => window.isoflatLab?.app.store.state.sharpness.decades === 3.5);
  for (let step = 1; step <= 5; step++) {
    await page.click("#guide-next");
    await page.waitForFunction((step) => document.querySelector("#guide-at").textContent === `${step} of 5`, step);
    const wanted = step === 1 ? 0 : 3.5;
    await page.waitForFunction((to) => window.isoflatLab.app.store.state.sharpness.decades === to, wanted);
  }
  const seen = await state(page, () => window.seenFactors);
  check("who wants no motion sees two twins and none between", new Set(seen).size === 2, [...new Set(seen)].join(", "));
  await lab.close();
}

/** Parts have addresses, and what they show is computed when they are opened, be it first or later. */
async function checkAddresses(browser, url, check) {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const lab = new Lab(await context.newPage());
  const { page } = lab;
  await page.goto(`${url}#/measures`);
  check("a part has an address of its own", await page.locator("[data-tab=measures]").isVisible());
  check("the others are closed", (await lab.count("[data-tab]:visible")) === 1);
  await lab.waitForMeasure("petzka.kappa_sum", "bent");
  check("what it shows is computed without being asked for", true);
  await page.locator(".skip").focus();
  await page.keyboard.press("Enter");
  check("the skip link stays in the part", await page.locator("[data-tab=measures]").isVisible());
  const colours = (names) =>
    page.evaluate((names) => {
      const probe = document.createElement("span");
      document.body.append(probe);
      const found = names.map((name) => {
        const meta = document.querySelector(`meta[name=theme-color][media*=${name}]`);
        probe.style.color = meta ? meta.content : "var(--paper)";
        return getComputedStyle(probe).color;
      });
      probe.remove();
      return found;
    }, names);
  const frames = { metas: await colours(["light", "dark"]), grounds: [] };
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    frames.grounds.push(...(await colours(["ground"])));
  }
  check(
    "the browser's own frame has the colours of the page's ground",
    frames.metas.join() === frames.grounds.join() && new Set(frames.metas).size === 2,
    JSON.stringify(frames),
  );
  await page.goto(`${url}#/no-such-part`);
  check("an address that is none shows the first part", await page.locator("[data-tab=train]").isVisible());
  check("its console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}

async function checkTwin(lab, check, when) {
  await lab.page.waitForFunction(() => window.isoflatLab.app.store.state.accuracy.bent !== undefined);
  const verdicts = [await lab.verdict("swings"), await lab.verdict("stands"), await lab.verdict("accuracy")];
  check(`one gauge swings, two stand, ${when}`, verdicts.join() === "moves,still,still", verdicts.join());
  const differing = await lab.count("#digits figcaption[data-same=false]");
  check("and all digits are read alike", differing === 0 && (await lab.count("#digits figure")) === 10);
}

/** The twin follows the slider as it is dragged, and what is asked of the rest is there soon after. */
export async function checkFollowing(lab, check) {
  const { page } = lab;
  await page.click("#bend-reset");
  await lab.settled();
  await state(page, () => {
    const { store } = window.isoflatLab.app;
    window.seenPreviews = [];
    store.watch(["preview"], () => {
      const { preview } = store.state;
      if (preview) window.seenPreviews.push([performance.now(), preview.surface.s.length, preview.samples]);
    });
  });
  const box = await page.locator("#sharpness").boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + 8, y);
  await page.mouse.down();
  const moves = 60;
  for (let i = 1; i <= moves; i++) await page.mouse.move(box.x + 8 + (0.6 * box.width * i) / moves, y);
  const during = await lab.verdict("swings");
  await page.mouse.up();
  const released = performance.now();
  await page.waitForFunction(() => window.isoflatLab.app.store.state.measures.bent.has("hessian.spectral_norm"), null, {
    polling: 10,
  });
  const gauge = performance.now() - released;
  const previews = await state(page, () => window.seenPreviews);
  const seconds = (previews.at(-1)[0] - previews[0][0]) / 1000;
  const [, points, samples] = previews.at(-1);
  check(
    "the surface follows the slider",
    previews.length > 5,
    `${((previews.length - 1) / seconds).toFixed(1)} a second, ${points} × ${points} points, ${samples} samples`,
  );
  check("the gauge says that it is being computed", during === "pending");
  check("and has the number when the slider is let go", true, `after ${gauge.toFixed(0)} ms`);
  await lab.looked();
  check(
    "the fine surface takes the coarse one's place",
    await state(page, () => {
      const { preview, surfaces, landscapeChoice } = window.isoflatLab.app.store.state;
      return preview === null && surfaces.bent.s.length === landscapeChoice.points;
    }),
  );
  await page.click("#bend-reset");
}

/** What is shown, as it would be compared before and after. */
export const shown = (page) =>
  state(page, () => {
    const { training, sharpness, measures, surfaces, modelChoice, landscapeChoice, look, bend, dinh } =
      window.isoflatLab.app.store.state;
    return JSON.stringify({
      training,
      sharpness,
      lambda: bend.lambda,
      powersOfTwo: dinh.powersOfTwo,
      modelChoice,
      landscapeChoice,
      look: [look.view, look.height],
      norms: ["trained", "bent"].map((point) => measures[point].get("hessian.spectral_norm")?.value),
      heights: ["trained", "bent"].map((point) => [...(surfaces[point]?.loss ?? [])].slice(0, 20)),
    });
  });

/** Of one surface by its keys, and so of both. */
export async function turn({ page }) {
  await page.locator("#landscapes [data-point=trained] canvas").focus();
  for (const key of ["ArrowLeft", "ArrowLeft", "ArrowUp", "+"]) await page.keyboard.press(key);
}

export const camera = (page) => state(page, () => window.isoflatLab.app.store.state.look.orbit.position);
const looked = (page) =>
  state(page, () => {
    const { view, height, orbit } = window.isoflatLab.app.store.state.look;
    return `${view} ${height} ${Math.abs(orbit.position[0] - 2.55) < 0.01 ? "as it was" : "turned"}`;
  });

/** What has just been chosen is there after a reload, though numbers still come and nothing has come to rest. */
async function checkHurried(lab, check) {
  const { page } = lab;
  const way = (name) => page.locator("#bend-controls .segments").getByText(name).click();
  await way("Sharpen");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.measures.bent.size > 0);
  // As somebody would whose numbers go on coming.
  await page.evaluate(() => {
    const { store } = window.isoflatLab.app;
    setInterval(() => store.set({ measures: { ...store.state.measures } }), 100);
  });
  await page.waitForTimeout(1500);
  await page.reload();
  await page.waitForSelector("#badge:not([data-state=starting])");
  await lab.idle();
  const { sharpness, bend } = await state(page, () => window.isoflatLab.app.store.state);
  check("a choice is kept while numbers come", sharpness.way === "sharpen", sharpness.way);
  await way("Bend");
  await lab.idle();
  await way("Sharpen");
  await lab.idle();
  const again = await state(page, () => window.isoflatLab.app.store.state.bend.lambda);
  check("and its twin is where it would be", String(bend.lambda) === String(again), `${bend.lambda} and ${again}`);
  await way("Bend");
  await lab.idle();
}

/** A reload, and a worker that is lost: what was trained, bent and found is there after both. */
export async function checkKept(browser, url, check) {
  const lab = await Lab.open(browser, url, { measured: 50 });
  const { page } = lab;
  const reload = async () => {
    // So long the page waits for a slider to rest before it is kept.
    await page.waitForTimeout(800);
    await page.reload({ waitUntil: "commit" });
    await page.waitForSelector("#gauge-swings[data-verdict=moves]");
    const before = await shown(page);
    await page.waitForSelector("#badge:not([data-state=starting])");
    await lab.idle();
    return { early: await state(page, () => window.firstShown === "starting"), before };
  };
  await page.addInitScript(() => {
    // What the badge said when the twin's gauge was first seen.
    new MutationObserver(() => {
      if (!document.querySelector("#gauge-swings[data-verdict=moves]")) return;
      window.firstShown ??= document.querySelector("#badge").dataset.state;
    }).observe(document, { childList: true, subtree: true });
  });
  await lab.drag("#sharpness", 0.3);
  await lab.looked();
  await turn(lab);
  await lab.goTo("landscape");
  await page.selectOption("#height", "linear");
  await page.locator("#undo[title*=view]").click();
  await lab.idle();
  check("undo takes back a choice of view, and turns nothing", (await looked(page)) === "surface log turned");
  await page.locator("#redo[title*=view]").click();
  await lab.idle();
  check("redo has it again", (await looked(page)) === "surface linear turned");
  await lab.goTo("train");
  const bent = await shown(page);
  await checkHurried(lab, check);
  const first = await reload();
  check("a reload brings the bend back, and how it was looked at", first.before === bent);
  check("before there is an engine", first.early);
  const sharpened = () => page.waitForFunction(() => window.isoflatLab.app.store.state.dinh.sharpened !== null);
  await page.locator("#bend-controls .segments").getByText("Sharpen").click();
  await sharpened();
  const wanted = await shown(page);
  await reload();
  await lab.goTo("dinh");
  await sharpened();
  const { refusal } = await state(page, () => window.isoflatLab.app.store.state.dinh.sharpened);
  const found = await shown(page);
  check(
    "Theorem 4 goes on after a reload",
    refusal === undefined && found === wanted,
    refusal ?? (found === wanted ? "" : `${found} instead of ${wanted}`),
  );
  await page.locator("#bend-controls .segments").getByText("Bend").click();
  await lab.settled();
  check("and it is still so when there is one", (await shown(page)) === bent);

  await lab.set("epochs", 1);
  await lab.set("samples", 2000);
  await lab.set("seed", 7);
  await lab.set("measured", 50);
  await lab.train();
  await lab.drag("#sharpness", 0.6);
  await lab.settled();
  const trained = await shown(page);
  const second = await reload();
  check("so is a network that was trained here", second.before === trained && (await shown(page)) === trained);
  await lab.goTo("train");
  const options = [await page.inputValue("#epochs"), await page.inputValue("#seed")];
  check("with its options", options.join() === "1,7", options.join());

  await page.evaluate(() => window.isoflatLab.kill());
  await page.waitForSelector(".message.error");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.engine !== null);
  await lab.idle();
  check("a lost worker takes nothing with it", (await shown(page)) === trained);
  const norm = await state(
    page,
    () => window.isoflatLab.app.store.state.measures.bent.get("hessian.spectral_norm").value,
  );
  await page.click("#bend-reset");
  await lab.idle();
  await lab.drag("#sharpness", 0.6);
  // Where the thumb was on its way has been measured too.
  await lab.settled();
  const again = await lab.waitForMeasure("hessian.spectral_norm", "bent");
  // The thumb is put back to within a pixel.
  check("and the new one has the weights", Math.abs(Math.log10(again / norm)) < 0.1, `${again}, before ${norm}`);
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}
