/** The papers, run again: rows and drawings from what is stored, without an engine; and the ways from a row to where it runs. */

import { readFileSync } from "node:fs";
import { Lab } from "./lab.mjs";

const text = (name) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
const README = text("papers/README.md");
const PETZKA = JSON.parse(text("results/petzka-mnist.json"));
const correlation = (of) => PETZKA.correlations.find(({ measure }) => measure === of);

const LIVE = readFileSync(new URL("../../www/src/gallery/live.ts", import.meta.url), "utf8");
const [, LIST = ""] = /const DRAWINGS[^{]*\{([^}]*)\}/.exec(LIVE) ?? [];
/** The rows with a drawing of stored results. */
const DRAWN = [...LIST.matchAll(/"([\w-]+)":/g)].map(([, row]) => row);

/** Its drawing is there. */
export async function openRow(page, id) {
  const details = page.locator(`#${id} details`);
  if (!(await details.evaluate(({ open }) => open))) await details.locator("summary").press("Enter");
  await page.waitForSelector(`#${id} svg.plot`);
}

/** One row of each kind of drawing. */
export async function openRows(page) {
  for (const row of [
    "rangamani-table-2",
    "rangamani-table-4-mnist",
    "rangamani-figure-1",
    "rangamani-figure-2",
    "petzka-figures-3-to-6",
    "dinh-figures-1-to-6",
    "jestadt-figures-1-5-1-6-4-8-4-9",
    "jestadt-figures-4-1-4-2-4-4-4-5-4-10",
    "jestadt-figures-4-6-and-4-7",
  ])
    await openRow(page, row);
}

/** No engine can be had: what is seen is what is stored. */
export async function checkGallery(browser, url, check) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
    serviceWorkers: "block",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await context.route("**/*.wasm", (route) => route.abort());
  const lab = new Lab(await context.newPage());
  const { page } = lab;
  await page.goto(`${url}#/papers`);
  await page.waitForSelector("#gallery .run-again");
  const tables = README.replaceAll(/^### .*?(?=^## |$(?![\s\S]))/gms, "")
    .split("\n")
    .filter((line) => /^\| [A-Z]/.test(line)).length;
  const rows = await lab.count("#gallery .run-again");
  check("every row of docs/papers is there without an engine", rows > 12 && rows === tables, `${rows} of ${tables}`);
  await openRow(page, "rangamani-table-2");
  const marks = await page
    .locator("#rangamani-table-2 .named-row")
    .evaluateAll((rows) => rows.map(({ dataset }) => Number(dataset.marks)));
  // Twenty seeds in two precisions, with their medians, and the paper's number twice.
  check("a row opens its drawing: every seed of Table 2", marks.join() === "44,44", marks.join());
  await openRow(page, "petzka-figure-2-rescaling");
  const plot = page.locator("#petzka-figure-2-rescaling figure").first();
  const said = () => plot.locator(".note").innerText();
  const rescaled = await said();
  await plot.getByText("as trained").click();
  await page.waitForFunction(
    (before) => document.querySelector("#petzka-figure-2-rescaling figure .note").innerText !== before,
    rescaled,
  );
  const trained = await said();
  const begins = (words, { value }) => words.startsWith(`r = ${value.toPrecision(2)} (`);
  const { pearson, rescaled: after } = correlation("hessian.max_eigenvalue");
  check(
    "Petzka’s measures before and after the rescaling",
    begins(trained, pearson) && begins(rescaled, after.pearson),
    `${trained}; ${rescaled}`,
  );
  const sum = correlation("petzka.kappa_trace_sum");
  await plot.locator("select").selectOption(sum.measure);
  check("of any measure", begins(await said(), sum.pearson), await said());
  check("with a point for each run that is kept", (await plot.locator(".plot path.mark").count()) === sum.runs);
  const copy = page.locator("#rangamani-table-2").getByRole("button", { name: "Copy" });
  await copy.click();
  await page.locator("#rangamani-table-2").getByText("Copied").waitFor();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  check("its command can be copied", command.startsWith("cargo run --release --example tables"), command);
  for (const row of DRAWN) await openRow(page, row);
  check("every row with stored results draws them", DRAWN.length > 12, `${DRAWN.length} rows`);
  // That there is none was said, as it should be.
  lab.forgive(/ERR_FAILED|wasm|fetch/i);
  await context.close();
}

/** Rangamani's minima to their ends. */
export async function checkQuickMinima(browser, url, check) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 900 }, reducedMotion: "reduce" });
  const lab = new Lab(await context.newPage());
  const { page } = lab;
  await page.goto(`${url}#/papers`);
  const drawn = async (id) => {
    await page.locator(`#${id} .quick-begin`).click();
    const plot = page.locator(`#${id} .run-quick svg.plot`).first();
    await plot.waitFor();
    return plot.getAttribute("aria-label");
  };
  const numbers = (text) =>
    [...text.matchAll(/batches of (\d+) ([\d.e×⁻⁰¹²³⁴⁵⁶⁷⁸⁹ ]+),/g)].map(([, , norm]) => numberOf(norm));
  const norms = await drawn("rangamani-table-4-mnist-as-the-authors-program-trains");
  const [small, large, lenetSmall, lenetLarge] = numbers(norms);
  // At one rate the small batches take twenty times the steps, and are that much further.
  check("after as many epochs small batches end flatter", 10 * small < large && 10 * lenetSmall < lenetLarge, norms);
  const lines = await drawn("rangamani-figure-2");
  check("lines through minima of both sizes", /batches of 25, .*batches of 500, /.test(lines), lines);
  const curves = await page.locator("#rangamani-figure-2 .run-quick figure").first().locator(".plot path.line").count();
  check("four directions through each", curves === 8, `${curves}`);
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await context.close();
}

