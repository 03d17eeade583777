/** What is said of work that takes time: how long it will take, how far it is; pausing it, and going on. */

import { Lab, spin } from "./lab.mjs";

const MINUTE = 60_000;

const state = (lab, read) => lab.page.evaluate(read);

/** Notes every change of what the page shows of a job. */
const watch = (lab) =>
  lab.page.evaluate(() => {
    const { store } = window.isoflatLab.app;
    const seen = { fractions: [], cells: [], steps: [], heights: new Set() };
    window.seenWaiting = seen;
    const status = document.querySelector("#status");
    store.watch(["waiting", "invariance"], () => {
      const { waiting, invariance } = store.state;
      if (waiting?.fraction != null) seen.fractions.push(waiting.fraction);
      if (waiting && seen.steps.at(-1) !== waiting.step) seen.steps.push(waiting.step);
      const cells = invariance?.cells.length ?? 0;
      if (seen.cells.at(-1) !== cells) seen.cells.push(cells);
      seen.heights.add(status.offsetHeight);
    });
  });

const seen = (lab) => state(lab, () => ({ ...window.seenWaiting, heights: [...window.seenWaiting.heights] }));

const rises = (values) => values.every((value, index) => index === 0 || value >= values[index - 1]);

/** A check whose cells come one operator after the other; paused in the middle, it goes on with what is missing. */
export async function checkPause(browser, url, check) {
  const lab = await Lab.open(browser, url);
  const { page } = lab;
  await lab.goTo("check");
  await watch(lab);
  await page.click("#check-button");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.invariance?.cells.length > 0, null, {
    timeout: 4 * MINUTE,
  });
  // An element draws at the next frame, when its drawing has been loaded.
  await page.waitForSelector("table.invariance");
  check("cells that are still to come have their place", (await lab.count(".invariance .to-come")) > 0);
  check("the table says that it is not whole", (await page.getAttribute("table.invariance", "aria-busy")) === "true");
  check("the count and the time are said", /\d+ of \d+ cells/.test(await lab.text("#status-detail")));
  await page.focus("#status-stop");
  await page.keyboard.press("Enter");
  await lab.idle();
  await page.waitForSelector("#status[data-paused=true]");
  check("by keyboard the focus stays on it", await page.evaluate(() => document.activeElement?.id === "status-stop"));
  const before = await state(lab, () =>
    window.isoflatLab.app.store.state.invariance.cells.map((cell) => ({ ...cell })),
  );
  const all = await state(lab, () => {
    const { keys, transformations } = window.isoflatLab.app.store.state.checkChoice;
    return (keys.length + 1) * transformations.length;
  });
  check("paused, what is there stays", before.length > 0 && before.length < all, `${before.length} of ${all} cells`);
  const button = page.locator("#status-stop");
  check("in the same place is Continue", (await button.innerText()) === "Continue");
  check("the summary does not say that all is well", /so far/.test(await lab.text("#invariance-summary")));

  await page.evaluate(() => {
    window.seenWaiting.steps.length = 0;
  });
  const shown = await page.evaluate(() => document.querySelector("#status-bar").value);
  await button.click();
  await page.waitForFunction((all) => window.isoflatLab.app.store.state.invariance.cells.length === all, all, {
    timeout: 4 * MINUTE,
  });
  const after = await state(lab, () => window.isoflatLab.app.store.state.invariance.cells);
  const found = (cell) =>
    after.find(({ measure, transformation }) => measure === cell.measure && transformation === cell.transformation);
  check(
    "going on computes the others alone",
    before.every((cell) => JSON.stringify(found(cell)) === JSON.stringify(cell)),
  );
  check("all verdicts are there", /All \d+ verdicts/.test(await lab.text("#invariance-summary")));
  await lab.idle();
  const { fractions, cells, heights } = await seen(lab);
  check("cells came by and by", cells.length >= 4 && rises(cells.slice(1)), cells.join(" "));
  check("the bar never goes back", rises(fractions), `paused at ${shown}`);
  check("and nothing moves for what is said", heights.length === 1, heights.join(" "));
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}

