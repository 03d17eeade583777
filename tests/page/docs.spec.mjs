/** The documentation beside the lab: every link of it leads somewhere, it loads nothing from elsewhere, and it is found from the lab. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, sep } from "node:path";
import { inflateSync } from "node:zlib";
import { AxeBuilder } from "@axe-core/playwright";
import { policy } from "./built.mjs";
import { test as base, expect, root } from "./fixtures.mjs";
import { Lab } from "./lab.mjs";
import { serve } from "./server.mjs";

const MINUTE = 60_000;
const DOCS = join(root, "dist", "docs");
const read = (name) => readFileSync(join(DOCS, name), "utf8");
const files = readdirSync(DOCS, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) =>
    join(entry.parentPath, entry.name)
      .slice(DOCS.length + 1)
      .replaceAll(sep, "/"),
  );
const pages = new Map(files.filter((name) => name.endsWith(".html")).map((name) => [name, read(name)]));

const attributes = (html, names) =>
  [...html.matchAll(new RegExp(`\\s(?:${names})="([^"]*)"`, "g"))].map(([, value]) => value);
const anchors = new Map([...pages].map(([name, html]) => [name, new Set(attributes(html, "id"))]));
const isAbsolute = (address) => /^([a-z][a-z+.-]*:|\/)/i.test(address);

/** Why an address on a page leads nowhere; nothing where it does lead somewhere. */
function fault(page, address) {
  const [path, anchor] = address.replaceAll("&amp;", "&").split("#");
  const target = path === "" ? page : posix.join(posix.dirname(page), path);
  // The lab, one folder further out.
  if (target === "../") return anchor === undefined ? undefined : "the lab has no such place";
  if (!files.includes(target)) return "no such file";
  // An icon's anchor is in a drawing, and "#" is the page.
  if (!anchor || !pages.has(target)) return undefined;
  return anchors.get(target).has(decodeURIComponent(anchor)) ? undefined : "no such place on that page";
}

const inData = (name) => {
  const [, text] = /"([^"]+)"/.exec(read(`assets/${name}.js`));
  return JSON.parse(inflateSync(Buffer.from(text, "base64")));
};

/** Addresses that scripts make links of. */
function* ofScripts() {
  const stack = [...inData("navigation")];
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    if (entry.path) yield entry.path;
    stack.push(...(entry.children ?? []));
  }
  for (const { url } of inData("search").rows) yield url;
}

const test = base.extend({
  /** As a static host has it: below a folder, with headers that are as strict as the lab's page itself. */
  docs: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs.
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), "isoflat-docs-"));
      mkdirSync(join(folder, "some"));
      symlinkSync(join(root, "dist"), join(folder, "some", "where"), "junction");
      const server = await serve(folder, { "Content-Security-Policy": policy() });
      await use(`${server.url}some/where/docs/`);
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
    { scope: "worker" },
  ],

  /** A page that keeps what its console and the network had to complain of. */
  reader: async ({ page }, use) => {
    page.setDefaultTimeout(MINUTE);
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("requestfailed", (request) => {
      const { errorText } = request.failure();
      // Of a page that is left before all of it has come.
      if (errorText !== "net::ERR_ABORTED") complaints.push(`${request.url()}: ${errorText}`);
    });
    page.on(
      "response",
      (response) => response.status() >= 400 && complaints.push(`${response.url()}: ${response.status()}`),
    );
    await use(page);
    expect(complaints, "nothing is missing, and no policy is broken").toEqual([]);
  },
});

test("Every link of every page, of the navigation and of the search leads somewhere", () => {
  expect(pages.size).toBeGreaterThan(100);
  const faults = [];
  for (const [name, html] of pages) {
    for (const address of attributes(html, "href|src")) {
      if (isAbsolute(address)) continue;
      const why = fault(name, address);
      if (why) faults.push(`${name}: ${address}: ${why}`);
    }
  }
  const made = [...ofScripts()];
  expect(made.length).toBeGreaterThan(300);
  for (const address of made) {
    const why = fault("index.html", address);
    if (why) faults.push(`assets: ${address}: ${why}`);
  }
  expect(faults).toEqual([]);
});

