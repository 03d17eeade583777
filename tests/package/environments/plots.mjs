/** `isoflat/plots` as pages have it: the guide's own, drawn in Chrome from the packed package, and what bundlers make of it. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { PNG } from "pngjs";
import { root } from "../../../scripts/lib/process.mjs";
import { article, map, until, visit } from "./article.mjs";
import { seen } from "./chrome.mjs";
import { limits } from "./limits.mjs";
import { page } from "./program.mjs";
import { output } from "./project.mjs";

const guide = readFileSync(join(root, "docs", "guides", "plots.md"), "utf8");
const [TEN_LINES, FROM_JSON, , BY_AND_BY] = [...guide.matchAll(/^```html\n([\s\S]*?)^```$/gm)].map(([, text]) => text);

/** What an element looks like: how many colours it has, and how light it is on the whole, of 255. */
async function looks(locator) {
  const { data } = PNG.sync.read(await locator.screenshot());
  const colours = new Set();
  let sum = 0;
  for (let at = 0; at < data.length; at += 4) {
    colours.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
    sum += (data[at] + data[at + 1] + data[at + 2]) / 3;
  }
  return { colours: colours.size, light: (4 * sum) / data.length };
}

const computing = `
  import init, { describeMeasures, Engine, Network, Problem } from "isoflat";
  import "isoflat/plots";
  await init();
  const network = Network.dense([2, 6, 2]);
  const problem = Problem.synthetic(network, { samples: 40 });
  const engine = await Engine.create({ backend: "cpu" });
  const parameters = network.initialize();
  const at = (name) => document.querySelector(name);
`;

const surface = async (project) => {
  article(project, "ten.html", TEN_LINES);
  return visit(project, "ten.html", async (page, fetched) => {
    const element = page.locator("isoflat-landscape");
    assert(await element.getByText("is being computed").isVisible(), "what stands between the tags is not shown");
    assert(!fetched.some((name) => name.startsWith("scene-")), "three.js came before there was something to draw");
    const canvas = element.getByRole("application", { name: /^Loss surface: .* at the weights/ });
    await canvas.waitFor({ timeout: 60_000 });
    await until("a surface of many colours", async () => (await looks(canvas)).colours > 500);
    const light = await looks(element);

    await canvas.focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowUp");
    assert.match(await element.evaluate(({ camera }) => camera), /^[\d.]+_[\d.]+_[\d.]+$/);
    await page.keyboard.press("Home");
    assert.equal(await element.evaluate(({ camera }) => camera), "");

    await page.evaluate(() => {
      document.documentElement.style.colorScheme = "dark";
    });
    await until("dark, where the page has become so", async () => (await looks(element)).light < light.light - 80);
    await page.evaluate(() => {
      document.documentElement.style.colorScheme = "light";
    });

    await element.getByRole("radio", { name: "Contour" }).check();
    await element.getByRole("img", { name: /^Contour map of the loss/ }).waitFor();
    assert.equal(await element.getAttribute("view"), "contour");
    assert((await element.locator(".bands path").count()) > 3, "a map without levels");

    // In a place that is narrower, and none.
    await element.evaluate((element) => {
      element.style.width = "300px";
    });
    await until(
      "a map as wide as its place",
      // None while it is drawn anew.
      async () => (await element.locator("svg.contour").boundingBox())?.width < 300,
    );
    await element.evaluate((element) => {
      element.landscape = null;
    });
    await element.getByText("is being computed").waitFor();
    return "a surface in ten lines, turned by keys, dark and light, and as a map";
  });
};

const fromJson = async (project) => {
  const side = [-1, -0.5, 0, 0.5, 1];
  const loss = side.flatMap((t) => side.map((s) => s * s + 2 * t * t));
  loss[0] = null;
  project.write({ "node_modules/landscape.json": JSON.stringify({ s: side, t: side, loss, center: 0 }) });
  article(project, "json.html", FROM_JSON);
  return visit(project, "json.html", async (page, fetched) => {
    await page.getByRole("img", { name: /^Contour map of the loss: 0 at the weights, lowest 0, highest 3/ }).waitFor();
    assert((await looks(page.locator("isoflat-landscape"))).colours > 50, "an empty map");
    const other = fetched.filter(
      (name) => !/^(json\.html|landscape\.json|favicon\.ico|plots\.js|chunk-.*|landscape-drawing-.*)$/.test(name),
    );
    assert.deepEqual(other, [], "the engine, or three.js, was fetched");
    return "what was computed before, without the engine";
  });
};

