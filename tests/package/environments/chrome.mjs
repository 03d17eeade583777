/** Headless Chrome, and a server of folders for it. */

import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { chromium } from "@playwright/test";
import { chromeArguments, findChrome } from "../../../scripts/lib/browser.mjs";
import { Failure } from "../../../scripts/lib/process.mjs";

const types = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** Serves a folder as it is, with these headers: what is not there is not found. */
export async function serve(folder, headers = {}) {
  const server = createServer((request, response) => {
    const name = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    const file = join(folder, name.endsWith("/") ? `${name}index.html` : name);
    if (!existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "Content-Type": types[extname(file)] ?? "application/octet-stream", ...headers });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}`, end: () => server.close() };
}

const browsers = new Map();

/** Chrome with WebGPU by software, or without any. */
function browserWith(webgpu) {
  if (!browsers.has(webgpu)) {
    browsers.set(webgpu, chromium.launch({ executablePath: findChrome(), args: chromeArguments(webgpu) }));
  }
  return browsers.get(webgpu);
}

/** What the page at an address computes, and the names of what it fetched for that. */
export async function outcome(address, webgpu = false) {
  const page = await (await browserWith(webgpu)).newPage();
  const [said, fetched] = [[], []];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => fetched.push(new URL(request.url()).pathname.split("/").at(-1)));
  try {
    await page.goto(address);
    const found = await page.waitForFunction(() => globalThis.outcome, undefined, { timeout: 60_000 });
    return { outcome: await found.jsonValue(), fetched };
  } catch (error) {
    throw new Failure(
      `${address} computes nothing (${error.message.split("\n")[0]}):\n${said.join("\n").slice(-2000)}`,
    );
  } finally {
    await page.close();
  }
}

/** The same of a folder, served with these headers. */
export async function outcomeOf(folder, file = "", { headers, webgpu } = {}) {
  const server = await serve(folder, headers);
  try {
    return await outcome(`${server.address}/${file}`, webgpu);
  } finally {
    server.end();
  }
}

/** A page of a folder, as somebody sees it: `work` has it, and the names of what it has fetched. */
export async function seen(folder, file, work) {
  const server = await serve(folder);
  const page = await (await browserWith(false)).newPage({
    viewport: { width: 900, height: 700 },
    colorScheme: "light",
  });
  const [faults, fetched] = [[], []];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => fetched.push(new URL(request.url()).pathname.split("/").at(-1)));
  try {
    await page.goto(`${server.address}/${file}`);
    const said = await work(page, fetched);
    if (faults.length > 0) throw new Failure(`${file} has errors: ${faults.join("; ")}`);
    return said;
  } finally {
    await page.close();
    server.end();
  }
}

export async function closeChrome() {
  for (const browser of browsers.values()) await (await browser).close();
  browsers.clear();
}