test("What the guides link to in the reference is a link, and formulas are MathML", () => {
  const guides = join(root, "docs", "guides");
  let links = 0;
  for (const file of readdirSync(guides)) {
    const html = pages.get(file === "index.md" ? "index.html" : `guides/${file.replace(".md", ".html")}`);
    const text = readFileSync(join(guides, file), "utf8");
    for (const [, target, said = target] of text.matchAll(/\{@link ([^}| ]+)(?: \| ([^}]+))?\}/g)) {
      links++;
      expect(html, `${file}: ${target}`).toMatch(new RegExp(`<a href="[^"]+"[^>]*>${said}</a>`));
    }
  }
  expect(links).toBeGreaterThan(10);
  const theory = pages.get("guides/theory.html");
  expect(theory.match(/<math display="block"/g).length).toBeGreaterThan(8);
  expect(theory.replace(/<pre>[\s\S]*?<\/pre>/g, "")).not.toMatch(/\$|\\lambda|temml-error/);
});

test("Nothing is loaded from elsewhere", () => {
  for (const [name, html] of pages) {
    const loaded = [...html.matchAll(/<(?:script|link|img|iframe|use|source)\b[^>]*>/g)].flatMap(([tag]) =>
      attributes(tag, "href|src"),
    );
    expect(loaded.length, name).toBeGreaterThan(3);
    expect(loaded.filter(isAbsolute), name).toEqual([]);
    // A script within a page would need an exception from its policy.
    expect(html, name).not.toMatch(/<script(?![^>]*\bsrc=)/);
    expect(html, name).toContain("Content-Security-Policy");
  }
  for (const name of files.filter((name) => name.endsWith(".css"))) {
    const addresses = [...read(name).matchAll(/url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)/g)].map(
      ([, a, b]) => a ?? b,
    );
    expect(
      addresses.filter((address) => isAbsolute(address) && !address.startsWith("data:")),
      name,
    ).toEqual([]);
  }
});

