/** The full report as a page, and the citation. */

import { readFileSync } from "node:fs";
import { Lab } from "./lab.mjs";
import { checkMenus, readCsv, readSvg, taken } from "./taken.mjs";
import { checkNote } from "./words.mjs";

const MINUTE = 60_000;
/** Of their rise, where no tolerance is asked for. */
const ASCENT = 1e-3;
/** What an A4 sheet has between its margins, in points of the page. */
const SHEET = 688;

/** The full report as a page: its numbers, on paper, after a reload, and opened from its file; one that was stopped. */
export async function checkReport(browser, url, check) {
  const lab = await Lab.open(browser, url, { colorScheme: "dark", rests: true });
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
  check("the report has an address of its own", new URL(page.url()).hash.split("?")[0] === "#/report", page.url());
  check("and the focus", await page.locator("#report-title").evaluate((title) => document.activeElement === title));
  const stranger = page.locator(".report-stranger");
  check("it is of what is on the stage", await stranger.isHidden(), await stranger.textContent());
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
  await checkNote(
    lab.page,
    check,
    "the report",
    lab.page.locator("#report-panel [data-table=measures] [data-about]").nth(3),
  );
  const trust = await lab.text("#report-trust");
  check("it says how far to trust them", /residual/.test(trust) && /standard error/.test(trust));
  const text = await lab.download("#report-save");
  const report = JSON.parse(text);
  check(
    "its file says what it is",
    report.isoflat === "report" && report.stopped === false && report.training.choice.epochs === 2,
  );
  await checkMenus(lab, check, "#report-panel");
  const csv = readCsv((await taken(lab, ".report-table:has([data-table=spectra]) .chart-head", "CSV")).bytes);
  check(
    "a table of it can be taken along",
    Number(csv.find(([name]) => name === "hessian")[1]) === report.values.hessian.maxEigenvalue,
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
  await checkTablesOnPaper(page, check);
  await page.emulateMedia({ media: "screen" });

  await page.reload();
  await page.waitForSelector("#report-save");
  await page.waitForSelector("[data-table=measures]");
  check("a reload brings it back", (await lab.text("#report-title")).includes("784-12-10"));
  await checkGoesOn(lab, check, report.values);
  await page.evaluate(() => indexedDB.deleteDatabase("isoflat"));
  await lab.close();

  const other = await Lab.open(browser, url, { rests: true });
  await other.page.setInputFiles("#open-input", {
    name: "isoflat-report.json",
    mimeType: "application/json",
    buffer: Buffer.from(text),
  });
  await other.page.waitForSelector("#report-save");
  check("its file opens it", (await other.text("#report-title")).includes("784-12-10 on MNIST"));
  const said = await other.text(".report-stranger");
  check("and says that another network is on the stage", /not of what is on the stage now: 784-/.test(said), said);
  await other.page.setInputFiles("#open-input", {
    name: "isoflat-report.json",
    mimeType: "application/json",
    buffer: Buffer.from(text.slice(0, 5000)),
  });
  await other.page.waitForSelector(".message.error");
  check("one that is cut off is refused", /is a report, but no JSON/.test(await other.text(".message.error")));

  await other.page.click(".report-ways a");
  const about = await other.text("#report-about");
  check("as the link to it does", /^of 784-12-10 on MNIST, 100 samples; not of what/.test(about), about);
  const reason = await other.page.locator("#save-sharpened").getAttribute("title");
  check("what cannot be saved yet says why", /^Not sharpened yet/.test(reason), reason);
  await other.page.click("#save-report");
  await other.page.waitForFunction(() => window.isoflatLab.app.store.state.progress?.done > 0);
  await other.page.waitForTimeout(400);
  await other.page.click("#status-stop");
  await other.page.waitForSelector(".report-missing");
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

/** A sheet is as narrow as a small window, where tables on a screen are cards; on paper they are tables, and fit. */
async function checkTablesOnPaper(page, check) {
  const { width, height } = page.viewportSize();
  await page.setViewportSize({ width: SHEET, height });
  const found = await page.locator("#report-panel table").evaluateAll((tables) =>
    tables.map((table) => {
      const row = table.querySelector("tbody tr");
      const parts = [table, table.tHead, row, row.cells[1]].map((part) => getComputedStyle(part).display);
      const label = getComputedStyle(row.cells[1], "::before").content;
      return `${parts.join()} ${label} ${Math.ceil(table.getBoundingClientRect().right) <= innerWidth}`;
    }),
  );
  const whole = "table,table-header-group,table-row,table-cell none true";
  check(
    "its tables are tables there, as wide as the sheet",
    found.length > 0 && found.every((is) => is === whole),
    [...new Set(found)].join("; "),
  );
  const kept = await page.locator("#report-panel").evaluate((panel) => {
    const of = (part) => getComputedStyle(panel.querySelector(part));
    return [of(".report-table > .chart-head").breakAfter, of("section > p").breakInside, of("tbody tr").breakInside];
  });
  check(
    "and no sheet ends in a row or before what is under a caption",
    kept.join() === "avoid,avoid,avoid",
    kept.join(),
  );
  await page.setViewportSize({ width, height });
}

/** One that is stopped goes on with what is missing, and comes to what it would have come to. */
async function checkGoesOn(lab, check, whole) {
  const { page } = lab;
  await page.click(".report-ways a");
  await page.click("#save-report");
  await page.waitForFunction(() => {
    const { task, progress } = window.isoflatLab.app.store.state;
    return task === "reporting" && progress?.phase && !["point", "norms"].includes(progress.phase);
  });
  await page.click("#status-stop");
  await page.waitForSelector(".report-missing");
  const before = JSON.parse(await lab.download("#report-save"));
  const there = before.sections.flatMap(({ section, finished }) => (finished ? [section] : []));
  check("a report is stopped in the middle", there.length > 0 && there.length < before.sections.length, there.join());
  await page.reload();
  await page.waitForSelector("#report-continue");
  await page.click("#report-continue");
  await page.waitForFunction(() => document.querySelector(".report-missing") === null, null, { timeout: 3 * MINUTE });
  const after = JSON.parse(await lab.download("#report-save"));
  const seconds = (report) =>
    report.sections.filter(({ section }) => there.includes(section)).map(({ seconds }) => seconds);
  check(
    "what was there is not computed again",
    seconds(after).join() === seconds(before).join(),
    seconds(after).join(),
  );
  const { sharpness, ...exact } = whole;
  const differing = Object.keys(exact).filter(
    (key) => JSON.stringify(exact[key]) !== JSON.stringify(after.values[key]),
  );
  check("and all of it is what the whole has", differing.length === 0 && !after.stopped, differing.join());
  // In one report ascents begin at the eigenvectors that sections before them have found; to both ends they go to a thousandth of the rise.
  const off = Object.entries(sharpness).map(([name, { value }]) => [
    name,
    Math.abs(after.values.sharpness[name].value / value - 1),
  ]);
  check(
    "sharpness to the thousandth that ascents go to",
    off.length > 0 && off.every(([, off]) => off < 2 * ASCENT),
    off.map(([name, off]) => `${name} ${off.toExponential(1)}`).join(", "),
  );
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
  await page.waitForFunction(() => location.hash.includes("?"));
  await page.click("#copy-embed");
  await page.locator("#copy-embed").getByText("Copied").waitFor();
  const embed = await page.evaluate(() => navigator.clipboard.readText());
  const [, address] = /^<iframe src="([^"]+)" [^>]*><\/iframe>$/.exec(embed) ?? [];
  const now = await page.evaluate(() => location.hash);
  check(
    "the stage can be put into another page, as it stands",
    address?.replaceAll("&amp;", "&") === `${url}?embed${now.replace("#/keep", "#/train")}`,
    embed,
  );
  const saved = await lab.download("#cite-save");
  check("and saved", saved.includes(`Version ${version}`) && saved.includes(url));
  check("no complaints in the console", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}
