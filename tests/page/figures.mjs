/** Figures that are taken along: each chart's picture, drawing and numbers are files that other programs read, with what was shown. */

import { PNG } from "pngjs";
import { openRows } from "./gallery.mjs";
import { Lab } from "./lab.mjs";
import { buttonOf, checkMenus, hasMoreColours, readCsv, readSvg, taken } from "./taken.mjs";

const MINUTE = 60_000;

/**
 * What is met on the way through the page, at the least: what a drawing must have, and the numbers' columns. Whatever else has a
 * chart or a table there is taken along too.
 */
const FIGURES = {
  "surface-trained": { has: /<path/, columns: ["s", "t", "loss"] },
  "surface-bent": { has: /bent by λ = /, columns: ["s", "t", "loss"] },
  line: { has: /rgb\(23, 97, 138\)/, columns: ["s", "loss_trained", "loss_bent"] },
  training: { has: /<path/, columns: ["epoch", "loss", "accuracy", "test_accuracy"] },
  "layers-kappa": { has: /<rect/, columns: ["layer", "kappa_trained"] },
  "rho-layer-1": { has: /<path/, columns: ["neuron", "rho_trained", "rho_bent"] },
  "rho-pixels-trained": { has: /<rect/, columns: ["row", "column", "rho"] },
  "spectrum-ends": { has: /residual/, columns: ["point", "end", "rank", "eigenvalue"] },
  "density-bent": { has: /fill/, columns: ["lambda", "density"] },
  "sharpened-valley": { has: /<path/, columns: ["s_trained", "s_sharpened_predicted"] },
  "dinh-figure-5-theta": { has: /<path/, columns: ["theta", "eta", "loss"] },
  "toy-product-map": { has: /<path/, columns: ["series", "step", "w1", "w2", "loss"] },
  "toy-product-losses": { has: /<path/, columns: ["series", "drawn_as", "step", "loss"] },
  gauges: { has: /Riemannian norm/, columns: ["gauge", "trained", "bent", "verdict"] },
  invariance: { has: /node-wise/, columns: ["key", "map", "relative_change", "verdict"] },
  measures: { columns: ["key", "trained", "bent"] },
  "spaces-dimensions": { columns: ["network", "dimension"] },
  skeleton: { has: /<circle/, columns: ["layer", "weight", "path_value"] },
  "rangamani-table-2-seeds": { has: /<path/, columns: ["lambda", "precision", "seed", "relative_difference"] },
  "rangamani-table-4": { has: /<path/, columns: ["network", "batch", "seed", "spectral_norm", "paper"] },
  "rangamani-power-distances": { has: /<path/, columns: ["seed", "iteration", "norm", "distance", "residual"] },
  "rangamani-lines-layer": { has: /<path/, columns: ["batch", "seed", "direction", "t", "loss"] },
  "petzka-gap": { has: /<path/, columns: ["batch", "seed", "value", "value_rescaled"] },
  "petzka-appendix-d-2": { has: /<path/, columns: ["epsilon", "robustness", "bound", "matrix_norm"] },
  "petzka-correlations": { has: /<path/, columns: ["measure", "pearson", "kendall"] },
  "dinh-figure-1": { has: /<path/, columns: ["series", "theta", "loss"] },
  "dinh-figure-4": { has: /<path/, columns: ["series", "theta_1", "theta_2"] },
  "jestaedt-rates": { has: /<path/, columns: ["method", "learning_rate", "lowest_validation_loss"] },
  "jestaedt-grid": { has: /<path/, columns: ["method", "learning_rate", "lowest_validation_loss"] },
  "jestaedt-epochs": { has: /<path/, columns: ["method", "epoch", "validation_loss"] },
};