/** Presses the button when a point's surface has so many rows, and says how many there are then. */
async function pauseAt(lab, point, least, begin) {
  await lab.page.evaluate(
    ({ point, least }) => {
      const { store } = window.isoflatLab.app;
      window.paused = false;
      store.watch(["growing"], () => {
        const { s, loss } = store.state.growing[point] ?? { s: [1], loss: [] };
        if (window.paused || loss.length / s.length < least) return;
        window.paused = true;
        document.querySelector("#status-stop").click();
      });
    },
    { point, least },
  );
  await lab.page.evaluate(begin);
  await lab.page.waitForFunction(() => window.paused, null, { timeout: 2 * MINUTE });
  await lab.page.waitForSelector("#status[data-paused=true]");
  return lab.page.evaluate((point) => {
    const { s, loss } = window.isoflatLab.app.store.state.growing[point];
    return { rows: loss.length / s.length, loss: [...loss] };
  }, point);
}

const surfaceOf = (lab, point) =>
  lab.page.evaluate((point) => {
    const surface = window.isoflatLab.app.store.state.surfaces[point];
    return surface && { loss: [...surface.loss], accuracy: [...surface.accuracy], t: [...surface.t] };
  }, point);

const POINTS = 31;

const whole = (lab, point) =>
  lab.page.waitForFunction(
    ({ point, points }) => window.isoflatLab.app.store.state.surfaces[point]?.t.length === points,
    { point, points: POINTS },
    { timeout: 2 * MINUTE },
  );

/** A surface that is paused keeps its rows: Continue computes the others alone, and the whole is what it is without a pause. */
export async function checkSurfacePause(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  // How many points a run of the surface says it has, after a reload too.
  await page.addInitScript(() => {
    window.totals = new Set();
    setInterval(() => {
      const { progress, waiting } = window.isoflatLab?.app.store.state ?? {};
      if (progress?.phase === "landscape" && waiting?.step.startsWith("Surface")) window.totals.add(progress.total);
    }, 5);
  });
  await page.reload();
  await page.waitForSelector("#badge:not([data-state=starting])");
  await lab.idle();
  // What else is to be computed of so many samples is not waited for.
  const rest = async () => {
    await lab.rest();
  };
  const points = POINTS;
  await page.evaluate((points) => {
    const { app } = window.isoflatLab;
    app.store.set({ landscapeChoice: { ...app.store.state.landscapeChoice, points } });
    void app.setMeasured(3000);
  }, points);
  await whole(lab, "trained");
  await rest();
  const first = { trained: await surfaceOf(lab, "trained"), bent: null };
  const begin = {
    trained: () => {
      const { app } = window.isoflatLab;
      app.setLandscape({ ...app.store.state.landscapeChoice, seed: 2 });
      app.setLandscape({ ...app.store.state.landscapeChoice, seed: 1 });
    },
    bent: () => window.isoflatLab.app.twin.setSharpness({ way: "bend", decades: 2 }),
  };
  for (const point of ["trained", "bent"]) {
    const { rows, loss } = await pauseAt(lab, point, 6, begin[point]);
    const title = await page.getAttribute("#status-stop", "title");
    check(`${point}: Continue says what is there`, title.includes(`${rows} of ${points} rows`), title);
    await page.evaluate(() => window.totals.clear());
    await page.click("#status-stop");
    await whole(lab, point);
    const totals = await page.evaluate(() => [...window.totals]);
    check(
      `${point}: the other rows are computed, and no more`,
      totals.includes((points - rows) * points) && !totals.includes(points ** 2),
      `${rows} of ${points} rows were there; computed ${totals.join()} points`,
    );
    const found = await surfaceOf(lab, point);
    check(`${point}: those that were there stay`, String(found.loss.slice(0, loss.length)) === String(loss));
    await rest();
    if (point === "bent") {
      await page.evaluate(() => {
        const { app } = window.isoflatLab;
        app.setLandscape({ ...app.store.state.landscapeChoice, seed: 3 });
      });
      await rest();
      await page.evaluate(() => {
        const { app } = window.isoflatLab;
        app.setLandscape({ ...app.store.state.landscapeChoice, seed: 1 });
      });
      await whole(lab, "bent");
      first.bent = await surfaceOf(lab, "bent");
      await rest();
    }
    check(
      `${point}: the whole is to the last bit what it is without a pause`,
      String(found.loss) === String(first[point].loss) &&
        String(found.accuracy) === String(first[point].accuracy) &&
        String(found.t) === String(first[point].t),
    );
  }

  const { rows } = await pauseAt(lab, "trained", 6, begin.trained);
  await page.waitForTimeout(900);
  await page.reload();
  await page.waitForSelector("#badge:not([data-state=starting])");
  await whole(lab, "trained");
  const totals = await page.evaluate(() => [...window.totals]);
  check(
    "after a reload the rows are there too",
    totals.includes((points - rows) * points) && !totals.includes(points ** 2),
    `${rows} rows; computed ${totals.join()} points`,
  );
  check("and the whole is the same", String((await surfaceOf(lab, "trained")).loss) === String(first.trained.loss));
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}

