/** What the elements of the guides show, computed by the package itself, and the files that a page with them needs. */

import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** A page of the site that has elements; in examples they are text. */
export const hasElements = (html) => html.includes("<isoflat-");

async function compute() {
  const isoflat = await import("../../pkg/isoflat.js");
  await isoflat.default({ module_or_path: readFileSync(here("../../pkg/isoflat_bg.wasm")) });
  const { Engine, Network, Problem, describeMeasures } = isoflat;
  const network = Network.dense([2, 8, 8, 2]);
  const problem = Problem.synthetic(network, { samples: 60, seed: 1 });
  const engine = await Engine.create({ backend: "cpu" });
  const optimizer = { type: "adam", learningRate: 0.02 };
  const how = { optimizer, batchSize: 60, epochs: 150 };
  const { parameters } = await engine.train(problem, network.initialize({ seed: 1 }), how);
  const directions = [3, 5].map((seed) => ({ type: "random", seed }));
  const { s, t, loss, center } = await engine.landscape(problem, parameters, {
    directions,
    normalization: "filter",
    points: 31,
  });
  const measures = ["loss", "hessian.spectral_norm", "hessian.trace", "riemannian.nodewise_flat.spectral_norm"];
  const table = await engine.invariance(problem, parameters, {
    measures,
    transformations: [
      { type: "layerwise", lambda: [4, 0.5, 0.5] },
      { type: "random_nodewise", seed: 1, low: 0.1, high: 10 },
      { type: "random_permutation", seed: 1 },
    ],
  });
  const found = {
    landscape: { s: [...s], t: [...t], loss: Array.from(loss, (x) => Number(x.toPrecision(6))), center },
    ends: await engine.eigenvalues(problem, parameters, { top: 6, bottom: 4 }),
    density: await engine.density(problem, parameters),
    table,
    descriptions: describeMeasures().filter(({ key }) => measures.includes(key)),
  };
  engine.free();
  return found;
}

/** Into the site's assets. */
export async function writeArticle(assets) {
  const plots = here("../../pkg/plots");
  mkdirSync(join(assets, "plots"), { recursive: true });
  for (const name of readdirSync(plots)) {
    if (/\.(js|txt)$/.test(name)) copyFileSync(join(plots, name), join(assets, "plots", name));
  }
  copyFileSync(here("article.js"), join(assets, "article.js"));
  writeFileSync(join(assets, "article.json"), JSON.stringify(await compute()));
}
