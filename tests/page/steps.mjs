/** Checks that both runs make. */

const HESSIAN = "hessian.spectral_norm";
const LAYERWISE = "riemannian.layerwise_flat.spectral_norm";
const NODEWISE = "riemannian.nodewise_flat.spectral_norm";

/** How far an invariant measure may move: rounding over one Lanczos run. */
export const TOLERANCE = { f64: 1e-9, f32: 1e-4 };

export async function checkTestAccuracy(lab, check) {
  const accuracy = Number(await lab.page.locator("#r-validation").getAttribute("data-value"));
  check("the test accuracy is above 95 %", accuracy > 0.95, `${(100 * accuracy).toFixed(1)} %`);
}

export async function checkLandscapes(lab, check, points) {
  const { page } = lab;
  for (const point of points) {
    await page.waitForSelector(`#landscapes [data-point=${point}] canvas`, { timeout: 180_000 });
    // It is drawn from its first rows on.
    await page.waitForFunction((point) => window.isoflatLab.app.store.state.surfaces[point] !== undefined, point);
    const colours = await lab.colours(`#landscapes [data-point=${point}] canvas`);
    check(`the ${point} surface is drawn`, colours > 20, `${colours} colours`);
  }
  await lab.goTo("landscape");
  await page.getByText("Contour", { exact: true }).click();
  for (const point of points) {
    await page.waitForSelector(`#landscapes [data-point=${point}] path.level >> nth=2`, { state: "attached" });
    const levels = await lab.count(`#landscapes [data-point=${point}] path.level`);
    const labels = await lab.count(`#landscapes [data-point=${point}] .level-labels text`);
    const marks = await lab.count(`#landscapes [data-point=${point}] :is(.lowest, .weights)`);
    check(`the ${point} contour map has labelled levels and marks`, levels >= 3 && labels >= 3 && marks === 2);
  }
  await page.getByText("Line", { exact: true }).click();
  await page.waitForSelector("#landscapes .plot .curve");
  check("the line is drawn", (await lab.colours("#landscapes .plot")) > 4);
  await page.getByText("Surface", { exact: true }).click();
}

/** After a slider has been moved: same outputs, another Hessian, the same Riemannian norm. */
export async function checkBent(lab, check, precision) {
  const tolerance = TOLERANCE[precision];
  const lambdas = await lab.page.locator("#lambdas input").evaluateAll((sliders) => sliders.map(({ value }) => +value));
  const sum = lambdas.reduce((a, b) => a + b, 0);
  check("the factors' product stays 1", Math.abs(sum) < 0.02 && lambdas.some((log) => Math.abs(log) > 0.5));
  const difference = await changeOf(lab, HESSIAN);
  const still = await changeOf(lab, LAYERWISE);
  const outputs = Number(await lab.page.locator("#same").getAttribute("data-value"));
  check("the outputs are the same", outputs < (precision === "f64" ? 1e-10 : 1e-3), `differ by ${outputs}`);
  check("the Hessian's spectral norm moves more than twofold", difference.ratio > 2 || difference.ratio < 0.5);
  check("the layer-wise Riemannian norm stands still", still.change < tolerance, `relative change ${still.change}`);
  await lab.page.waitForFunction(() => window.isoflatLab.app.store.state.accuracy.bent !== undefined);
  check(
    "the gauges say so: one swings, two stand",
    (await lab.verdict("swings")) === "moves" &&
      (await lab.verdict("stands")) === "still" &&
      (await lab.verdict("accuracy")) === "still",
    (await lab.text("#gauges")).replaceAll("\n", " "),
  );
  const differing = await lab.count("#digits figcaption[data-same=false]");
  const bars = await lab.count("#digits rect.bent");
  check("every digit gets the answer that it got before", differing === 0 && bars === 100, `${bars} bars`);
}

