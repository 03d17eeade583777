/** After one visit the page works without a network; and a new build takes its place as a whole. */

import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRow } from "./gallery.mjs";
import { Lab } from "./lab.mjs";
import { serve } from "./server.mjs";

const MINUTE = 60_000;

const sha256 = (bytes, encoding) => createHash("sha256").update(bytes).digest(encoding);

/** Until all is kept that the page may need. */
const kept = (page) => page.waitForSelector("#offline[data-works=all]", { state: "attached", timeout: 2 * MINUTE });

/** What fails without a network fails loudly; the stage's own work goes on. */
async function loaded(page) {
  await page.waitForSelector("#badge:not([data-state=starting])", { state: "attached" });
}

/** Another build in the folder: a file of it has other bytes, and the worker's list says so. */
export function changed(folder, name, change) {
  const path = join(folder, name);
  const before = readFileSync(path);
  writeFileSync(path, change(before.toString("utf8")));
  const after = readFileSync(path);
  const worker = join(folder, "sw.js");
  const renewed = readFileSync(worker, "utf8")
    .replaceAll(sha256(before, "base64"), sha256(after, "base64"))
    .replaceAll(sha256(before, "hex").slice(0, 16), sha256(after, "hex").slice(0, 16));
  writeFileSync(worker, renewed);
}

/** A copy of the built page that may be changed, below a folder: it has to work from any. */
async function copied(root) {
  const folder = mkdtempSync(join(tmpdir(), "isoflat-offline-"));
  const page = join(folder, "some", "where");
  cpSync(join(root, "dist"), page, { recursive: true });
  const server = await serve(folder);
  return {
    page,
    url: `${server.url}some/where/`,
    end: () => {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
    close: server.close,
  };
}

export async function checkOffline(browser, root, check) {
  const site = await copied(root);
  const problem = readFileSync(join(root, "tests", "golden", "mlp_bias.json"), "utf8");
  const lab = await Lab.open(browser, site.url, { serviceWorkers: "allow" });
  const { page } = lab;
  try {
    await kept(page);
    check("the page says that it works offline", (await lab.text("#offline")) === "Works offline.");
    const { entries, bytes } = await page.evaluate(async () => {
      let [entries, bytes] = [0, 0];
      for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const request of await cache.keys()) {
          entries++;
          bytes += (await (await cache.match(request)).arrayBuffer()).byteLength;
        }
      }
      return { entries, bytes };
    });
    const files = readdirSync(site.page, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const docs = join(site.page, "docs");
    const all = files.filter(({ parentPath }) => parentPath !== docs && !parentPath.startsWith(join(docs, "/")));
    // Neither the documentation, nor itself, nor the one of two engines that this browser does not take.
    check("what it keeps", entries === all.length - 2, `${entries} files, ${(bytes / 1e6).toFixed(1)} MB`);

    writeFileSync(
      join(site.page, "frame.html"),
      '<!doctype html><iframe src="./?embed" width="900" height="600"></iframe>',
    );
    const parent = await page.context().newPage();
    await parent.goto(`${site.url}frame.html`);
    await parent.frameLocator("iframe").locator("#landscapes [data-point=trained] canvas").waitFor();
    check("in a frame of a page without such headers the stage is there", true);
    await parent.close();

    site.close();
    await page.context().setOffline(true);
    await page.reload();
    await loaded(page);
    await lab.idle();
    check("without a network it starts", /CPU|WebGPU/.test(await page.locator("#badge").innerText()));
    check(
      "isolated, so that it has threads, though the server had no headers",
      await page.evaluate(() => crossOriginIsolated),
    );
    check("the surface is drawn", (await lab.colours("#landscapes [data-point=trained] canvas")) > 20);
    await lab.goTo("measures");
    await lab.waitForMeasure("hessian.trace", "trained");
    await page.locator('tr[data-key="petzka.kappa_sum"] button.name').click();
    await page.waitForSelector("#about-petzka-kappa_sum math");
    check("measures have their numbers and formulas", true);
    await lab.goTo("papers");
    await openRow(page, "rangamani-table-2");
    check("what was run of the papers is drawn", await page.isVisible("#rangamani-table-2 .named-row"));
    await lab.set("samples", 30000);
    await lab.set("epochs", 1);
    await lab.train();
    check(
      "it trains, on more samples than come at first",
      await page.evaluate(() => window.isoflatLab.app.store.state.ready),
    );
    await lab.goTo("train");
    await lab.chooseFile("mlp_bias.json", problem);
    await lab.replace();
    await page.waitForFunction(() => /7-6-4-3/.test(document.querySelector("#model-summary")?.textContent ?? ""));
    await lab.idle();
    const { expected } = JSON.parse(problem);
    const loss = await lab.measure("loss", "trained");
    check("a file opens and is measured", Math.abs(loss / expected.loss - 1) < 1e-5, `${loss}`);
    check("nobody was told of an error", (await lab.count(".message.error")) === 0);
  } finally {
    await lab.close();
    site.end();
  }
}

