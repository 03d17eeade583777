/** `isoflat/plots` in the package: the lab's drawings as elements, each in a file that is loaded when there is something to draw. */

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./process.mjs";

/** What is bundled with it, whose licences ask to be named where it goes. */
const BUNDLED = ["three", "d3-contour", "d3-array", "internmap", "lit-html"];

/** `style.css?inline` as Vite has it: its text, made small. */
const inlineStyle = (esbuild) => ({
  name: "inline-style",
  setup(build) {
    build.onResolve({ filter: /\.css\?inline$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace("?inline", "")),
      namespace: "inline-style",
    }));
    build.onLoad({ filter: /.*/, namespace: "inline-style" }, async ({ path }) => {
      const { code } = await esbuild.transform(readFileSync(path, "utf8"), { loader: "css", minify: true });
      return { contents: code, loader: "text" };
    });
  },
});

export async function writePlots(folder) {
  const esbuild = await import("esbuild");
  const out = join(folder, "plots");
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  await esbuild.build({
    entryPoints: { plots: join(root, "www", "src", "plots", "index.ts") },
    outdir: out,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    plugins: [inlineStyle(esbuild)],
    logLevel: "warning",
  });
  copyFileSync(join(root, "www", "src", "plots", "plots.d.ts"), join(out, "plots.d.ts"));
  const licences = BUNDLED.map((name) => {
    const text = readFileSync(join(root, "node_modules", name, "LICENSE"), "utf8");
    return `${name}\n\n${text.trim()}\n`;
  });
  writeFileSync(join(out, "LICENSES.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));
}
