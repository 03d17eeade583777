/** Environments whose tools are this repository's own, and those that need none: `npm test` has them. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import * as esbuild from "esbuild";
import { rollup } from "rollup";
import { root } from "../../../scripts/lib/process.mjs";
import { outcome, outcomeOf } from "./chrome.mjs";
import { check, files, mapped, page } from "./program.mjs";
import { output, served } from "./project.mjs";

const tool = (...names) => join(root, "node_modules", ...names);

/** Which of the modules a program of Node's reads, besides what it computes. */
const watching = `
import fs from "node:fs";
const { readFile } = fs.promises;
fs.promises.readFile = (file, ...rest) => {
  console.log("reads " + String(file).split("/").at(-1));
  return readFile.call(fs.promises, file, ...rest);
};
`;

/** In the Node that a command starts: the eigenvalue, by the module that it should take. */
export async function nodeModule(project, command = [process.execPath]) {
  project.write({ "watching.js": watching, "watched.js": 'import "./watching.js";\nimport "./print.js";\n' });
  const said = await project.output(...command, "watched.js");
  const [major] = /\d+/.exec(await project.output(...command, "--version"));
  // Node has relaxed SIMD since version 22.
  const wanted = Number(major) >= 22 ? "isoflat_relaxed_bg.wasm" : "isoflat_bg.wasm";
  assert.match(said, new RegExp(`^reads ${wanted}$`, "m"), `another module than ${wanted} is read`);
  return `${check(said)} in Node ${major}`;
}

/** The programs by the entry that carries its modules, in a folder of their own. */
const writeInline = (project) =>
  project.write(
    Object.fromEntries(Object.entries(files("isoflat/inline")).map(([name, text]) => [`inline/${name}`, text])),
  );

/** A folder of a project for one page, which imports what `script` is of the project's files. */
function site(project, name, script) {
  const folder = project.at(name);
  project.write({ [`${name}/index.html`]: page(`./${script}`) });
  return folder;
}

async function bundled(project, name, options, script = "page.js") {
  const folder = site(project, name, script);
  await esbuild.build({
    absWorkingDir: project.folder,
    entryPoints: [project.at(script)],
    bundle: true,
    outdir: folder,
    // That there is no import.meta in such formats is what is tried here.
    logOverride: { "empty-import-meta": "silent" },
    logLevel: "warning",
    ...options,
  });
  return folder;
}

async function rolledUp(project, name, { input = "page.js", format = "es", ...options }) {
  const bundle = await rollup({
    input: project.at(input),
    plugins: [nodeResolve(options)],
    onwarn: ({ message }) => assert.fail(message),
  });
  await bundle.write({ dir: site(project, name, "page.js"), format });
  await bundle.close();
  return check((await outcomeOf(project.at(name))).outcome);
}

/** A page whose script is `script`, by Vite; of the version that `vite` is the program of. */
export const viteBuild = async (project, vite, script) => {
  const name = `vite-${script.replace(".js", "")}`;
  project.write({ "index.html": page(`/${script}`) });
  await output(process.execPath, [vite, "build", "--outDir", name, "--emptyOutDir"], project.folder);
  // It moves the modules, so it should find that their texts are never asked for.
  assert.deepEqual(
    readdirSync(project.at(name, "assets")).filter((file) => file.includes("_text")),
    [],
  );
  return check((await outcomeOf(project.at(name))).outcome);
};

export const viteServer = async (project, vite, script) => {
  project.write({ "index.html": page(`/${script}`) });
  const server = await served(process.execPath, [vite, "--port", "0", "--force"], project.folder);
  try {
    return check((await outcome(`${server.address}/`)).outcome);
  } finally {
    server.end();
  }
};

const vite = tool("vite", "bin", "vite.js");

const importMap = (project) => project.write({ "mapped.html": mapped("./page.js") });