/** Node-wise factors and a permutation on top. */
export async function checkNodewise(lab, check, precision) {
  const { page } = lab;
  await lab.more();
  await page.getByLabel("every hidden unit by its own random factor").check();
  await page.getByLabel("hidden units in another order").check();
  await lab.waitForMeasure(NODEWISE, "bent");
  const { change } = await changeOf(lab, NODEWISE);
  const moved = await changeOf(lab, LAYERWISE);
  check("under node-wise factors the node-wise norm stands still", change < TOLERANCE[precision], `${change}`);
  check("and the layer-wise one does not", moved.change > 0.01);
  const before = await lab.measure(HESSIAN, "bent");
  await page.click("#nodewise-draw");
  // Not by the state between: a quick bend is over before one looks.
  const isAnother = ([key, before]) => {
    const value = document.querySelector(`tr[data-key="${key}"] td[data-of=bent]`)?.dataset.value;
    return value !== undefined && Number(value) !== before;
  };
  await page.waitForFunction(isAnother, [HESSIAN, before]);
  check("other factors can be drawn", (await lab.measure(HESSIAN, "bent")) !== before);
  await lab.more(false);
  await page.click("#bend-reset");
  check("Reset puts the weights back", /not bent/i.test(await lab.text("#same")));
}

/** The button puts the twin where rescaling of the layers leaves the least trace, and says so until the twin moves on. */
export async function checkFlattest(lab, check) {
  const { page } = lab;
  await lab.more();
  const note = () => lab.text("#flattest-note");
  await page.click("#flattest");
  await page.waitForFunction(() => /→|as they are/.test(document.querySelector("#flattest-note").textContent));
  const said = await note();
  const [before, after, least] = await Promise.all([
    lab.waitForMeasure("hessian.trace", "trained"),
    lab.waitForMeasure("hessian.trace", "bent"),
    lab.waitForMeasure("least_trace.layerwise", "trained"),
  ]);
  check(
    "the flattest bend has the least trace of all rescalings of the layers",
    after < before && Math.abs(after / least - 1) < 1e-5,
    `${before} → ${after}, least ${least}`,
  );
  check("which is said with its traces", /no rescaling of layers has less/.test(said), said);
  await lab.more(false);
  await page.click("#bend-reset");
  await page.waitForFunction(() => !document.querySelector("#flattest-note").textContent.includes("→"));
  check("and no longer when the twin has gone", !(await note()).includes("→"));
}

async function changeOf(lab, key) {
  const before = await lab.waitForMeasure(key, "trained");
  const after = await lab.waitForMeasure(key, "bent");
  return { ratio: after / before, change: Math.abs(after - before) / Math.abs(before) };
}

export async function checkInvariance(lab, check) {
  const { page } = lab;
  // The table is there before its cells are.
  await page.waitForSelector("#invariance-summary[data-agrees]", { timeout: 240_000 });
  const cells = await lab.count(".invariance td button");
  const against = await lab.count(".invariance td button[data-agrees=false]");
  check("all verdicts of the invariance table are as theory says", cells >= 60 && against === 0, `${cells} cells`);
  check("and the page says so", /All \d+ verdicts are as theory says/.test(await lab.text("#invariance-summary")));
  await page.locator(".invariance td button").nth(5).click();
  check("a cell tells its numbers and its tolerance", /before.*after.*tolerance/s.test(await lab.text("#cell-detail")));
}

/** A second training run, to be stopped; `longest`: for how long the page's thread may be held at a time, in ms. */
export async function checkStop(lab, check, longest) {
  const { page } = lab;
  await lab.set("epochs", 500);
  await lab.watchThread();
  await page.click("#train-button");
  await lab.replace();
  await page.waitForFunction(() => Number(document.querySelector("#r-epoch")?.textContent?.split("/")[1]) === 500);
  await page.waitForTimeout(1500);
  const start = performance.now();
  await page.click("#stop-button");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.task === "idle");
  const seconds = (performance.now() - start) / 1000;
  const { held, said } = await lab.longestTask();
  check("Stop stops within 2 s", seconds < 2, `${seconds.toFixed(2)} s`);
  check("the page stays responsive while it trains", held < longest, said);
  check("what was reached is kept", /stopped/.test(await lab.text("#r-epoch")));
  await lab.set("epochs", 8);
}

