/**
 * `npm run bench`: sets up, builds examples/bench.rs natively and for the browser, runs both, prints one table each.
 * Ratios hold within a table, since all of it is measured in one run; times vary between machines and runs.
 */

import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { chromeArguments, findChrome } from "./lib/browser.mjs";
import { capture, Failure, fail, root, run } from "./lib/process.mjs";
import { setUp } from "./setup.mjs";

const folder = join(root, "target", "bench");
const types = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const page = `<!doctype html><title>bench</title><script type="module">
  import init, { bench } from "./bench.js";
  window.result = init().then(bench);
</script>`;

/** Serves the built example, and the page that runs it, on a free port. */
function serve() {
  const server = createServer((request, response) => {
    const name = request.url === "/" ? "index.html" : request.url.slice(1);
    response.setHeader("Content-Type", types[extname(name)] ?? "application/octet-stream");
    if (name === "index.html") response.end(page);
    else if (/^[\w.]+$/.test(name) && existsSync(join(folder, name)))
      createReadStream(join(folder, name)).pipe(response);
    else response.writeHead(404).end();
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

async function inBrowser() {
  await run("cargo", ["build", "--release", "--example", "bench", "--target", "wasm32-unknown-unknown"]);
  const wasm = join(root, "target", "wasm32-unknown-unknown", "release", "examples", "bench.wasm");
  await run("wasm-bindgen", ["--target", "web", "--no-typescript", "--out-dir", folder, wasm]);
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath: findChrome(), args: chromeArguments(true) });
  const server = await serve();
  try {
    const tab = await browser.newPage();
    await tab.goto(`http://127.0.0.1:${server.address().port}/`);
    return JSON.parse(await tab.evaluate("window.result"));
  } finally {
    await browser.close();
    server.close();
  }
}

async function natively() {
  await run("cargo", ["build", "--release", "--example", "bench"]);
  const output = capture(join(root, "target", "release", "examples", "bench"));
  if (output === undefined) throw new Failure("the native benchmark failed");
  return JSON.parse(output);
}

function print(title, { work, rounds, devices, missing }) {
  console.log(`\n${title}: ${work}, medians of ${rounds} interleaved rounds`);
  const cpu = devices.find(({ device }) => device.backend === "cpu" && device.precision === "f32");
  const rows = devices.map(({ device, ms, gflops, hessian_product_over_gradient: ratio }) => ({
    device: `${device.backend} ${device.precision}, ${device.adapter}`,
    "gradient ms": ms.gradient.toFixed(1),
    "Hv ms": ms.hessian_product.toFixed(1),
    "Gv ms": ms.gauss_newton_product.toFixed(1),
    "Hv of 4, each": ms.hessian_product_of_4_each.toFixed(1),
    "Hv ÷ gradient": ratio.toFixed(2),
    "Hv ÷ CPU f32": (ms.hessian_product / cpu.ms.hessian_product).toFixed(2),
    "Hv GFLOP/s": gflops.hessian_product.toFixed(1),
    "plain GFLOP/s": gflops.plain_product.toFixed(1),
    "of plain": `${Math.round((100 * gflops.hessian_product) / gflops.plain_product)} %`,
  }));
  console.table(rows);
  for (const reason of missing) console.log(`no GPU: ${reason}`);
}

async function main() {
  await setUp({ tests: true });
  const native = await natively();
  const browser = await inBrowser();
  print("Native", native);
  print("Chrome", browser);
}

main().catch(fail);