/** `[environment, what is done there, the tool's own fault if it has one]`; what fails throws. */
export const common = [
  ["Node, import", (project) => nodeModule(project)],
  ["Node, require", async (project) => check(await project.node("print.cjs"))],
  [
    "Node, require where ES modules cannot be required",
    async (project) => check(await project.node("--no-experimental-require-module", "print.cjs")),
  ],
  [
    "Node, isoflat/inline",
    async (project) => {
      writeInline(project);
      return check(await project.node("inline/print.js"));
    },
  ],
  [
    "Node, a thread",
    async (project) => {
      project.write({
        "thread.js": `import { isMainThread, Worker } from "node:worker_threads";
import { fileURLToPath } from "node:url";
import { eigenvalue } from "./eigenvalue.js";
if (isMainThread) new Worker(fileURLToPath(import.meta.url));
else console.log(await eigenvalue());
`,
      });
      return check(await project.node("thread.js"));
    },
  ],
  [
    "Chrome, import map",
    async (project) => {
      importMap(project);
      const found = await outcomeOf(project.folder, "mapped.html");
      // Chrome has relaxed SIMD; the texts are for those who find no file.
      assert(found.fetched.includes("isoflat_relaxed_bg.wasm"), found.fetched.join());
      assert(!found.fetched.some((name) => name.endsWith("_text.js")), found.fetched.join());
      return check(found.outcome);
    },
  ],
  [
    "Chrome, a file beside it missing",
    async (project) => {
      importMap(project);
      const text = readFileSync(project.at("node_modules", "isoflat", "pkg", "beside.js"), "utf8");
      const other = text.replaceAll("_bg.wasm", "_nowhere.wasm");
      assert.notEqual(other, text);
      writeFileSync(project.at("node_modules", "isoflat", "pkg", "beside.js"), other);
      try {
        return check((await outcomeOf(project.folder, "mapped.html")).outcome);
      } finally {
        writeFileSync(project.at("node_modules", "isoflat", "pkg", "beside.js"), text);
      }
    },
  ],
  [
    "esbuild, a script for browsers",
    async (project) => check((await outcomeOf(await bundled(project, "esbuild", { format: "iife" }))).outcome),
  ],
  [
    "esbuild, a page that is a file",
    async (project) => {
      const folder = await bundled(project, "esbuild-file", { format: "iife" });
      project.write({
        "esbuild-file/index.html": '<!doctype html><meta charset="utf-8"><script src="page.js"></script>\n',
      });
      return check((await outcome(pathToFileURL(join(folder, "index.html")).href)).outcome);
    },
  ],
  [
    "esbuild, with chunks",
    async (project) => {
      const folder = await bundled(project, "esbuild-chunks", { format: "esm", splitting: true });
      return check((await outcomeOf(folder)).outcome);
    },
  ],
  [
    "esbuild, isoflat/inline",
    async (project) => {
      writeInline(project);
      const folder = site(project, "esbuild-inline", "page.js");
      await bundled(project, "esbuild-inline", { format: "iife", entryPoints: [project.at("inline", "page.js")] });
      const found = await outcomeOf(folder);
      assert.deepEqual(
        found.fetched.filter((name) => /wasm|text/.test(name)),
        [],
      );
      return check(found.outcome);
    },
  ],
  [
    "esbuild, for Node",
    async (project) => {
      for (const [format, ending] of [
        ["esm", ".mjs"],
        ["cjs", ".cjs"],
      ]) {
        const outExtension = { ".js": ending };
        await bundled(project, "esbuild-node", { format, platform: "node", outExtension }, "bundled.js");
        check(await project.node(join("esbuild-node", `bundled${ending}`)));
      }
      return "in both formats";
    },
  ],
  [
    "esbuild, minified: messages keep their words",
    async (project) => {
      project.write({
        "message.js":
          'import { Engine, Network } from "isoflat";\nfor (const Class of [Engine, Network]) try { new Class(); } catch (error) { console.log(error.message, error instanceof Error); }\n',
      });
      const how = { format: "esm", platform: "node", minify: true, outExtension: { ".js": ".mjs" } };
      await bundled(project, "esbuild-minified", how, "message.js");
      const said = await project.node(join("esbuild-minified", "message.mjs"));
      assert.match(said, /^Engine has .+Engine\.create.+true\nNetwork has .+Network\.dense.+true$/m);
      return "they do";
    },
  ],
  ["Rollup", (project) => rolledUp(project, "rollup", {})],
  ["Rollup, for browsers", (project) => rolledUp(project, "rollup-browser", { browser: true })],
  [
    "Rollup, a script",
    (project) => rolledUp(project, "rollup-script", { format: "iife" }),
    {
      says: /not supported for code-splitting builds/,
      because: "rollup/rollup#3490: scripts have no import(); isoflat/inline has none either, or inlineDynamicImports",
    },
  ],
  [
    "Rollup, a script, isoflat/inline",
    (project) => {
      writeInline(project);
      return rolledUp(project, "rollup-inline", { input: "inline/page.js", format: "iife" });
    },
  ],
  ["Vite 8, build", (project) => viteBuild(project, vite, "page.js")],
  ["Vite 8, build, a Worker", (project) => viteBuild(project, vite, "works.js")],
  ["Vite 8, development server", (project) => viteServer(project, vite, "page.js")],
  ["Vite 8, development server, a Worker", (project) => viteServer(project, vite, "works.js")],
  [
    "Vitest",
    async (project) => {
      project.write({
        "isoflat.test.js":
          'import { eigenvalue } from "./eigenvalue.js";\ntest("isoflat", async () => console.log(await eigenvalue()));\n',
      });
      return check(await project.node(tool("vitest", "vitest.mjs"), "run", "--globals", "--root", project.folder));
    },
  ],
];