export async function checkNewVersion(browser, root, check) {
  const site = await copied(root);
  const lab = await Lab.open(browser, site.url, { serviceWorkers: "allow" });
  const { page } = lab;
  const update = () =>
    page.evaluate(async () => void (await (await navigator.serviceWorker.getRegistration()).update()));
  const titleOf = () => page.title();
  try {
    await kept(page);
    await page.reload();
    await loaded(page);
    const first = await titleOf();

    // The list is there, and a file of a third build: half of a build.
    const index = join(site.page, "index.html");
    changed(site.page, "index.html", (text) => text.replace("<title>", "<title>Second "));
    const second = readFileSync(index, "utf8");
    writeFileSync(index, second.replace("<title>Second ", "<title>Third "));
    await update();
    await page.waitForFunction(async () => (await navigator.serviceWorker.getRegistration()).installing === null);
    await page.reload();
    await loaded(page);
    check(
      "a build of which a file is another one’s is not taken",
      (await titleOf()) === first && !(await page.locator("#update-reload").isVisible()),
    );

    writeFileSync(index, second);
    // A worker that failed is tried again when its text is another one.
    writeFileSync(join(site.page, "sw.js"), `${readFileSync(join(site.page, "sw.js"), "utf8")}\n// whole\n`);
    await update();
    await page.locator("#update-reload").waitFor();
    check("a whole one is announced", /new version is there/.test(await lab.text(".update")));
    const usual = page.viewportSize();
    await page.setViewportSize({ width: 390, height: 844 });
    const lines = await page.evaluate(() => {
      const [words, button] = [".newer p", "#update-reload"].map((of) =>
        document.querySelector(of).getBoundingClientRect(),
      );
      const { left } = document.querySelector(".update").getBoundingClientRect();
      return { isBeside: button.left >= words.right && button.top < words.bottom, left };
    });
    const stage = await page.evaluate(() => document.querySelector("#landscapes figure").getBoundingClientRect().left);
    check(
      "on a phone with its button beside the words, in line with the stage",
      lines.isBeside && lines.left === stage && (await lab.overflow()) <= 0,
      JSON.stringify({ ...lines, stage }),
    );
    await page.setViewportSize(usual);
    await page.reload();
    await loaded(page);
    check("and does not take over by itself", (await titleOf()) === first);

    const other = await page.context().newPage();
    await other.goto(site.url);
    await other.waitForSelector("#badge:not([data-state=starting])", { state: "attached" });
    await page.locator("#update-reload").click();
    await page.getByText("Another tab works with the files of this one").waitFor();
    check("nor while another tab works with the one before", (await other.title()) === first);
    await other.close();

    const stamp = await page.evaluate(() => window.isoflatLab.app.store.state.stamp);
    await page.locator("#update-reload").click();
    await page.waitForFunction(() => document.title.startsWith("Second "));
    await loaded(page);
    await lab.idle();
    check("when it is asked for it takes over", true);
    check("with what was on the page", (await page.evaluate(() => window.isoflatLab.app.store.state.stamp)) === stamp);
    check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  } finally {
    await lab.close();
    site.end();
  }
}

/** A part that comes when it is opened, and cannot: the page says so, and has it once it is loaded again. */
export async function checkNotFetched(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  const context = page.context();
  const message = page.locator('.message.error[data-code="not_fetched"]');
  const again = message.getByRole("button", { name: "Load the page again" });
  const open = (part) =>
    page.evaluate((part) => {
      location.hash = `#/${part}`;
    }, part);
  const stampOf = () => page.evaluate(() => window.isoflatLab.app.store.state.stamp);

  const stamp = await stampOf();
  await context.setOffline(true);
  await open("spaces");
  await message.waitFor();
  const said = await message.innerText();
  check("without a network a part is said to be missing", /part of the page could not be fetched/.test(said), said);
  check("and nothing of the engine, which goes on", !/engine|Train/.test(said), said);
  await again.click();
  await message.getByText("There is no connection yet.").waitFor();
  check("the page stays while there is none", (await stampOf()) === stamp);
  await context.setOffline(false);
  await open("train");
  await open("spaces");
  // Browsers that do not remember the failure have the part by now.
  await again.or(page.locator("[data-tab=spaces] h2").first()).first().waitFor();
  if (await again.isVisible()) await again.click();
  await page.locator("[data-tab=spaces] h2").first().waitFor();
  await loaded(page);
  check("with the network the part is there", (await message.count()) === 0);
  await lab.idle();
  const back = await stampOf();
  check("and the same network on the stage", back === stamp, `${back} after ${stamp}`);

  // A build that has taken the place of this one has other names.
  await context.route("**/gallery-*.css", (route) => route.fulfill({ status: 404 }));
  await open("papers");
  await message.waitFor();
  check("a style sheet that is gone is said, too", (await page.locator("#gallery").innerText()) === "");
  await context.unroute("**/gallery-*.css");
  await open("train");
  await open("papers");
  await again.click();
  await page.locator("#gallery .heading, #gallery details, #gallery table").first().waitFor();
  check("and the part comes with it", (await message.count()) === 0);
  lab.forgive(/Failed to load resource|ERR_INTERNET_DISCONNECTED/);
}
