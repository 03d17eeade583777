/** Without WebGPU: the way from Train to Check by keyboard alone, then everything that needs no GPU. */

import { test } from "./fixtures.mjs";
import { checkFromRow } from "./gallery.mjs";
import { Lab } from "./lab.mjs";
import {
  checkConstructions,
  checkCoordinates,
  checkFigure5,
  checkHeatMap,
  checkLayers,
  checkNeighbours,
  checkPapers,
  checkPixels,
  checkSearch,
  checkSharpen,
  checkSpectrum,
  checkSpectrumStop,
  checkTooLarge,
} from "./panels.mjs";
import { checkFollowing } from "./stage.mjs";
import {
  checkBadInput,
  checkBent,
  checkConvolution,
  checkEstimates,
  checkFlattest,
  checkInvariance,
  checkLandscapes,
  checkNetworks,
  checkNodewise,
  checkOpening,
  checkResidual,
  checkStop,
  checkTestAccuracy,
} from "./steps.mjs";
import { checkDifferences, checkTable2, checkTable3 } from "./tables.mjs";

test("Without WebGPU", async ({ lab, check, part }) => {
  const { page } = lab;

  await part("What computes", async () => {
    // All that the page shows is computed anew when the device is chosen.
    await lab.set("measured", 100);
    await lab.settled();
    const badge = await lab.text("#badge");
    check("the badge names the CPU and f64", /^CPU · .+ · f64$/.test(badge), badge);
    await page.selectOption("#backend", "webgpu");
    await page.waitForSelector(".message.notice");
    check("WebGPU is said to be unavailable", true, await lab.text(".message.notice"));
    check(
      "and the CPU goes on",
      (await page.inputValue("#backend")) === "cpu" && /^CPU/.test(await lab.text("#badge")),
    );
    await lab.settled();
  });

  await part("Estimates", () => checkEstimates(lab, check));

  await part("The slider", () => checkFollowing(lab, check));
});