/** The steps are folded as one left them. */
export async function checkSteps(browser, url, check) {
  const lab = await Lab.open(browser, url, { measured: null });
  const { page } = lab;
  const steps = page.locator("#status-more");
  check("the steps are folded", (await steps.getAttribute("aria-expanded")) === "false");
  const height = () => page.evaluate(() => document.querySelector("#status").offsetHeight);
  check("of nothing there are none", !(await steps.isVisible()));
  await lab.goTo("spectrum");
  await page.click("#spectrum-button");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.progress?.done > 5);
  await steps.click();
  const open = await height();
  check("unfolded, they say what runs", /\d+ of/.test(await lab.text("#status-step")), await lab.text("#status-step"));
  await page.click("#status-stop");
  await lab.idle();
  check("in the room that there is", (await height()) === open);
  await page.reload();
  await page.waitForSelector("#badge:not([data-state=starting])");
  check("they are as one left them", (await steps.getAttribute("aria-expanded")) === "true");
  await steps.click();
  await lab.close();
}

/** Training that runs away says so, however it was begun. */
export async function checkDiverged(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  await lab.set("samples", 2000);
  await lab.set("epochs", 2);
  await lab.set("learning-rate", 1e6);
  // It asks for nothing: the network that the page comes with is not lost. It may be over at once.
  await page.click("#train-button");
  await page.waitForSelector(".message.error[data-code=not_finite]");
  await lab.idle();
  check("diverged training says so", /training diverged/i.test(await lab.text(".message.error")));
  check("by the form: its loss is no number", (await lab.text("#r-loss")) === "diverged", await lab.text("#r-loss"));
  const choice = await page.evaluate(() => {
    const { modelChoice, trainChoice, landscapeChoice } = window.isoflatLab.app.store.state;
    return { modelChoice, trainChoice, landscapeChoice };
  });
  await page.getByRole("button", { name: "Dismiss" }).click();
  await page.evaluate(({ modelChoice, trainChoice, landscapeChoice }) => {
    const bend = { lambda: [], nodewise: null, permutation: null };
    const training = { ...trainChoice };
    window.runBefore = training;
    void window.isoflatLab.app.opener.result({ model: modelChoice, training, bend, landscape: landscapeChoice });
  }, choice);
  await page.locator("dialog.ask").getByText("Replace it").click();
  await page.waitForFunction(() => window.isoflatLab.app.store.state.trainChoice === window.runBefore);
  await page.waitForSelector(".message.error[data-code=not_finite]");
  await lab.idle();
  check("by a result that is opened, too", (await lab.text("#r-loss")) === "diverged", await lab.text("#r-loss"));
  check(
    "with as many epochs as it has",
    /\/ 2/.test(await lab.text("#r-epoch")) || (await lab.text("#r-epoch")) === "–",
  );
  await checkAtOnce(lab, check);
  await lab.close();
}

/** Weights that are no numbers after the first steps: the same is said of them, and there is nothing to go on with. */
async function checkAtOnce(lab, check) {
  const { page } = lab;
  const unfinished = () => page.evaluate(() => window.isoflatLab.app.store.state.unfinished);
  for (const widths of [null, "5-4-3"]) {
    await page.reload();
    await page.waitForSelector("#badge:not([data-state=starting])");
    await lab.idle();
    if (widths) {
      await lab.set("network", "widths");
      await lab.set("widths", widths);
    }
    await lab.set("samples", 500);
    await lab.set("epochs", 2);
    await lab.set("learning-rate", 1e30);
    await page.click("#train-button");
    // It may be over at once, or ask first.
    await page.waitForSelector("dialog.ask[open], .message.error[data-code=not_finite]");
    const question = page.locator("dialog.ask");
    if (await question.isVisible()) await question.getByText("Replace it").click();
    await page.waitForSelector(".message.error[data-code=not_finite]");
    await lab.idle();
    const said = await lab.text(".message.error");
    check("so does one that is at once", /training diverged/i.test(said) && !said.includes("file"), said);
    const isOffered = (await page.isVisible("#continue-button")) || (await unfinished()) !== null;
    check("and Continue is not offered", !isOffered, JSON.stringify(await unfinished()));
  }
}

