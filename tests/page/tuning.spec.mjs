/** What the package measures of a GPU, and where it keeps it: as the crate does in a browser, so that tests/web.rs does not measure again. */

import { readFileSync } from "node:fs";
import { root, test } from "./fixtures.mjs";
import { serve } from "./server.mjs";

const { version: released } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

/** Where the package is served as it is, and has WebGPU. */
async function measureTwice() {
  const { default: init, Engine, Network, Problem } = await import("/pkg/isoflat.js");
  await init();
  const network = Network.dense([12, 40, 3]);
  const inputs = Float32Array.from({ length: 12 * 50 }, (_, index) => Math.sin(index));
  const targets = Uint8Array.from({ length: 50 }, (_, index) => index % 3);
  const problem = new Problem(network, { loss: "cross_entropy", inputs, targets });
  const parameters = network.initialize({ seed: 1 });
  const runs = [];
  for (const tune of ["anew", "auto", "never"]) {
    const phases = new Set();
    const options = { backend: "webgpu", tune, onProgress: ({ phase }) => phases.add(phase) };
    const engine = await Engine.create(options);
    const gradient = await engine.gradient(problem, parameters);
    runs.push({ tune, phases: [...phases], gradient: [...gradient], adapter: engine.info.adapter });
    engine.free();
  }
  const kept = await new Promise((resolve) => {
    const opening = indexedDB.open("isoflat gpu");
    opening.onsuccess = () => {
      const all = opening.result.transaction("tunings").objectStore("tunings").getAll();
      all.onsuccess = () => resolve(all.result.map((text) => JSON.parse(text)));
    };
  });
  return { runs, kept };
}

test("A GPU is measured once, and what was found is kept", async ({ browser, check }) => {
  const server = await serve(root.replace(/\/$/, ""), {});
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${server.url}tests/page/threads/`);
  const { runs, kept } = await page.evaluate(measureTwice);
  const [anew, auto, never] = runs;
  check("it is measured when asked for", anew.phases.join() === "tuning", JSON.stringify(anew.phases));
  check("what was found is kept", kept.length === 1 && kept[0].adapter === anew.adapter, JSON.stringify(kept));
  const [{ api, version, tiles }] = kept;
  check("as this browser's, and this version's", api === "webgpu" && version === released, `${api}, ${version}`);
  const times = tiles.gather.registers.filter((time) => time !== null);
  check(
    "a tile alone takes no less than one of many",
    times.length > 0 && times.every(({ first, each }) => first >= each),
    JSON.stringify(times),
  );
  check("and taken without measuring again", auto.phases.length === 0 && auto.gradient.join() === anew.gradient.join());
  const norm = Math.hypot(...never.gradient);
  const change = Math.hypot(...never.gradient.map((value, index) => value - anew.gradient[index])) / norm;
  check("other tiles round another way, if at all", norm > 0 && change < 1e-6, String(change));
  await page.context().close();
  server.close();
});