export async function checkFigures(browser, url, check) {
  // Dark: what is taken along is on white all the same.
  const lab = await Lab.open(browser, url, { colorScheme: "dark", permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = lab;
  // A curve with every step of its training, where the network that comes with the page has one of whole epochs.
  await lab.set("samples", 2000);
  await lab.set("epochs", 2);
  await lab.train();
  await lab.idle();
  await lab.drag("#sharpness", 0.4);
  await lab.idle();
  await lab.goTo("check");
  await page.click("#check-button");
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
  await checkAll(lab, check);
  await checkCells(lab, check);
  await checkContour(lab, check);
  await checkNumbers(lab, check);
  await checkMenu(lab, check);
  check("no complaints in the console", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}

/** Every chart and every table in sight, part by part. */
async function checkAll(lab, check) {
  const { page } = lab;
  const tabs = await page
    .locator(".tabs a")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href").slice("#/".length)));
  const met = [];
  const takeAll = async (part) => {
    for (const { take, chart } of await checkMenus(lab, check, part))
      met.push(await checkFigure(lab, check, take, chart));
  };
  await takeAll("#stage");
  for (const tab of tabs) {
    await lab.goTo(tab);
    if (tab === "spaces") await page.waitForSelector("#toy-losses .line");
    // Drawn when they have been laid out, which a busy computer takes its time for.
    if (tab === "dinh")
      for (const chart of ["#valley", "[data-curvature]"]) await page.waitForSelector(`[data-tab=dinh] ${chart} svg`);
    if (tab === "papers") await openRows(page);
    await takeAll(`[data-tab=${tab}]`);
  }
  const missed = Object.keys(FIGURES).filter((name) => !met.includes(name));
  check("all that should be there has been met", missed.length === 0, missed.join(" "));
}

/** Its files' name; null of the frame of an experiment that nobody has run. */
async function checkFigure(lab, check, take, chart) {
  const numbers = await taken(lab, take, "CSV");
  if (!numbers) return null;
  const name = numbers.name.replace(/^isoflat-|\.csv$/g, "");
  check(`${chart}: its file says whose it is`, numbers.name === `isoflat-${name}.csv`, numbers.name);
  const { has, columns = [] } = FIGURES[name] ?? {};
  const rows = readCsv(numbers.bytes);
  check(
    `${name}: its numbers have their names`,
    columns.every((column) => rows[0].includes(column)),
    rows[0].join(" "),
  );
  check(`${name}: as many cells in each row`, rows.length > 1 && rows.every(({ length }) => length === rows[0].length));
  const isTable = /^table\b/.test(chart) && !has;
  if (!isTable) await checkDrawing(lab, check, { take, name, has });
  return name;
}

async function checkDrawing(lab, check, { take, name, has = /<(path|rect|line)/ }) {
  const again = { again: true };
  const [picture, drawing] = [await taken(lab, take, "PNG", again), await taken(lab, take, "SVG", again)];
  check(
    `${name}: files have its name`,
    `${picture.name} ${drawing.name}` === `isoflat-${name}.png isoflat-${name}.svg`,
    `${picture.name} ${drawing.name}`,
  );
  const svg = await readSvg(lab, drawing.bytes);
  check(
    `${name}: the drawing is well-formed, and says what it is`,
    svg.fault === "" && svg.title !== "" && svg.desc !== "" && has.test(svg.text),
    svg.fault || svg.desc,
  );
  check(
    `${name}: nothing in it is of the page, nor of style sheets' newest words`,
    !/ class=|paint-order|var\(|light-dark|oklab|color-mix/.test(svg.text),
  );
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
  check(`${name}: with something on it`, hasMoreColours(png, 8));
}

/** The invariance check's cells on paper: those of the page in the light theme, colour by colour and mark by mark. */
async function checkCells(lab, check) {
  const { page } = lab;
  await lab.goTo("check");
  const { text } = await readSvg(lab, (await taken(lab, "#check-panel", "SVG")).bytes);
  const said = [...text.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, words]) => words);
  const rows = [...text.matchAll(/<rect[^>]*>/g)].map(([rect]) => rect);
  const fills = rows.filter((rect) => /rx="3"/.test(rect)).map((rect) => /fill="rgb\(([^)]*)\)"/.exec(rect)?.[1]);
  await page.emulateMedia({ colorScheme: "light" });
  const cells = await page.locator("#invariance [data-cell]").evaluateAll((buttons) => {
    const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    return buttons.map((button) => {
      context.fillStyle = getComputedStyle(button).backgroundColor;
      context.fillRect(0, 0, 1, 1);
      const [symbol, change] = [".symbol", ".change"].map((part) => button.querySelector(part).textContent);
      const against = button.dataset.agrees === "false" ? " ✗" : "";
      return {
        mark: `${symbol}${against} ${change}`,
        colour: [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).join(", "),
      };
    });
  });
  await page.emulateMedia({ colorScheme: "dark" });
  check(
    "the check is drawn cell by cell",
    fills.length === cells.length && cells.length > 100,
    `${fills.length} cells`,
  );
  const other = cells.filter(({ colour }, index) => colour !== fills[index]);
  check("in the colours of the page", other.length === 0, `${other.length} others`);
  check("which are many", new Set(fills).size > 8, `${new Set(fills).size}`);
  const marks = said.flatMap((words, at) => (/^[=≠?]( ✗)?$/.test(words) ? [`${words} ${said[at + 1]}`] : []));
  const unlike = cells.filter(({ mark }, index) => marks[index] !== mark);
  check("with its signs and numbers", unlike.length === 0, unlike.map(({ mark }) => mark).join("; "));
  const bars = rows.filter((rect) => /width="4"/.test(rect) && /height="20"/.test(rect)).length;
  const should = await lab.count("#invariance [data-expected=invariant]");
  check("what should stand still has its bar", bars === should && should > 0, `${bars} of ${should}`);
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
  await lab.page.waitForSelector("#landscapes [data-point=trained] canvas");
  const surface = await readSvg(lab, (await taken(lab, "#landscapes [data-point=trained]", "SVG")).bytes);
  const words = [...surface.text.matchAll(/>([^<>]+)<\/text>/g)].map(([, word]) => word);
  check(
    "a surface has its axes' names and numbers",
    surface.fault === "" && ["s", "t", "loss", "−1", "0", "1", "10"].every((word) => words.includes(word)),
    words.join(" "),
  );
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
  const ends = readCsv((await taken(lab, "isoflat-spectrum [slot=ends]", "CSV")).bytes);
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