/** By how much the machine is slower now than it can be. */
const load = (idle) => Math.max(...Array.from({ length: 3 }, spin)) / idle;

/** Beyond this other programs have the machine, and estimates are of one that has it for itself. */
const QUIET = 1.3;
/** Shorter work says “less than a second”. */
const SHORT = 0.5;
/** Said, relative to what it took: the first time on a device by what is known of such work, then by what it took. */
const TOLERANCE = 2;
/** Of the landscape and of what is computed: fewer than usual, so that all kinds of work fit into a minute. */
const MEASURED = 200;

const WORKS = {
  training: { tab: "train", press: "#train-button", id: "train-estimate" },
  landscape: { tab: "landscape", press: "#draw-directions", id: "look-estimate" },
  measures: { tab: "measures", press: null, id: "measures-estimate" },
  spectrum: { tab: "spectrum", press: "#spectrum-button", id: "spectrum-estimate" },
  check: { tab: "check", press: "#check-button", id: "check-estimate" },
  boxes: { tab: "dinh", press: "#boxes-button", id: "boxes-estimate" },
  ball: { tab: "dinh", press: "#ball-button", id: "ball-estimate" },
  table2: { tab: "papers", press: "#table2-button", id: "table2-estimate" },
  report: { tab: "keep", press: "#save-report", id: "report-estimate" },
};
/** Those that come by themselves when a network has been trained; the others are asked for. */
const TRAINED = ["training", "landscape", "measures"];
const ASKED = Object.keys(WORKS).filter((work) => !TRAINED.includes(work));

/** How long each kind of piece takes, as the page does them, and what is said meanwhile of the time that is left. */
const timePieces = (lab) =>
  lab.page.evaluate(() => {
    const { progressing, store } = window.isoflatLab.app;
    window.taken = {};
    window.left = [];
    if (progressing.through.isTimed) return;
    const { through } = progressing;
    store.watch(["waiting"], () => {
      const { waiting } = store.state;
      if (waiting?.left != null) window.left.push({ at: performance.now() / 1000, left: waiting.left });
    });
    progressing.through = async function (piece, ...rest) {
      const start = performance.now();
      const found = await through.call(this, piece, ...rest);
      const { what, point } = piece;
      const parts = { line: "landscape", surface: "landscape", density: "spectrum", power: "table2" };
      const name = parts[what] ?? what;
      if (point !== "bent") window.taken[name] = (window.taken[name] ?? 0) + (performance.now() - start) / 1000;
      return found;
    };
    progressing.through.isTimed = true;
  });

/** Presses the button, and waits until what it is for is there and nothing runs. */
async function compute(lab, work) {
  const { page } = lab;
  const isComputed = (work) => {
    const { densities, checkChoice, invariance, dinh, table2, task } = window.isoflatLab.app.store.state;
    const all = checkChoice && (checkChoice.keys.length + 1) * checkChoice.transformations.length;
    const is = {
      spectrum: () => densities.trained,
      check: () => invariance?.cells.length === all,
      boxes: () => dinh.boxes,
      ball: () => dinh.ball,
      table2: () => table2,
      // With what the address says beside it, once that is written.
      report: () => location.hash.split("?")[0] === "#/report",
    };
    return task === "idle" && is[work]();
  };
  // What is there is not computed again.
  await page.evaluate((work) => {
    const { app } = window.isoflatLab;
    if (work === "spectrum") app.asking.setSpectrum({ ...app.store.state.spectrumChoice });
    if (["boxes", "ball"].includes(work)) app.store.set({ dinh: { ...app.store.state.dinh, [work]: null } });
    // It may be over before anybody looks.
    window.hasBegun = false;
    app.store.watch(["task"], () => {
      window.hasBegun ||= app.store.state.task !== "idle";
    });
  }, work);
  await page.click(WORKS[work].press);
  await page.waitForFunction(() => window.hasBegun);
  await page.waitForFunction(isComputed, work, { timeout: 8 * MINUTE });
  // A report is a page of its own.
  if (work === "report") await page.click(".report-ways a");
}