/** `4.6 × 10³` too. */
function numberOf(text) {
  const [digits, exponent = ""] = text.split("× 10");
  const power = [...exponent.trim()].map((each) => (each === "⁻" ? "-" : "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(each))).join("");
  return Number(digits) * 10 ** Number(power || 0);
}

/** Begun, stopped, gone on with; run to its end; and there again after a reload. */
export async function checkQuick(browser, url, check) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 900 }, reducedMotion: "reduce" });
  const lab = new Lab(await context.newPage());
  const { page } = lab;
  await page.goto(`${url}#/papers`);
  const row = (id) => page.locator(`#${id} .run-quick`);
  const begin = (id) => row(id).locator(".quick-begin").click();
  const says = (id, text) => row(id).locator(".note", { hasText: text }).first().waitFor();
  const [table, rescaling] = ["rangamani-table-4-mnist", "petzka-figure-2-rescaling"];
  await begin(table);
  await says(table, "Training 784-512×5-10, batches of 25");
  check("while one runs no other can be begun", await row(rescaling).locator(".quick-begin").isDisabled());
  await says(table, "Spectral norms of 784-512×5-10, batches of 25");
  const focused = () => page.evaluate(() => document.activeElement.className);
  check("the focus goes from the one button to the other", (await focused()) === "quick-stop", await focused());
  await row(table).locator(".quick-stop").click();
  await row(table).getByRole("button", { name: "Go on" }).waitFor();
  check("and back", (await focused()) === "quick-begin", await focused());
  check("what was stopped can be gone on with", (await lab.count(`#${table} .run-quick svg.plot`)) === 0);
  await begin(table);
  const first = await row(table)
    .locator(".note", { hasText: /Training|Spectral/ })
    .first()
    .innerText();
  check("and nothing is done twice", first.startsWith("Spectral norms"), first);
  await row(table).locator(".quick-stop").click();
  await row(table).getByRole("button", { name: "Go on" }).waitFor();
  await begin(rescaling);
  await row(rescaling).locator("svg.plot").first().waitFor();
  const figure = row(rescaling).locator("figure").first();
  const words = figure.locator(".note");
  const after = await words.innerText();
  await figure.getByText("as trained").click();
  await page.waitForFunction(([node, before]) => node.innerText !== before, [await words.elementHandle(), after]);
  const r = (text) => Number(/r = (\S+)/.exec(text)?.[1].replace("−", "-"));
  const trained = await words.innerText();
  check("a bare eigenvalue loses what it said of the gap", r(trained) - r(after) > 0.3, `${trained}; ${after}`);
  await figure.locator("select").selectOption("petzka.rho_sum");
  await figure.locator("svg.plot[aria-label*='ρ, sum against']").waitFor();
  const rho = r(await words.innerText());
  await figure.getByText("rescaled").click();
  await figure.locator("svg.plot[aria-label*='ρ, sum after the rescaling']").waitFor();
  check("an invariant measure does not", r(await words.innerText()) === rho && rho > 0.4, `${rho}`);
  const points = await figure.locator(".plot path.mark").count();
  check("a point a network", points > 8 && points <= 12, `${points}`);
  for (const id of ["petzka-figures-3-to-6", "petzka-figures-1-and-2"])
    check(`it is there in ${id} too`, (await lab.count(`#${id} .run-quick svg.plot`)) > 0);
  await page.reload();
  await row(rescaling).locator("svg.plot").first().waitFor();
  check("and after a reload", (await row(rescaling).locator(".quick-begin").count()) === 0);
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await context.close();
}

/** From a row to where it runs, at its quick setting; the network on the stage is one's own, and stays. */
export async function checkFromRow(lab, check) {
  const { page } = lab;
  const stamp = () => page.evaluate(() => window.isoflatLab.app.store.state.stamp);
  const before = await stamp();
  await lab.goTo("papers");
  await page.locator("#jestadt-figures-4-6-and-4-7").getByRole("link", { name: "Figure 4.7" }).click();
  await page.waitForSelector("#spaces:not([hidden]) input[value=grid]:checked", { state: "attached" });
  const images = await page.locator("#spaces-images").inputValue();
  check("from a row one comes to where it runs, at its quick setting", images === "6000", `${images} images`);
  check(
    "nobody is asked, and the network stays",
    (await lab.count("dialog.ask")) === 0 && (await stamp()) === before,
    before,
  );
}