/** Bad input gives an error in words, and the page goes on. */
export async function checkBadInput(lab, check, problem) {
  const { page } = lab;
  const change = (body) => {
    const copy = JSON.parse(problem);
    body(copy);
    return JSON.stringify(copy);
  };
  const files = {
    "malformed JSON": problem.slice(0, 200),
    "not a problem": "[1, 2, 3]",
    "NaN in the parameters": problem.replace(/"parameters": \[[^,]+/, '"parameters": [NaN'),
    "an infinite input": problem.replace(/"inputs": \[\[[^,]+/, '"inputs": [[1e999'),
    "too few parameters": change((copy) => copy.parameters.pop()),
    "a label out of range": change((copy) => {
      copy.targets[0] = 99;
    }),
    "no samples": change((copy) => {
      copy.inputs = [];
      copy.targets = [];
    }),
  };
  for (const [name, text] of Object.entries(files)) {
    await lab.chooseFile("bad.json", text);
    await page.waitForSelector(".message.error");
    const said = await lab.text(".message.error strong");
    check(`${name}: the page says what is wrong`, said.length > 10, said);
    await page.getByRole("button", { name: "Dismiss" }).click();
  }
  await lab.set("network", "widths");
  await lab.set("widths", "784-100000-100000-10");
  await page.waitForSelector(".message.error[data-code=too_large]");
  check("10 billion parameters are refused", true, await lab.text(".message.error strong"));
  await lab.set("widths", "784-30000-30000-10");
  await page.getByText(/MiB\) are needed, but a WebAssembly module has/).waitFor();
  check("so is a network that memory does not hold", true, await lab.text(".message.error strong"));
  await lab.set("widths", "784-abc");
  await page.waitForSelector(".message.error[data-code=invalid_network]");
  check("widths that are none are refused", true, await lab.text(".message.error strong"));
  await lab.set("network", "small");
  await lab.idle();
  check("the page goes on", (await lab.count(".message.error")) === 0);
}

export async function checkOpening(lab, check, problem) {
  await lab.dropFile("dropped.json", problem);
  await lab.page.waitForFunction(() => /7-6-4-3/.test(document.querySelector("#model-summary")?.textContent ?? ""));
  await lab.idle();
  check("a dropped problem file is measured at once", (await lab.waitForMeasure("hessian.trace", "trained")) > 0);
  await lab.goTo("train");
  await lab.page.click("#close-file");
  await lab.page.waitForFunction(() => /MNIST/.test(document.querySelector("#model-summary")?.textContent ?? ""));
  await lab.idle();
  await lab.chooseFile("mlp_bias.json", problem);
  await lab.page.waitForFunction(() => /7-6-4-3/.test(document.querySelector("#model-summary")?.textContent ?? ""));
  await lab.idle();
  const { expected } = JSON.parse(problem);
  const loss = await lab.waitForMeasure("loss", "trained");
  check("one opened by the button has its loss", Math.abs(loss / expected.loss - 1) < 1e-5, `${loss}`);
}

async function setMeasured(lab, samples) {
  await lab.set("measured", samples);
  await lab.measuring(samples);
}

export async function checkEstimates(lab, check) {
  // What was tried out while the page began is tried out again when nothing runs, and says something else then: what is still to be
  // computed, for minutes on a software GPU, is not waited for.
  await lab.rest();
  await lab.page.waitForFunction(() => window.isoflatLab.app.store.state.costs?.isBeside === false);
  const works = ["train", "look", "measures", "check", "report", "table2", "table3", "boxes", "ball"];
  const said = [];
  for (const work of works) said.push((await lab.estimate(work)).text);
  const inWords = /take.* (less than a second|about \d+ (s|min|hours?|days)) and .+ [MG]B of memory/;
  check(
    "time and memory are said before the work",
    said.every((text) => inWords.test(text)),
    said.join(" "),
  );
  const before = await lab.estimate("train");
  // It takes a minute. What must not be in it is the time in which pipelines are compiled, for every 16 samples again.
  check("the default training is said to take minutes", before.seconds < 1800, before.text);
  const epochs = await lab.page.inputValue("#epochs");
  await lab.set("epochs", 10_000);
  const long = await lab.estimate("train");
  check(
    "many epochs take longer, and the page advises fewer",
    long.seconds > before.seconds && /fewer/.test(long.text),
  );
  await lab.set("epochs", epochs);
  check("the advice goes when it is followed", (await lab.estimate("train")).text === before.text);

  const measured = Number(await lab.page.inputValue("#measured"));
  const all = await lab.estimate("measures");
  await setMeasured(lab, measured / 10);
  const few = await lab.estimate("measures");
  const times = all.seconds / few.seconds;
  check("a tenth of the samples takes less, a tenth at best", times > 1 && times < 10 + 1e-6, `÷ ${times.toFixed(1)}`);
  await setMeasured(lab, measured);
}

/** Offered in groups; those that the digits do not fit get random samples. None of them gives an error. */
export async function checkNetworks(lab, check) {
  const { page } = lab;
  const groups = await page
    .locator("#network optgroup")
    .evaluateAll((groups) => groups.map(({ label, children }) => [label, [...children].map(({ value }) => value)]));
  const names = groups.flatMap(([, values]) => values);
  check(
    "the networks are offered in groups",
    groups.map(([label]) => label).join() === "Fully connected,Convolutional,Residual and separable" &&
      names.length === 20,
    `${names.length} networks`,
  );
  const layers = () => page.locator("#lambdas label").allInnerTexts();
  const chosen = (name) =>
    page.waitForFunction((name) => window.isoflatLab.app.store.state.modelChoice?.network.name === name, name);

  await lab.set("network", "small");
  await lab.set("data", "mnist");
  await lab.idle();
  await lab.set("network", "lenet5");
  await chosen("lenet5");
  const note = await lab.text("#data-note");
  check("a network over colour images gets random samples, and the page says why", /random samples/.test(note), note);
  check(
    "digits cannot be chosen for it",
    (await page.inputValue("#data")) === "synthetic" && (await page.locator("#data option[disabled]").count()) === 1,
  );
  check("its samples are random ones", /random samples/.test(await lab.text("#model-summary")));
  await lab.idle();

  await lab.set("network", "widths");
  await lab.set("widths", "12-8-3");
  await page.waitForFunction(() => /12-8-3/.test(document.querySelector("#model-summary")?.textContent ?? ""));
  check("so do widths that digits do not fit", /12 values/.test(await lab.text("#data-note")));

  await lab.set("network", "c1");
  await chosen("c1");
  check(
    "one that digits fit gets them back",
    (await page.inputValue("#data")) === "mnist" && (await lab.count("#data-note:visible")) === 0,
  );
  await lab.more();
  const texts = (await layers()).map((text) => text.replace(/\s+/g, " "));
  check(
    "layers are named as what they are",
    /conv 5×5, 1 → 10 channels/.test(texts[0]) &&
      /conv 5×5, 10 → 20 channels/.test(texts[1]) &&
      /320 → 120/.test(texts[2]),
    texts.slice(0, 3).join("; "),
  );
  await lab.more(false);
  await lab.idle();
  check("nothing of this was an error", (await lab.count(".message.error")) === 0);
}

/** A residual network: its sliders are of what sums tie together, and bending it leaves the outputs. */
export async function checkResidual(lab, check) {
  const { page } = lab;
  await lab.set("network", "resnet8");
  await lab.set("samples", 200);
  await lab.set("measured", 8);
  await lab.set("epochs", 1);
  await lab.train();
  await lab.more();
  const labels = (await page.locator("#lambdas label").allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
  const tied = labels.findIndex((text) => /behind W\d+ W\d+/.test(text));
  check("a slider is of all layers whose results are added", tied >= 0 && labels.length === 11, labels[tied]);
  await page.locator(`#lambda-${tied + 1}`).evaluate((slider) => {
    slider.value = "1";
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await page.waitForSelector("#same[data-state=same]", { timeout: 120_000 });
  check(
    "bent, it is the same function",
    /Same function/.test(await lab.text("#same-text")),
    await lab.text("#same-text"),
  );
  await lab.more(false);
  await page.click("#bend-reset");
  await page.waitForSelector("#same[data-state=none]");
  // What is left to look at takes longer than all that was asked here.
  const stop = page.locator("#status-stop:visible");
  if ((await stop.count()) > 0) await stop.click();
  await lab.idle();
}

/** A small C1: trained, watched while its landscape grows row by row, stopped half way, gone on with; with `bend`, bent too. */
export async function checkConvolution(lab, check, { samples, measured, bend }) {
  const { page } = lab;
  await lab.set("network", "c1");
  await lab.set("samples", samples);
  await setMeasured(lab, measured);
  await lab.set("epochs", 1);
  // A surface of what has not been trained would grow too.
  await lab.rest();
  const { points } = await page.evaluate(() => {
    const { app } = window.isoflatLab;
    // Every state that is shown is noted, and half way Stop is pressed, by whoever watches.
    const seen = { rows: [], stopped: false, points: app.store.state.landscapeChoice.points };
    window.seenRows = seen;
    app.store.watch(["growing"], () => {
      const { s, loss } = app.store.state.growing.trained ?? { s: [1], loss: [] };
      seen.rows.push(loss.length / s.length);
      if (seen.stopped || seen.rows.at(-1) < 3) return;
      seen.stopped = true;
      document.querySelector("#status-stop").click();
    });
    return seen;
  });
  await page.click("#train-button");
  await lab.replace();
  await page.waitForFunction(() => window.seenRows.stopped, null, { timeout: 240_000 });
  await lab.idle();
  const { rows, kept } = await page.evaluate(() => {
    const { growing, surfaces } = window.isoflatLab.app.store.state;
    const { s, loss } = growing.trained ?? { s: [1], loss: [] };
    return { rows: window.seenRows.rows, kept: surfaces.trained ? -1 : loss.length / s.length };
  });
  const whole = rows.every((count, index) => Number.isInteger(count) && (index === 0 || count >= rows[index - 1]));
  check("the landscape comes row by row", whole && rows.some((count) => count > 0 && count < points), rows.join(" "));
  check("stopped half way, its rows stay", kept >= 3 && kept < points, `${kept} of ${points} rows`);
  await page.waitForSelector(`#landscapes [data-point=trained] canvas[data-rows="${kept}"]`);
  check("and are drawn", (await lab.colours("#landscapes [data-point=trained] canvas")) > 20);
  check(
    "the page says how many there are",
    (await lab.text("#landscapes [data-point=trained] .range")).includes(`${kept} of ${points} rows`),
  );
  await lab.goTo("landscape");
  await page.getByText("Contour", { exact: true }).click();
  // An element draws at the next frame.
  await page.waitForSelector("#landscapes [data-point=trained] svg[data-rows]");
  check(
    "the contour map has them too",
    (await lab.count(`#landscapes [data-point=trained] svg[data-rows="${kept}"] path.level`)) > 0,
  );
  await page.getByText("Surface", { exact: true }).click();

  await lab.goTo("train");
  await page.click("#untrained-button");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.surfaces.trained, null, { timeout: 240_000 });
  await page.waitForSelector(`#landscapes [data-point=trained] canvas[data-rows="${points}"]`);
  check("going on makes it whole", !/ rows/.test(await lab.text("#landscapes [data-point=trained] .range")));
  if (bend) await checkBentConvolution(lab, check);
  await lab.rest();
  const { training } = await page.evaluate(() => window.isoflatLab.app.store.state);
  await setMeasured(lab, measured / 2);
  const after = await page.evaluate(() => window.isoflatLab.app.store.state.training);
  check("measuring on fewer samples keeps what was learnt", after !== null && after.loss === training.loss);
  await lab.set("network", "small");
  await lab.idle();
}

async function checkBentConvolution(lab, check) {
  await lab.waitForMeasure("hessian.spectral_norm", "trained");
  await lab.drag("#lambda-1", 5 / 6);
  const hessian = await changeOf(lab, HESSIAN);
  const still = await changeOf(lab, LAYERWISE);
  check(
    "a convolution bends as a dense layer does",
    (hessian.ratio > 2 || hessian.ratio < 0.5) && still.change < 1e-3,
    `Hessian × ${hessian.ratio.toPrecision(3)}, layer-wise norm moves by ${still.change.toPrecision(2)}`,
  );
}
