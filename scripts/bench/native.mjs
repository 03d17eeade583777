/** The native side: Criterion's benchmarks of benches/native.rs, and its medians read back; kinds of convolutions by an example. */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "../lib/process.mjs";

const folder = join(root, "target", "criterion");

export async function natively(works) {
  // What an earlier run left would be taken for this one's.
  rmSync(folder, { recursive: true, force: true });
  await run("cargo", ["bench", "--bench", "native", "--", `^(${works.join("|")})/`]);
  const results = [];
  for (const file of existsSync(folder) ? readdirSync(folder, { recursive: true }) : []) {
    if (!/new[\\/]estimates\.json$/.test(file)) continue;
    const estimates = JSON.parse(readFileSync(join(folder, file), "utf8"));
    const { full_id: name } = JSON.parse(readFileSync(join(folder, file, "..", "benchmark.json"), "utf8"));
    results.push({ name, ms: estimates.median.point_estimate / 1e6 });
  }
  return results.sort((a, b) => a.name.localeCompare(b.name));
}

/** Milliseconds of a gradient and of a Hessian product in f32 on one thread, all kinds in turn. */
export async function convolutionsNatively(kinds) {
  const cases = Object.entries(kinds).map(([name, { samples, network }]) => ({ name, samples, network }));
  const [asked, found] = ["convolutions.json", "convolutions-found.json"].map((name) =>
    join(root, "target", "bench", name),
  );
  writeFileSync(asked, JSON.stringify(cases));
  await run("cargo", ["run", "--release", "--example", "convolutions", "--", asked, found], {
    env: { RAYON_NUM_THREADS: "1" },
  });
  return JSON.parse(readFileSync(found, "utf8"));
}