/** On a fresh profile, twice: estimated and actual seconds of each kind of work. */
export async function checkEstimatesHold(browser, url, check) {
  const idle = Math.min(...Array.from({ length: 5 }, spin));
  const lab = await Lab.open(browser, url);
  const { page } = lab;
  // No twin: its pieces are not what is estimated.
  await page.locator("#bend-reset").click();
  await lab.set("measured", MEASURED);
  await lab.idle();
  // What has just been computed would be learnt from.
  await page.waitForTimeout(900);
  await page.evaluate(() => localStorage.removeItem("isoflat-paces"));
  await page.reload();
  await page.waitForSelector("#badge:not([data-state=starting])");
  await lab.idle();
  const { measuredSamples } = await state(lab, () => window.isoflatLab.app.store.state.model);
  check("the page has the samples that it had", measuredSamples === MEASURED, String(measuredSamples));
  // What was tried out while the page began is tried out again now.
  await page.waitForFunction(() => window.isoflatLab.app.store.state.costs?.isBeside === false);
  for (const time of ["for the first time", "again"]) {
    const said = {};
    const busy = {};
    const actual = {};
    const estimate = async (work) => {
      said[work] = Number(await page.locator(`#${WORKS[work].id}`).getAttribute("data-seconds"));
      busy[work] = load(idle);
    };
    for (const work of TRAINED) await estimate(work);
    await timePieces(lab);
    await lab.goTo("train");
    await page.click("#train-button");
    await lab.replace();
    await page.waitForFunction(() => window.isoflatLab.app.store.state.task === "training");
    await lab.idle(8 * MINUTE);
    Object.assign(actual, await state(lab, () => window.taken));
    for (const work of TRAINED) busy[work] = Math.max(busy[work], load(idle));
    for (const work of ASKED) {
      await lab.goTo(WORKS[work].tab);
      await estimate(work);
      await timePieces(lab);
      await compute(lab, work);
      busy[work] = Math.max(busy[work], load(idle));
      actual[work] = (await state(lab, () => window.taken))[work];
      if (work === "report") checkLeft(await state(lab, () => window.left), check, time, busy[work] > QUIET);
    }
    for (const [work, seconds] of Object.entries(said)) {
      const ratio = seconds / actual[work];
      const isShort = actual[work] < SHORT && seconds < 2 * SHORT;
      // A machine that has become faster makes an estimate too long, and a slower one too short: nobody could know.
      const isTooLong = ratio > TOLERANCE / Math.min(1, busy[work]);
      const isTooShort = ratio < 1 / (TOLERANCE * Math.max(1, busy[work]));
      const isBusy = busy[work] > QUIET;
      check(
        `${work}, ${time}: the estimate holds within a factor of ${TOLERANCE}${isBusy ? " (not held to it: the machine is not quiet)" : ""}`,
        isShort || isBusy || !(isTooLong || isTooShort),
        `said ${seconds.toFixed(2)} s, took ${actual[work].toFixed(2)} s, × ${ratio.toFixed(2)}; machine × ${busy[work].toFixed(2)}`,
      );
    }
  }
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}

/** What is said of the time that is left, in the middle of the work: section by section it comes nearer. */
function checkLeft(seen, check, time, isBusy) {
  const [begun, ended] = [seen[0].at, seen.at(-1).at];
  const middle = seen.find(({ at }) => at >= (begun + ended) / 2);
  const ratio = middle.left / (ended - middle.at);
  check(
    `the report, ${time}: in its middle the time that is left holds within a factor of ${TOLERANCE}${isBusy ? " (not held to it: the machine is not quiet)" : ""}`,
    (ratio <= TOLERANCE && ratio >= 1 / TOLERANCE) || isBusy,
    `said ${middle.left.toFixed(2)} s, took ${(ended - middle.at).toFixed(2)} s, × ${ratio.toFixed(2)}`,
  );
}