const numbers = async (project) => {
  const body = `<isoflat-landscape></isoflat-landscape><isoflat-landscape></isoflat-landscape><isoflat-spectrum></isoflat-spectrum><isoflat-invariance></isoflat-invariance>
<script type="module">${computing}
  const line = await engine.landscape(problem, parameters, { directions: [{ type: "random", seed: 1 }] });
  at("isoflat-landscape").landscape = line;
  at("isoflat-landscape:nth-of-type(2)").landscape = [line, { ...line, loss: line.loss.map((x) => 2 * x) }];
  const ends = await engine.eigenvalues(problem, parameters, { top: 3, bottom: 2 });
  at("isoflat-spectrum").eigenvalues = [ends, ends];
  at("isoflat-spectrum").density = await engine.density(problem, parameters);
  at("isoflat-invariance").descriptions = describeMeasures();
  at("isoflat-invariance").table = await engine.invariance(problem, parameters, {
    measures: ["hessian.trace"],
    transformations: [{ type: "layerwise", lambda: [4, 0.25] }, { type: "random_permutation", seed: 1 }],
  });
</script>`;
  article(project, "numbers.html", map + body);
  return visit(project, "numbers.html", async (page) => {
    const line = page.getByRole("img", { name: /^Loss along the first direction; [\d.]+ in the middle/ });
    await line.waitFor({ timeout: 60_000 });
    const both = page.getByRole("img", { name: /^Loss along the first direction; before: .*; after: / });
    assert.equal(await both.locator(".curve").count(), 2, "two lines in one chart");
    assert.equal(await page.locator(".of-bent").innerText(), "◆ after");
    const spectrum = page.locator("isoflat-spectrum");
    const ends = spectrum.getByRole("img", { name: /^Ends of the spectrum: before λ from .*; after λ from/ });
    await ends.waitFor();
    const counts = await ends.locator(".dots").evaluateAll((all) => all.map(({ dataset }) => dataset.count));
    assert.deepEqual(counts, ["5", "5"], "eigenvalues of both");
    const density = spectrum.getByRole("img", { name: /^Density of the spectrum: highest/ });
    assert((await density.locator(".curve").getAttribute("d")).split("L").length > 50, "a density without a curve");
    for (const drawing of [line, ends, density]) assert((await looks(drawing)).colours > 20, "an empty plot");

    const table = page.getByRole("grid", { name: "Invariance of measures" });
    const cells = table.locator("[data-cell]");
    assert.equal(await cells.count(), 4, "the outputs and the trace under two maps");
    const trace = table.getByRole("row", { name: /^Hessian, trace/ });
    assert.deepEqual(
      await trace.locator("[data-cell]").evaluateAll((all) => all.map(({ dataset }) => dataset.verdict)),
      ["changed", "invariant"],
    );
    await trace.locator("[data-cell]").first().focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("same, as theory says").waitFor();
    assert((await looks(table)).colours > 30, "a table without colours");
    return "a line, spectra and a table";
  });
};

/** Cells that are still to come have their place; a name that is pressed is told. */
const byAndBy = async (project) => {
  article(project, "by-and-by.html", BY_AND_BY);
  return visit(project, "by-and-by.html", async (page) => {
    const table = page.getByRole("grid", { name: "Invariance of measures" });
    const row = (name) => table.getByRole("row", { name }).locator("[data-cell]");
    await row(/^Gauss–Newton, trace/).waitFor({ timeout: 60_000 });
    assert.equal(await row(/^Hessian, trace/).count(), 1);
    await table.getByRole("button", { name: "Hessian, trace" }).click();
    await page.locator("#about").getByText("eigenvalues").waitFor();
    await page.evaluate(() => {
      const element = document.querySelector("isoflat-invariance");
      element.table = { ...element.table, cells: element.table.cells.slice(0, 1) };
    });
    await table.getByText("still to come").waitFor();
    assert.equal(await table.getAttribute("aria-busy"), "true");
    return "a table whose cells come by and by, and names that explain themselves";
  });
};