test("A network of one's own, from training to a crash", async ({ browser, url, check, part }) => {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;

  // The checks are of the same kind on a fifth of the samples, and there are many.
  await lab.set("measured", 100);
  await lab.settled();

  await part("By keyboard: train, bend, check", async () => {
    await page.evaluate(() => {
      document.activeElement?.blur();
      window.scrollTo(0, 0);
    });
    await page.keyboard.press("Tab");
    await lab.tabTo("#train-button");
    check("the focus is visible", await focusIsVisible(page));
    await lab.train(() => page.keyboard.press("Enter"));
    await checkTestAccuracy(lab, check);
    await lab.waitForMeasure("hessian.trace", "trained");
    await lab.tabTo("#more summary");
    await page.keyboard.press("Enter");
    await lab.tabTo("#lambda-1");
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press("PageUp");
    // Between two presses a measure of the bend so far may be there already.
    await lab.looked();
    await checkBent(lab, check, "f64");
    await page.keyboard.press("Escape");
    await lab.tabTo(".tabs a[href='#/check']");
    await page.keyboard.press("Enter");
    await lab.tabTo("#check-button");
    await page.keyboard.press("Enter");
    await checkInvariance(lab, check);
    const row = () => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.closest("tr")?.rowIndex);
    const before = await row();
    await page.keyboard.press("ArrowDown");
    const after = await row();
    check("arrow keys move in the table", after === before + 1, `row ${before} to ${after}`);
  });

  await part("Measures by paper, the check as a heat map", async () => {
    await checkPapers(lab, check);
    await checkHeatMap(lab, check);
  });

  await part("Layers and neurons", async () => {
    await checkLayers(lab, check, { bent: true, tolerance: 1e-6 });
    await checkPixels(lab, check);
  });

  await part("The spectrum", async () => {
    await checkSpectrum(lab, check, { part: "layer_3", points: ["trained", "bent"] });
    await checkSpectrumStop(lab, check);
  });

  await part("Sharpening", async () => {
    await checkSharpen(lab, check, { precision: "f64", longest: 250 });
    await checkTooLarge(lab, check);
    await checkFigure5(lab, check);
    await checkSearch(lab, check);
  });

  await part("Looking", async () => {
    await checkLandscapes(lab, check, ["trained", "bent"]);
    await lab.goTo("landscape");
    await page.selectOption("#directions", "eigenvectors");
    await lab.looked();
    check("along Hessian eigenvectors too", (await lab.colours("#landscapes [data-point=trained] canvas")) > 20);
    await page.selectOption("#directions", "random");
    await page.selectOption("#normalization", "layer");
    await page.selectOption("#at-bent", "anew");
    await lab.looked();
    check("scaled anew by layer, both are the same", await sameLandscapes(page));
  });

  await part("Narrow, dark", async () => {
    for (const width of [360, 390, 768, 1024]) {
      await page.setViewportSize({ width, height: 800 });
      await page.waitForTimeout(200);
      const overflow = await lab.overflow();
      check(`nothing is wider than a window of ${width} px`, overflow <= 0, `${overflow} px`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await background();
    check("a dark system has a dark page", brightness(light) > 200 && brightness(dark) < 60, `${light}, ${dark}`);
    await page.click("#theme");
    check("the button makes it light", (await background()) === light);
    await page.click("#theme");
    await page.click("#theme");
    await page.emulateMedia({ colorScheme: "light" });
  });

  await part("Node-wise", () => checkNodewise(lab, check, "f64"));

  await part("The flattest bend", () => checkFlattest(lab, check));

  await part("Saving", async () => {
    await lab.goTo("keep");
    const result = JSON.parse(await lab.download("#save-result"));
    const keys = ["backend", "settings", "measures", "invariance", "landscape"];
    check(
      "the result is a JSON file with all its parts",
      keys.every((key) => result[key] !== null && key in result),
    );
    check("with every measure", result.measures.trained.length >= 15, `${result.measures.trained.length}`);
    const { sharpness, measures } = await page.evaluate(() => {
      const { sharpness, measures } = window.isoflatLab.app.store.state;
      return { sharpness, measures: measures.trained.get("hessian.spectral_norm").value };
    });
    await lab.dropFile("isoflat-result.json", JSON.stringify(result, null, 1));
    // What is on the stage has been trained here, and has no name.
    await page.locator("dialog.ask").getByText("Replace it").click();
    await page.waitForFunction(() => window.isoflatLab.app.store.state.task === "training");
    await lab.idle();
    const again = await page.evaluate(() => {
      const { sharpness, measures } = window.isoflatLab.app.store.state;
      return { sharpness, measures: measures.trained.get("hessian.spectral_norm").value };
    });
    check(
      "the page opens its own result: the same numbers again",
      again.measures === measures && again.sharpness.decades === sharpness.decades,
      `${again.measures}`,
    );
    const saved = JSON.parse(await lab.download("#save-problem"));
    check("the problem file has the parameters", saved.parameters.length === 784 * 64 + 64 + 64 * 32 + 32 + 330);
  });

  await part("A crash of the module", () => checkCrash(lab, check));

  await part("From a row of the papers", () => checkFromRow(lab, check));
});

test("What the papers have of networks of their own", async ({ lab, check, part }) => {
  await part("Feature robustness", () => checkNeighbours(lab, check));
  await part("Tables 2 and 3", async () => {
    checkDifferences(await checkTable2(lab, check), check, "Table 2");
    checkDifferences(await checkTable3(lab, check), check, "Table 3");
  });
});

test("Stop", ({ lab, check }) => checkStop(lab, check, 250));

test("Bad input", ({ lab, check, problem }) => checkBadInput(lab, check, problem));

test("Opening", async ({ lab, check, problem }) => {
  await checkOpening(lab, check, problem);
  await checkSpectrum(lab, check, { part: "all", points: ["trained"] });
  await checkConstructions(lab, check);
  await checkCoordinates(lab, check);
  await lab.goTo("keep");
  await lab.page.click("#save-report");
  const report = JSON.parse(await lab.download("#report-save"));
  await lab.page.click(".report-ways a");
  const finished = report.sections.filter((section) => section.finished);
  check("the full report has all its sections", finished.length === 10, finished.map((of) => of.section).join(", "));
  check("and their values", report.values.hessian.trace !== undefined && report.values.spaces !== undefined);
});

test("Random samples", async ({ lab, check }) => {
  const { page } = lab;
  await lab.goTo("train");
  await lab.set("data", "synthetic");
  await page.waitForFunction(() => /500 random/.test(document.querySelector("#model-summary")?.textContent ?? ""));
  await page.click("#untrained-button");
  await page.waitForSelector("#landscapes [data-point=trained] canvas");
  await lab.looked();
  const loss = await lab.measure("loss", "trained");
  // Ten classes at random: about log 10, more where the outputs are far apart.
  check("can be looked at without training", loss > 2 && loss < 4, `loss ${loss}`);
});

test("Networks", ({ lab, check }) => checkNetworks(lab, check));

test("A residual network", ({ lab, check }) => checkResidual(lab, check));

test("A convolutional network", ({ lab, check }) =>
  checkConvolution(lab, check, { samples: 300, measured: 20, bend: true }));

for (const [file, name] of [
  ["mnist", "the data"],
  ["*.wasm", "the engine"],
]) {
  test(`Where ${name} cannot be loaded`, ({ browser, url, check }) => checkMissing(browser, url, check, file, name));
}

/** The module is made anew, and what was trained is still there. */
async function checkCrash(lab, check) {
  const { page } = lab;
  const trained = await lab.measure("loss", "trained");
  // What begins there by itself says nothing, and takes nothing away.
  await lab.goTo("spaces");
  // At once: what the page tries out by itself where nothing runs may meet it first otherwise, and says nothing either.
  await page.evaluate(() => {
    void window.isoflatLab.crash();
    document.querySelector("#check-button").click();
  });
  await page.waitForSelector(".message.error");
  const said = await lab.text(".message.error");
  check("a crash is said, and what is kept", /started anew; the network and its weights are kept/.test(said), said);
  await lab.idle();
  await lab.goTo("check");
  await page.click("#check-button");
  await checkInvariance(lab, check);
  await lab.idle();
  const loss = await lab.measure("loss", "trained");
  check("the weights are what they were", loss !== undefined && loss === trained, `loss ${loss}, before ${trained}`);
  // The panic itself is printed, as it should be.
  lab.forgive(/crash\(\) was called/);
}

test("Written before there is a network", async ({ browser, little, check }) => {
  const context = await browser.newContext();
  let release;
  const isReleased = new Promise((resolve) => {
    release = resolve;
  });
  await context.route("**/arrival/**", async (route) => {
    await isReleased;
    await route.continue();
  });
  const lab = new Lab(await context.newPage());
  await lab.page.goto(little);
  await lab.set("epochs", 1);
  await lab.set("learning-rate", 0.03);
  // As it is while one writes: what was written last has not been taken yet.
  await lab.page.locator("#seed").pressSequentially("7");
  const written = () => lab.page.locator("#train-form :is(#epochs, #learning-rate, #seed)");
  const values = () => written().evaluateAll((fields) => fields.map(({ value }) => value).join());
  const before = await values();
  check("the network is on its way", await lab.page.evaluate(() => window.isoflatLab.app.store.state.model === null));
  release();
  await lab.page.waitForFunction(() => window.isoflatLab.app.store.state.training);
  check("what is in the fields stays when it comes", (await values()) === before, `${before}; ${await values()}`);
  await lab.page.click("#train-button");
  await lab.page.waitForFunction(() => window.isoflatLab.app.store.state.trainChoice?.epochs === 1);
  const { seed, learningRate } = await lab.page.evaluate(() => window.isoflatLab.app.store.state.trainChoice);
  check("and is what Train goes by", `0.03,1,${seed}` === before && learningRate === 0.03, `seed ${seed}`);
});

/** Opens the page while a file is not to be had, and tries again when it is. */
async function checkMissing(browser, url, check, file, name) {
  const context = await browser.newContext();
  const files = `**/${file}${file.includes(".") ? "" : "/**"}`;
  await context.route(files, (route) => route.abort());
  const lab = new Lab(await context.newPage());
  await lab.page.goto(url);
  await lab.page.waitForSelector(".message.error");
  check(`${name} cannot be loaded: the page says so`, true, await lab.text(".message.error"));
  await context.unroute(files);
  await lab.set("epochs", 1);
  await lab.page.click("#train-button");
  await lab.page.waitForFunction(() => window.isoflatLab.app.store.state.trainChoice?.epochs === 1);
  check("Train works when it is there again", (await lab.count(".message.error")) === 0);
  lab.forgive(/Failed to load resource/);
}

const focusIsVisible = (page) =>
  page.evaluate(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    return outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2;
  });

const brightness = (colour) => Math.max(...colour.match(/\d+/g).map(Number));

/** Directions that follow the weights' scale undo a layer-wise bend. */
const sameLandscapes = (page) =>
  page.evaluate(() => {
    const { trained, bent } = window.isoflatLab.app.store.state.surfaces;
    return trained.loss.every((loss, index) => Math.abs(loss - bent.loss[index]) <= 1e-9 * (1 + loss));
  });
