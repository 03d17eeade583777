/** Figures that are taken along: each chart's picture, drawing and numbers are files that other programs read, with what was shown. */

import { readFileSync } from "node:fs";
import { PNG } from "pngjs";
import { Lab } from "./lab.mjs";

const MINUTE = 60_000;

/** Of a chart, by what is beside its button; what its drawing must have, and its numbers' columns. */
const CHARTS = [
  {
    part: "landscape",
    take: "#landscapes [data-point=trained]",
    name: "surface-trained",
    has: /<path/,
    columns: ["s", "t", "loss"],
  },
  {
    part: "landscape",
    take: "#landscapes [data-point=bent]",
    name: "surface-bent",
    has: /bent by λ = /,
    columns: ["s", "t", "loss"],
  },
  {
    part: "landscape",
    take: "#cut + .legend",
    name: "line",
    has: /rgb\(23, 97, 138\)/,
    columns: ["s", "loss_trained", "loss_bent"],
  },
  {
    part: "layers",
    take: "#layer-bars figure:first-child",
    name: "layers-kappa",
    has: /<rect/,
    columns: ["layer", "kappa_trained"],
  },
  {
    part: "layers",
    take: "#layers .chart-head",
    name: "rho-layer-1",
    has: /<path/,
    columns: ["neuron", "rho_trained", "rho_bent"],
  },
  {
    part: "layers",
    take: "#rho-images figure:first-child",
    name: "rho-pixels-trained",
    has: /<rect/,
    columns: ["row", "column", "rho"],
  },
  {
    part: "spectrum",
    take: "#spectrum > .chart-head",
    name: "spectrum-ends",
    has: /residual/,
    columns: ["point", "end", "rank", "eigenvalue"],
  },
  {
    part: "spectrum",
    take: "#spectrum figure[data-of=bent]",
    name: "density-bent",
    has: /fill/,
    columns: ["lambda", "density"],
  },
  {
    part: "dinh",
    take: "#valley + .legend",
    name: "sharpened-valley",
    has: /<path/,
    columns: ["s_trained", "s_sharpened_predicted"],
  },
  {
    part: "dinh",
    take: ".figure5-pair figure:first-child",
    name: "dinh-figure-5-theta",
    has: /<path/,
    columns: ["theta", "eta", "loss"],
  },
  {
    part: "spaces",
    take: "#toys figure:has(#toy-map)",
    name: "toy-product-map",
    has: /<path/,
    columns: ["series", "step", "w1", "w2", "loss"],
  },
  {
    part: "spaces",
    take: "#toys figure:has(#toy-losses)",
    name: "toy-product-losses",
    has: /<path/,
    columns: ["series", "drawn_as", "step", "loss"],
  },
];

export async function checkFigures(browser, url, check) {
  // Dark: what is taken along is on white all the same.
  const lab = await Lab.open(browser, url, { colorScheme: "dark", permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = lab;
  await lab.drag("#sharpness", 0.4);
  await lab.idle();
  await lab.goTo("spectrum");
  await page.selectOption("#operator-part", "layer_2");
  await page.click("#spectrum-button");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.densities.bent, null, { timeout: 3 * MINUTE });
  await lab.goTo("layers");
  await page.waitForFunction(
    () => {
      const { layers, dinh } = window.isoflatLab.app.store.state;
      return layers.bent && dinh.valley;
    },
    null,
    { timeout: 3 * MINUTE },
  );
  // Rectangles take their width from style sheets too: one for something else of the same name made all bars one block.
  const widths = await page
    .locator("#layer-bars rect.bar")
    .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width - Number(bar.getAttribute("width"))));
  check(
    "bars are as wide as they were drawn",
    widths.length > 5 && widths.every((more) => Math.abs(more) < 1),
    widths.join(" "),
  );
  for (const chart of CHARTS) await checkChart(lab, check, chart);
  await checkContour(lab, check);
  await checkNumbers(lab, check);
  await checkMenu(lab, check);
  check("no complaints in the console", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}

const buttonOf = (page, take) => page.locator(`${take} button.take`);