/** Given before the element is known, or wrong. */
const hostile = async (project) => {
  const body = `<isoflat-landscape></isoflat-landscape><script type="module">
  const element = document.querySelector("isoflat-landscape");
  element.landscape = { s: [0, 1, 2], t: [], loss: [2, 1, 2], center: 2 };
  element.view = "contour";
  const { IsoflatLandscape } = await import("isoflat/plots");
  const said = [];
  const complains = (name, property, value) => {
    try {
      document.createElement(name)[property] = value;
      said.push("nothing");
    } catch (error) {
      said.push(error instanceof TypeError ? error.message : String(error));
    }
  };
  complains("isoflat-landscape", "landscape", 7);
  complains("isoflat-landscape", "landscape", { s: ["a", "b"], t: [], loss: [1, 2] });
  complains("isoflat-landscape", "landscape", { s: [0, 1], t: [0, 1], loss: [1, 2, 3] });
  complains("isoflat-landscape", "beside", {});
  const surface = { s: [0, 1], t: [0, 1], loss: [1, 2, 3, 4] };
  complains("isoflat-landscape", "landscape", [surface, surface]);
  complains("isoflat-spectrum", "eigenvalues", { top: [], bottom: [], products: 0 });
  complains("isoflat-spectrum", "density", { grid: [1] });
  complains("isoflat-invariance", "table", []);
  complains("isoflat-invariance", "descriptions", "none");
  complains("isoflat-invariance", "measures", "loss");
  complains("isoflat-spectrum", "names", ["one"]);
  complains("isoflat-landscape", "view", "banana");
  complains("isoflat-landscape", "scale", "cubic");
  complains("isoflat-landscape", "camera", "hello");
  complains("isoflat-landscape", "camera", "400_200_0");
  addEventListener("error", (event) => {
    event.preventDefault();
    said.push(event.message);
  });
  document.createElement("isoflat-landscape").setAttribute("view", "banana");
  document.createElement("isoflat-landscape").setAttribute("camera", "hello");
  globalThis.outcome = { said, isOne: element instanceof IsoflatLandscape, view: element.getAttribute("view") };
</script>`;
  article(project, "hostile.html", map + body);
  return visit(project, "hostile.html", async (page) => {
    await page.getByRole("img", { name: "Loss along the first direction; 2.00 in the middle, up to 2.00" }).waitFor();
    const { said, isOne, view } = await page.evaluate(() => globalThis.outcome);
    assert.deepEqual([isOne, view], [true, "contour"], "given before the element is known");
    const wanted = [
      /^landscape: .*engine\.landscape gives/,
      /^landscape: .*lists of numbers/,
      /^landscape: its loss has 3 numbers and not those of 2 × 2 points/,
      /^beside: .*list/,
      /^landscape: two are compared where they are lines/,
      /^eigenvalues: .*no eigenvalues/,
      /^density: .*engine\.density gives/,
      /^table: .*engine\.invariance gives/,
      /^descriptions: .*describeMeasures/,
      /^measures: .*keys/,
      /^names: .*two/,
      /^view: it is to be surface or contour, and not "banana"/,
      /^scale: it is to be log or linear, and not "cubic"/,
      /^camera: it is to be degrees around up to 360, .*, and not "hello"/,
      /^camera: .* a distance from 2.5 to 12, .*, and not "400_200_0"/,
      /TypeError: view: .*, and not "banana"/,
      /TypeError: camera: .*, and not "hello"/,
    ];
    for (const [index, pattern] of wanted.entries()) assert.match(said[index], pattern);
    return "errors that say what is wanted";
  });
};

export const small = `import "isoflat/plots";
const element = document.createElement("isoflat-landscape");
element.landscape = { s: [0, 1], t: [0, 1], loss: [1, 2, 3, 4], center: 1 };
document.body.append(element);
`;

export const isDrawn = async (folder, file = "") =>
  seen(folder, file, async (page) => {
    await page.locator("isoflat-landscape canvas").waitFor({ timeout: 60_000 });
    return "the surface is drawn";
  });

export const plots = [
  ["isoflat/plots, ten lines", surface],
  ["isoflat/plots, from JSON", fromJson],
  ["isoflat/plots, lines, spectra and tables", numbers],
  ["isoflat/plots, a table by and by", byAndBy],
  ["isoflat/plots, what makes no sense", hostile],
  ...limits,
  [
    "isoflat/plots, Node",
    async (project) => {
      project.write({
        "plots.js": `import * as plots from "isoflat/plots";
const members = ({ prototype }) => Object.getOwnPropertyNames(prototype);
console.log(JSON.stringify(Object.entries(plots).map(([name, Class]) => [name, members(Class)])));
`,
      });
      const found = new Map(JSON.parse(await project.node("plots.js")));
      const types = readFileSync(project.at("node_modules", "isoflat", "pkg", "plots", "plots.d.ts"), "utf8");
      const declared = [...types.matchAll(/^export class (\w+)[^{]*\{\n([\s\S]*?)^\}/gm)];
      assert.deepEqual([...found.keys()].sort(), declared.map(([, name]) => name).sort());
      for (const [, name, body] of declared) {
        const properties = [...body.matchAll(/^ {2}(?:get )?(?!set\b|addEventListener)(\w+)[(:]/gm)];
        assert(properties.length > 0, name);
        for (const [, key] of properties) assert(found.get(name).includes(key), `${name} has no ${key}`);
      }
      return "it can be imported, and has what is declared";
    },
  ],
  [
    "isoflat/plots, esbuild, a script",
    async (project) => {
      project.write({ "drawn.js": small, "plots-esbuild/index.html": page("./drawn.js") });
      const folder = project.at("plots-esbuild");
      const how = { bundle: true, format: "iife", outdir: folder, logLevel: "warning" };
      await esbuild.build({ absWorkingDir: project.folder, entryPoints: [project.at("drawn.js")], ...how });
      return isDrawn(folder);
    },
  ],
  [
    "isoflat/plots, Vite",
    async (project) => {
      project.write({ "drawn.js": small, "index.html": page("/drawn.js") });
      const vite = join(root, "node_modules", "vite", "bin", "vite.js");
      const how = ["build", "--outDir", "plots-vite", "--emptyOutDir"];
      await output(process.execPath, [vite, ...how], project.folder);
      return isDrawn(project.at("plots-vite"));
    },
  ],
];
