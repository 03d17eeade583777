/** The part on parameter spaces: the drawing, the check, the toy networks, the thesis' experiments cut short, the curvature. */

import { Lab } from "./lab.mjs";
import { checkMenus } from "./taken.mjs";

export async function checkSpaces(browser, url, check) {
  const lab = await Lab.open(browser, url, { permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = lab;
  await lab.goTo("spaces");
  await checkSkeleton(page, check);
  await checkRescaling(page, check);
  await checkToys(page, check);
  await checkExperiment(lab, check);
  await checkCurvature(page, check);
  await checkRescaled(lab, check);
  await checkMenus(lab, check, "[data-tab=spaces]");
  await checkRunsKept(lab, check);
  await checkStopping(lab, check);
  for (const width of [390, 320]) {
    await page.setViewportSize({ width, height: 800 });
    await page.waitForTimeout(200);
    const overflow = await lab.overflow();
    check(`the step is no wider than a window of ${width} px`, overflow <= 0, `${overflow} px`);
  }
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}

async function checkSkeleton(page, check) {
  const value = () => page.locator("#path-value").getAttribute("data-value").then(Number);
  const words = () => page.locator("#path-value").innerText();
  const [before, said] = [await value(), await words()];
  // The unit that the path drawn at first goes through.
  for (const unit of ["unit-1-2", "unit-2-0"]) await page.locator(`#${unit}`).click();
  check("a rescaled unit changes the weights on the path", (await words()) !== said, await words());
  check("and not the path's value", Math.abs((await value()) - before) < 1e-12, `${before}`);
  await page.locator("#edge-0-0-0").hover();
  const another = await value();
  check("another weight has another path", Math.abs(another - before) > 1e-6, `${another}`);
  await page.locator("#skeleton .target[tabindex='0']").focus();
  await page.keyboard.press("ArrowRight");
  check("so it has by keyboard", Math.abs((await value()) - another) > 1e-6);
}

async function checkRescaling(page, check) {
  await page.click("#rescaling-button");
  await page.waitForSelector("#rescaling tr[data-space]");
  const difference = (space) =>
    page.locator(`#rescaling tr[data-space=${space}]`).getAttribute("data-difference").then(Number);
  const [weights, fixed, paths] = [
    await difference("weights"),
    await difference("weight_fixing"),
    await difference("g_space"),
  ];
  check("G-SGD does not see a rescaled starting point", paths < 1e-10, `path values differ by ${paths}`);
  check("SGD and Fixed SGD do", weights > 1e-3 && fixed > 1e-3, `${weights}, ${fixed}`);
  check("the page says so", /As theory says/.test(await page.locator("#rescaling-verdict").innerText()));
  for (const [place, first] of [
    ["#rescaling-part .heading", "| method | path_values_moved |"],
    ["#skeleton caption", "| network | weights |"],
  ]) {
    await page.locator(`${place} button.take`).click();
    await page.getByRole("menuitem", { name: "Copy as Markdown" }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    check(`the table of ${place} is taken along`, text.startsWith(first), text.split("\n")[0]);
  }
}

async function checkToys(page, check) {
  const line = (place) => page.locator(`#toy-losses .series.space-${place} .line`).getAttribute("d");
  const before = { weights: await line("weights"), paths: await line("g_space") };
  await page.locator("#toy-along").fill("0.9");
  check("from another start on the same line SGD's losses change", (await line("weights")) !== before.weights);
  check("and the G-space's do not", (await line("g_space")) === before.paths);
  for (const name of ["Level curves", "One weight fixed", "One layer"]) {
    await page.getByText(name, { exact: true }).click();
    const drawn = await page.locator("#toy-map :is(.level, .mark)").count();
    check(`${name}: level bands and a way down`, drawn > 12, `${drawn}`);
  }
}

async function set(page, values) {
  const options = page.locator("#thesis details");
  if (!(await options.evaluate(({ open }) => open))) await options.locator("summary").click();
  for (const [key, value] of Object.entries(values)) {
    await page.fill(`#spaces-${key}`, String(value));
    await page.locator(`#spaces-${key}`).blur();
  }
}

const settled = (page, options) =>
  page.waitForFunction(() => document.querySelector("#spaces-stop").disabled, null, options);

async function checkExperiment(lab, check) {
  const { page } = lab;
  await page.locator("#thesis").scrollIntoViewIfNeeded();
  await page.waitForSelector("#spaces-estimate[data-seconds]");
  check("an estimate is there before the work", true, await page.locator("#spaces-estimate").innerText());
  await page.selectOption("#spaces-setting", "longer");
  const long = Number(await page.locator("#spaces-estimate").getAttribute("data-seconds"));
  await set(page, { images: 384, testImages: 100, epochs: 2 });
  const short = Number(await page.locator("#spaces-estimate").getAttribute("data-seconds"));
  check("that of the longer setting is far longer", long > 50 * short, `${Math.round(long)} s`);
  const unlike = await lab.text("#spaces-unlike");
  check(
    "how the setting differs from the thesis' own is said",
    /thesis has .*10.000 test images, 150 epochs and 10 runs.* this has .*100 test images, 2 epochs and 3 runs/.test(
      unlike,
    ),
    unlike,
  );
  const decided = () => lab.text("#spaces-decided");
  await set(page, { repeats: 2 });
  check("so is that two runs of each kind decide nothing", /No verdict without 3 runs/.test(await decided()));
  await set(page, { repeats: 3 });
  check("three do", !/No verdict/.test(await decided()), await decided());
  await page.fill("#spaces-seed", "7");
  await page.evaluate(() => {
    for (const id of ["low_high", "rates"]) document.querySelector(`input[name=experiment][value=${id}]`).click();
  });
  check("what is being written stays, whatever is drawn", (await page.inputValue("#spaces-seed")) === "7");
  for (const wrong of ["", "99999999", "1.5"]) {
    await set(page, { images: wrong });
    const field = page.locator("#spaces-images");
    const note = (await field.getAttribute("aria-describedby")) ?? "none";
    check(
      `“${wrong}” images are refused, and said to be`,
      (await field.getAttribute("aria-invalid")) === "true" && /training images/.test(await lab.text(`#${note}`)),
      note,
    );
  }
  check(
    "and the setting stays what it was",
    Number(await page.locator("#spaces-estimate").getAttribute("data-seconds")) === short,
  );
  await set(page, { images: 384, seed: 1 });
  check("mended, nothing is marked", (await lab.count("#thesis [aria-invalid]")) === 0);
  await lab.watchThread();
  await page.click("#spaces-run");
  await page.waitForFunction(() => document.querySelectorAll("#spaces-charts .line").length > 0);
  await settled(page);
  const { held, said } = await lab.longestTask();
  check("the page does not freeze meanwhile", held < 400, said);
  const marks = await page.locator("#spaces-charts figure:first-child .mark").count();
  check("the loss is drawn at five rates for six optimisers", marks === 30, `${marks} marks`);
  const bars = await page.locator("#spaces-charts figure:first-child .spread").count();
  check("with how far their runs lie apart, but where one diverged", bars >= 15 && bars <= 30, `${bars} bars`);
  const lines = await page.locator("#spaces-charts figure:nth-child(2) .line").count();
  check("and their curves", lines === 6, `${lines} lines`);
  const findings = await page.locator("#spaces-findings li").allInnerTexts();
  check(
    "each finding of the thesis has a verdict and our numbers",
    findings.length === 6 &&
      findings.every((text) => /^[✓✗?]\s+(agrees|differs|cannot say)/.test(text) && /Here: \S/.test(text)),
    findings[0]?.replaceAll("\n", " "),
  );
  await page.getByText("Set to one, or kept", { exact: true }).click();
  check(
    "what was run before is not run again",
    /30 more runs/.test(await page.locator("#spaces-estimate").innerText()),
  );
}

/** Most of these explode at once: they are drawn as lost, and nothing is taken of where they ended. */
async function checkRescaled(lab, check) {
  const { page } = lab;
  const curvatureOf = async () => (await lab.text("#curvature-part [role=status]")).split(". That")[0];
  const before = await curvatureOf();
  await page.getByText("Rescaled to ±1", { exact: true }).click();
  const estimate = await lab.text("#spaces-estimate");
  check("SGD's runs are the other experiments' too", /45 more runs/.test(estimate), estimate);
  await page.click("#spaces-run");
  await page.waitForFunction(() => document.querySelector("#spaces-run").textContent === "Done");
  const lost = await lab.count("#spaces-left .space-weight_fixing .mark.cross");
  check("rescaled plainly, none of the five rates has a loss", lost === 5, `${lost} lost`);
  const keys = await page
    .locator("#spaces-charts .legend .key-drawing")
    .evaluateAll((drawings) => drawings.map(({ outerHTML }) => outerHTML));
  check("its four methods are told apart", keys.length === 4 && new Set(keys).size === 4);
  const findings = await page.locator("#spaces-findings li").allInnerTexts();
  check(
    "that training is unstable is decided by explosions",
    findings.length === 2 && /agrees[\s\S]*explodes at 5 of 5 rates and SGD at 0/.test(findings[0] ?? ""),
    findings[0]?.replaceAll("\n", " "),
  );
  const after = await curvatureOf();
  check("the curvature is still that of a run that began with ones on the skeleton", after === before, after);
}

/** Runs that have come to their end: a reload has them, and a field that is changed asks before it takes them. */
async function checkRunsKept(lab, check) {
  const { page } = lab;
  const findings = () => page.locator("#spaces-findings li").allInnerTexts();
  await page.getByText("Learning rates", { exact: true }).click();
  const before = await findings();
  await page.reload();
  await page.waitForSelector("#badge:not([data-state=starting])");
  await page.waitForFunction(() => document.querySelector("#spaces-run")?.textContent === "Done");
  check("a reload has the runs and what came of them", (await findings()).join() === before.join(), before[0]);
  check("at their setting", (await page.inputValue("#spaces-images")) === "384");
  check("the weights are not kept, and that is said", /were not/.test(await lab.text("#curvature-part [role=status]")));
  check("and not asked for", await page.locator("#curvature-button").isDisabled());
  const question = page.locator("dialog.ask");
  await set(page, { epochs: 3 });
  await question.waitFor();
  check("a field that is changed asks first", /135 runs/.test(await question.innerText()), await question.innerText());
  await question.getByText("Keep them").click();
  await question.waitFor({ state: "detached" });
  check(
    "and goes back",
    (await page.inputValue("#spaces-epochs")) === "2" && (await findings()).join() === before.join(),
  );
  await lab.idle();
  await page.waitForFunction(() => location.hash.includes("spaces=rates-384-100-64-2-1-3"));
  await page.selectOption("#spaces-setting", "quick");
  await question.getByText("Keep them").click();
  await page.waitForFunction(() => document.querySelector("#spaces-setting").value === "own");
  check("so does the setting", true);
}

async function checkCurvature(page, check) {
  const before = await page.locator("#curvature-part [role=status]").innerText();
  check("how long the curvature takes is said before", /That takes (about \d|less)/.test(before), before);
  await page.click("#curvature-button");
  await page.waitForSelector("#curvature tr[data-place=g_space][data-change]");
  const change = (place) => page.locator(`#curvature tr[data-place=${place}]`).getAttribute("data-change").then(Number);
  const [weights, paths] = [await change("weights"), await change("g_space")];
  check("the curvature in the G-space does not see a rescaling", Math.abs(paths - 1) < 1e-4, `ratio ${paths}`);
  check("that in the weights does", Math.abs(weights - 1) > 0.01, `ratio ${weights}`);
}

async function checkStopping(lab, check) {
  const { page } = lab;
  await page.getByText("Rate × fixed value", { exact: true }).click();
  await set(page, { images: 640 });
  await page.locator("dialog.ask").getByText("Begin anew").click();
  await set(page, { epochs: 1000 });
  await page.click("#spaces-run");
  // At the highest rate runs may diverge before they have a loss: of these the worker tells when all are at their end.
  await page.waitForFunction(() => document.querySelectorAll("#spaces-grid td[data-loss]").length >= 24);
  // In one go: the table is drawn anew with each result, and cells that are asked one by one may have left it.
  const filled = () =>
    page.evaluate(() => {
      const cells = document.querySelectorAll("#spaces-grid td[data-loss]");
      return Array.from(cells, (cell) => cell.cellIndex + 10 * cell.parentElement.rowIndex);
    });
  const before = await filled();
  const start = performance.now();
  await page.click("#spaces-stop");
  await settled(page, { timeout: 20_000 });
  const seconds = (performance.now() - start) / 1000;
  // How many of the others have a loss by then, a computer's pace decides.
  const after = await filled();
  const stays = before.every((cell) => after.includes(cell)) && after.length <= 30;
  check("Stop works, and what is there stays", seconds < 5 && stays, `${seconds.toFixed(1)} s, ${after.length} cells`);
  const waiting = await page.locator("#spaces-findings li[data-verdict=waiting]").count();
  check("nothing is decided by half an experiment", waiting === 2);
}