test("A reader searches, follows links, and comes back to the lab", async ({ reader, docs, check }) => {
  await reader.goto(docs);
  await reader.getByRole("link", { name: "Is my minimum flat?" }).first().click();
  await reader.getByRole("heading", { level: 1, name: "Is my minimum flat?" }).waitFor();
  await reader.getByRole("link", { name: "no rescaling moves" }).click();
  await reader.waitForURL(/guides\/trust\.html#does-rescaling-move-it$/);
  await reader.locator("#tsd-search-trigger").click();
  await reader.locator("#tsd-search-input").fill("manyLargeEig");
  await reader.locator("#tsd-search-results a").first().click();
  await reader.waitForURL(/classes\/Engine\.html#manylargeeigenvalues$/);
  check("a method has its example", (await reader.locator("pre code.js").count()) > 20);
  await reader.locator("#tsd-nav-container").getByRole("link", { name: "The theory" }).click();
  await reader.locator("math").first().waitFor();
  await reader.getByRole("link", { name: "The lab" }).click();
  await reader.locator("#stage").waitFor();
});

test("The lab has a link to it, shares its theme with it, and keeps none of it for use without a network", async ({
  browser,
  url,
  check,
}) => {
  const { page } = await Lab.open(browser, url, { rests: true, serviceWorkers: "allow" });
  await page.waitForSelector("#offline[data-works=all]", { state: "attached" });
  const cached = await page.evaluate(async () => {
    const names = await caches.keys();
    const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return requests.flat().map(({ url }) => new URL(url).pathname);
  });
  check("the worker's list has the page", cached.length > 5);
  check("and no documentation", !cached.some((path) => path.includes("/docs/")));
  await page.evaluate(() => localStorage.setItem("isoflat.theme", "dark"));
  // The worker answers for the lab now, and lets this through.
  await page
    .locator("footer")
    .getByRole("link", { name: /Guides/ })
    .click();
  await page.waitForURL(/\/docs\/$/);
  await page.getByRole("heading", { level: 1, name: "isoflat" }).waitFor();
  check("the theme is the lab's", (await page.evaluate(() => document.documentElement.dataset.theme)) === "dark");
  await page.locator("summary", { hasText: "Settings" }).click();
  await page.selectOption("#tsd-theme", "light");
  check(
    "and the lab's is what is chosen here",
    (await page.evaluate(() => localStorage.getItem("isoflat.theme"))) === "light",
  );
});

/** All that a guide draws comes when it is near to the window. */
async function drawn(reader) {
  for (const [element, drawing] of [
    ["isoflat-landscape", "canvas"],
    ["isoflat-spectrum", ".curve"],
    ["isoflat-invariance", "[data-cell]"],
  ]) {
    await reader.locator(element).scrollIntoViewIfNeeded();
    await reader.locator(`${element} ${drawing}`).first().waitFor();
  }
}

test("The guide on elements shows them, in the colours that the reader chooses", async ({ reader, docs }) => {
  await reader.goto(`${docs}guides/plots.html`);
  await drawn(reader);
  await expect(reader.getByRole("application", { name: /^Loss surface: .* at the weights/ })).toBeVisible();
  await expect(reader.getByRole("grid", { name: "Invariance of measures" }).locator("[data-cell]")).toHaveCount(15);
  const ground = () =>
    reader.locator("isoflat-landscape").evaluate((element) => getComputedStyle(element).backgroundColor);
  const before = await ground();
  await reader.locator("summary", { hasText: "Settings" }).click();
  await reader.selectOption("#tsd-theme", "dark");
  expect(await ground()).not.toBe(before);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing wrong, ${colorScheme}`, async ({ reader, docs }) => {
    await reader.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const path of ["guides/theory.html", "guides/plots.html", "classes/Problem.html"]) {
      await reader.goto(`${docs}${path}`);
      if (path === "guides/plots.html") await drawn(reader);
      await reader.locator("#tsd-nav-container a").first().waitFor();
      // TypeDoc has links within what unfolds their list; the keyboard reaches both, one after the other.
      const builder = new AxeBuilder({ page: reader }).options({ resultTypes: ["violations"] });
      builder.disableRules("nested-interactive").setLegacyMode();
      const { violations } = await builder.analyze();
      const found = violations.map(
        ({ id, help, nodes }) =>
          `${id} (${help}): ${nodes.length} × ${nodes[0].target} ${nodes[0].any[0]?.message ?? ""}`,
      );
      expect.soft(found, path).toEqual([]);
    }
  });
}

test("A notebook imports the package from another origin", async ({ page }) => {
  // What a CDN does: files, and leave to read them from anywhere.
  const elsewhere = await serve(join(root, "pkg"), { "Access-Control-Allow-Origin": "*" });
  const folder = mkdtempSync(join(tmpdir(), "isoflat-notebook-"));
  writeFileSync(join(folder, "index.html"), "<!doctype html><title>a notebook</title>");
  const notebook = await serve(folder);
  await page.goto(notebook.url);
  const values = await page.evaluate(async (address) => {
    const isoflat = await import(address);
    await isoflat.default();
    const network = isoflat.Network.dense([2, 4, 2]);
    const problem = isoflat.Problem.synthetic(network, { samples: 10 });
    const losses = [];
    for (const worker of [false, true]) {
      const engine = await isoflat.Engine.create({ backend: "cpu", worker });
      losses.push((await engine.evaluate(problem, network.initialize())).loss);
      engine.free();
    }
    return losses;
  }, `${elsewhere.url}isoflat.js`);
  expect(values[0]).toBeGreaterThan(0);
  expect(values[1]).toBe(values[0]);
  for (const server of [elsewhere, notebook]) server.close();
  rmSync(folder, { recursive: true, force: true });
});