async function taken({ page }, take, way) {
  await buttonOf(page, take).click();
  const [download] = await Promise.all([
    page.waitForEvent("download", { timeout: MINUTE }),
    page.getByRole("menuitem", { name: way }).click(),
  ]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

async function checkChart(lab, check, { part, take, name, has, columns }) {
  await lab.goTo(part);
  const [picture, drawing, numbers] = [
    await taken(lab, take, "PNG"),
    await taken(lab, take, "SVG"),
    await taken(lab, take, "CSV"),
  ];
  const names = [picture, drawing, numbers].map((file) => file.name).join(" ");
  check(
    `${name}: files have its name`,
    names === ["png", "svg", "csv"].map((end) => `isoflat-${name}.${end}`).join(" "),
    names,
  );
  const svg = await readSvg(lab, drawing.bytes);
  check(
    `${name}: the drawing is well-formed, and says what it is`,
    svg.fault === "" && svg.title !== "" && svg.desc !== "" && has.test(svg.text),
    svg.fault || svg.desc,
  );
  check(`${name}: nothing in it is of the page`, !/ class=|var\(|light-dark/.test(svg.text));
  const png = PNG.sync.read(picture.bytes);
  check(
    `${name}: the picture has two pixels for each of the drawing's`,
    png.width === 2 * svg.width && png.height === 2 * svg.height,
    `${png.width} × ${png.height}`,
  );
  check(
    `${name}: on white`,
    [0, 1, 2, 3].every((index) => png.data[index] === 255),
  );
  check(`${name}: with something on it`, coloursOf(png) > 8, `${coloursOf(png)} colours`);
  const rows = readCsv(numbers.bytes);
  check(
    `${name}: its numbers have their names`,
    columns.every((column) => rows[0].includes(column)),
    rows[0].join(" "),
  );
  check(`${name}: as many cells in each row`, rows.length > 2 && rows.every(({ length }) => length === rows[0].length));
}

async function checkContour(lab, check) {
  await lab.goTo("landscape");
  await lab.page.getByText("Contour", { exact: true }).click();
  const svg = await readSvg(lab, (await taken(lab, "#landscapes [data-point=trained]", "SVG")).bytes);
  check(
    "a contour map is a drawing with labelled levels",
    svg.fault === "" && /first direction/.test(svg.text) && /clipPath/.test(svg.text),
    svg.fault,
  );
  await lab.page.getByText("Surface", { exact: true }).click();
}

/** The files against what the page knows, to the last digit. */
async function checkNumbers(lab, check) {
  const { page } = lab;
  const read = (body) => page.evaluate(body);
  const surface = await read(() => [...window.isoflatLab.app.store.state.surfaces.bent.loss]);
  const [head, ...rows] = readCsv((await taken(lab, "#landscapes [data-point=bent]", "CSV")).bytes);
  const losses = rows.map((row) => Number(row[head.indexOf("loss")]));
  check(
    "a surface's losses are those that are shown",
    JSON.stringify(losses) === JSON.stringify(surface),
    `${losses.length}`,
  );

  await lab.goTo("spectrum");
  const top = await read(() => window.isoflatLab.app.store.state.spectra.trained.top[0].value);
  const ends = readCsv((await taken(lab, "#spectrum > .chart-head", "CSV")).bytes);
  check("an eigenvalue's too", Number(ends[1][3]) === top, `${ends[1][3]} and ${top}`);

  await lab.goTo("measures");
  const norm = await read(() => window.isoflatLab.app.store.state.measures.trained.get("hessian.spectral_norm").value);
  const measures = readCsv((await taken(lab, "#measures-panel .side", "CSV")).bytes);
  const row = measures.find(([key]) => key === "hessian.spectral_norm");
  check("and a measure's", Number(row[measures[0].indexOf("trained")]) === norm, `${row.join(" ")} and ${norm}`);

  await buttonOf(page, "#measures-panel .side").click();
  await page.getByRole("menuitem", { name: "Markdown" }).click();
  await page.getByText("Copied", { exact: true }).waitFor();
  const text = await read(() => navigator.clipboard.readText());
  check("the clipboard has a table", text.startsWith("| key | measure |") && text.includes(String(norm)));
}

async function checkMenu(lab, check) {
  const { page } = lab;
  const button = buttonOf(page, "#measures-panel .side");
  await button.focus();
  await page.keyboard.press("Enter");
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  const first = await focused();
  await page.keyboard.press("ArrowDown");
  const second = await focused();
  await page.keyboard.press("ArrowUp");
  check(
    "the menu's items are reached by arrows",
    first.includes("CSV") && second.includes("spreadsheets") && (await focused()) === first,
  );
  check("the button says that it is open", (await button.getAttribute("aria-expanded")) === "true");
  await page.keyboard.press("Escape");
  const isBack = await button.evaluate((element) => document.activeElement === element);
  await page.waitForSelector(".take-menu", { state: "detached" });
  check(
    "Escape closes it, and the focus is where it was",
    isBack && (await button.getAttribute("aria-expanded")) === "false",
  );
}

/** By the browser's own parser. */
async function readSvg({ page }, bytes) {
  const text = bytes.toString("utf8");
  const found = await page.evaluate((text) => {
    const { documentElement: root } = new DOMParser().parseFromString(text, "image/svg+xml");
    const fault = root.querySelector("parsererror")?.textContent ?? (root.localName === "svg" ? "" : root.localName);
    const say = (name) => root.querySelector(`:scope > ${name}`)?.textContent ?? "";
    return {
      fault,
      title: say("title"),
      desc: say("desc"),
      width: Number(root.getAttribute("width")),
      height: Number(root.getAttribute("height")),
    };
  }, text);
  return { text, ...found };
}

function coloursOf({ data }) {
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) seen.add(`${data[i] >> 4} ${data[i + 1] >> 4} ${data[i + 2] >> 4}`);
  return seen.size;
}

/** RFC 4180. */
function readCsv(bytes) {
  const rows = [[]];
  for (const [, quoted, plain, end] of bytes
    .toString("utf8")
    .matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\r\n") rows.push([]);
    if (end === "") break;
  }
  rows.pop();
  return rows;
}

/** The full report as a page: its numbers, on paper, after a reload, and opened from its file; one that was stopped. */
export async function checkReport(browser, url, check) {
  const lab = await Lab.open(browser, url, { colorScheme: "dark" });
  const { page } = lab;
  await lab.set("network", "widths");
  await lab.set("widths", "784-12-10");
  await lab.set("samples", 2000);
  await lab.set("measured", 100);
  await lab.set("epochs", 2);
  await lab.train();
  await lab.waitForMeasure("hessian.spectral_norm", "trained");
  await lab.goTo("keep");
  await page.click("#save-report");
  await page.waitForSelector("#report-save", { timeout: 3 * MINUTE });
  check("the report has an address of its own", new URL(page.url()).hash === "#/report", page.url());
  check("and the focus", await page.locator("#report-title").evaluate((title) => document.activeElement === title));
  const shown = () =>
    page.locator("#report-panel table").evaluateAll((tables) => tables.map(({ dataset }) => dataset.table).join(" "));
  const all = "measures spectra moments layers sharpness average-sharpness spaces";
  check("it has all its tables", (await shown()) === all, await shown());
  check("and its spectra as charts", (await lab.count("#report-panel .report-plot .plot :is(.dots, .curve)")) >= 2);
  const [store, read] = await page.evaluate(() => {
    const { value } = window.isoflatLab.app.store.state.measures.trained.get("hessian.spectral_norm");
    const row = [...document.querySelectorAll("[data-table=measures] tr")].find((tr) =>
      tr.textContent.includes("Hessian, spectral norm"),
    );
    return [value, Number(row?.querySelector("td")?.textContent)];
  });
  check("its numbers are those of the page", Math.abs(read / store - 1) < 1e-4, `${read} and ${store}`);
  const trust = await lab.text("#report-trust");
  check("it says how far to trust them", /residual/.test(trust) && /standard error/.test(trust));
  const text = await lab.download("#report-save");
  const report = JSON.parse(text);
  check(
    "its file says what it is",
    report.isoflat === "report" && report.stopped === false && report.training.choice.epochs === 2,
  );
  const csv = readCsv((await taken(lab, ".report-table:has([data-table=spectra]) .chart-head", "CSV")).bytes);
  check(
    "a table of it can be taken along",
    Number(csv.find(([name]) => name === "hessian")[1]) === report.values.hessian.max_eigenvalue,
  );
  const plot = await readSvg(lab, (await taken(lab, "[data-plot=density] figcaption", "SVG")).bytes);
  check("and a chart", plot.fault === "" && /784-12-10 on MNIST, 100 samples/.test(plot.desc), plot.desc);

  await page.emulateMedia({ media: "print" });
  const isSeen = (selector) => page.locator(selector).first().isVisible();
  const hidden = [".masthead", "#stage", ".tabs", "footer", "#report-print", ".report .take"];
  const seen = [];
  for (const selector of hidden) if (await isSeen(selector)) seen.push(selector);
  check(
    "on paper there is the report alone",
    seen.length === 0 && (await isSeen("[data-table=measures]")),
    seen.join(" "),
  );
  const colours = await page
    .locator("#report-title")
    .evaluate((title) => [getComputedStyle(title).color, getComputedStyle(document.body).backgroundColor].join(" on "));
  check("in black on white", colours === "rgb(0, 0, 0) on rgb(255, 255, 255)", colours);
  await page.emulateMedia({ media: "screen" });

  await page.reload();
  await page.waitForSelector("#report-save");
  await page.waitForSelector("[data-table=measures]");
  check("a reload brings it back", (await lab.text("#report-title")).includes("784-12-10"));
  await page.evaluate(() => indexedDB.deleteDatabase("isoflat"));
  await lab.close();

  const other = await Lab.open(browser, url);
  await other.page.setInputFiles("#open-input", {
    name: "isoflat-report.json",
    mimeType: "application/json",
    buffer: Buffer.from(text),
  });
  await other.page.waitForSelector("#report-save");
  check("its file opens it", (await other.text("#report-title")).includes("784-12-10 on MNIST"));
  await other.page.setInputFiles("#open-input", {
    name: "isoflat-report.json",
    mimeType: "application/json",
    buffer: Buffer.from(text.slice(0, 5000)),
  });
  await other.page.waitForSelector(".message.error");
  check("one that is cut off is refused", /is a report, but no JSON/.test(await other.text(".message.error")));

  await other.page.click(".report-ways a");
  await other.page.click("#save-report");
  await other.page.waitForFunction(() => window.isoflatLab.app.store.state.progress?.done > 0);
  await other.page.waitForTimeout(400);
  await other.page.click("#status-stop");
  await other.page.waitForSelector(".report-missing", { timeout: MINUTE });
  const missing = await other.text(".report-missing");
  check(
    "a report that was stopped says what is missing",
    /stopped before its end/.test(missing) && /sharpness/.test(missing),
    missing,
  );
  check(
    "no complaints in the console",
    [...lab.complaints, ...other.complaints].length === 0,
    [...lab.complaints, ...other.complaints].join("; "),
  );
  await other.close();
}

/** The citation: of this version and address, to be copied or saved. */
export async function checkCitation(browser, url, check) {
  const lab = await Lab.open(browser, url, { permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = lab;
  await lab.goTo("keep");
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const shown = await lab.text("#citation");
  check(
    "the citation has version and address",
    shown.includes(`version = {${version}}`) && shown.includes(`url = {${url}}`),
  );
  check(
    "and the papers",
    ["1703.04933", "1902.02434", "1912.00058", "Jest"].every((part) => shown.includes(part)),
  );
  await page.click("#cite-copy");
  await page.locator("#cite-copy").getByText("Copied").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  check("it can be copied", copied.startsWith("@software{isoflat") && copied.includes("rangamani2019scale"));
  check(
    "the button keeps the focus",
    await page.locator("#cite-copy").evaluate((button) => document.activeElement === button),
  );
  await page.locator("#cite").getByText("In words").click();
  check("in words too", /Dinh.*Sharp Minima Can Generalize For Deep Nets \(2017\)/.test(await lab.text("#citation")));
  const saved = await lab.download("#cite-save");
  check("and saved", saved.includes(`Version ${version}`) && saved.includes(url));
  check("no complaints in the console", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}
