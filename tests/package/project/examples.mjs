/**
 * Runs every example of the documentation: those of the declarations, of which each class's method and each function must have one, and
 * the guides' blocks of JavaScript, one after the other as one program; and the README's first, of a published network. What an example prints is what it says beside or below it.
 * Where the engine has no `using`, esbuild makes what it has of it: ISOFLAT_ESBUILD is where that is.
 * TypeScript is left to `tsc`, with tsconfig.examples.json.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import * as isoflat from "isoflat";

const run = promisify(execFile);
const at = (name) => fileURLToPath(new URL(name, import.meta.url));
const installed = (name) => fileURLToPath(new URL(name, import.meta.resolve("isoflat/isoflat_bg.wasm")));
const guide = (name) => readFile(at(`guides/${name}`), "utf8");

/** Fenced blocks of a text: their language and what is in them. */
const blocksOf = (text) =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({ language, code }));

/** What the examples begin with, unless they begin by themselves: the first block of the documentation's first page. */
const [{ code: setup }] = blocksOf(await guide("index.md"));
const isWhole = (code) => /^import init\b|^import .*\binitSync\b/m.test(code);

/** Comments and the names of what they are of, `Engine.product` or `parseIdx`, in declarations. */
function* documented(declarations) {
  const pattern = /^(?: {2})?\/\*\*((?:[^*]|\*(?!\/))*)\*\/\n(.*)$/gm;
  for (const { 1: comment, 2: line, index } of declarations.matchAll(pattern)) {
    const [, name] = /^(?: {2})?(?:export (?:default )?function |static )?(\w+|\[Symbol\.dispose\])\(/.exec(line) ?? [];
    if (!name) continue;
    const isMember = line.startsWith("  ");
    const [, owner] = isMember ? (/.*^export class (\w+)/ms.exec(declarations.slice(0, index)) ?? []) : [];
    yield { name: owner ? `${owner}.${name}` : name, comment: comment.replace(/^ *\* ?/gm, "") };
  }
}

/** Every method of the package's classes and every function, as they are: nobody has to name them here. */
function* callable() {
  for (const [name, value] of Object.entries(isoflat)) {
    if (!/^class\b/.test(Function.prototype.toString.call(value))) yield name === "default" ? "init" : name;
    else if (value !== isoflat.IsoflatError) {
      const methods = new Set();
      for (let own = value.prototype; own !== Object.prototype; own = Object.getPrototypeOf(own)) {
        for (const [key, { value: method }] of Object.entries(Object.getOwnPropertyDescriptors(own))) {
          if (typeof method === "function" && key !== "constructor") methods.add(key);
        }
        if (Symbol.dispose && Object.hasOwn(own, Symbol.dispose)) methods.add("[Symbol.dispose]");
      }
      for (const [key, { value: method }] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
        if (typeof method === "function") methods.add(key);
      }
      for (const method of methods) yield `${name}.${method}`;
    }
  }
}

/** Before an example: `said` holds what was printed last against what stands beside it, `printed` all since the block began. */
const HEARS = `import assert from "node:assert/strict";
import { format } from "node:util";
const lines = [];
console.log = (...values) => void lines.push(...format(...values).split("\\n"));
const complain = console.error;
console.error = (...values) => values.join().includes("crash() was called") || complain(...values);
globalThis.said = (expected) => assert.equal(lines.at(-1), expected);
globalThis.printed = (expected) => assert.equal(lines.splice(0).join("\\n").trimEnd(), expected.trimEnd());
`;

/** An example with its claims: `console.log(…); // 0.25`. */
const claiming = (code) =>
  code.replace(/^(\s*console\.log\(.*\);) \/\/ (.*)$/gm, (_, call, says) => `${call} said(${JSON.stringify(says)});`);

const hasUsing = (() => {
  try {
    return new Function("using x = null;") !== undefined;
  } catch {
    return false;
  }
})();
assert(hasUsing || process.env.ISOFLAT_ESBUILD, "ISOFLAT_ESBUILD must say where esbuild is: this engine has no using");
const esbuild = hasUsing ? undefined : (await import(pathToFileURL(process.env.ISOFLAT_ESBUILD))).default;

/** A program as this engine takes it. Imports stay where they are: first. */
async function lowered(text) {
  if (hasUsing || !/^\s*using /m.test(text)) return text;
  const { code } = await esbuild.transform(text, { format: "esm", target: "node20" });
  return code;
}

await mkdir(at("examples"), { recursive: true });
await writeFile(at("examples/hears.mjs"), HEARS);
const hears = 'import "./hears.mjs";\n';
const failures = [];

async function attempt(name, work) {
  try {
    await work();
  } catch (error) {
    failures.push(`${name}: ${error.stderr || error.stack || error}`);
  }
}

/** In a process of its own, so that it finds no module loaded: what is a whole program. */
async function runProgram(name, text) {
  const file = at(`examples/${name}.mjs`);
  await attempt(name, async () => {
    await writeFile(file, await lowered(text));
    await run(process.execPath, [file], { cwd: at(".") });
  });
}

const typed = [];
const keep = async (name, code) => {
  typed.push(`examples/${name}.ts`);
  await writeFile(at(`examples/${name}.ts`), `${isWhole(code) ? "" : setup}\n${code}\nexport {};\n`);
};

const missing = new Set(callable());
const print = console.log;
let count = 0;

async function examplesOfDeclarations() {
  for (const file of ["isoflat.d.ts", "files.d.ts"]) {
    for (const { name, comment } of documented(await readFile(installed(file), "utf8"))) {
      const [, ...examples] = comment.split(/^@example.*$/m);
      const blocks = examples.flatMap(blocksOf);
      if (blocks.length === 0) {
        if (name.endsWith(".constructor")) missing.add(name);
        continue;
      }
      missing.delete(name);
      for (const [i, { language, code }] of blocks.entries()) {
        const title = `${name.replace(/[[\]]/g, "")}-${i}`;
        count++;
        if (language === "ts") await keep(title, code);
        else if (isWhole(code)) await runProgram(title, hears + claiming(code));
        else {
          await attempt(title, async () => {
            await writeFile(at(`examples/${title}.mjs`), await lowered(`${hears}${setup}\n${claiming(code)}`));
            await import(pathToFileURL(at(`examples/${title}.mjs`)));
          });
        }
      }
    }
  }
}

async function blocksOfGuides() {
  const guides = (await readdir(at("guides"))).filter((name) => name.endsWith(".md"));
  for (const name of guides) {
    const blocks = blocksOf(await guide(name));
    const own = blocks.filter(({ language }) => language === "js");
    for (const [i, { code }] of blocks.filter(({ language }) => language === "ts").entries())
      await keep(`${name}-${i}`, code);
    if (own.length === 0) continue;
    const steps = blocks.flatMap(({ language, code }, i) => {
      if (language === "js") return [claiming(code)];
      // What stands below a block is what it prints.
      return language === "text" && blocks[i - 1]?.language === "js" ? [`printed(${JSON.stringify(code)});`] : [];
    });
    await runProgram(name, `${hears}${isWhole(own[0].code) ? "" : setup}\n${steps.join("\n")}`);
    count += own.length;
  }
}

/** With the files that a person would choose. */
const FILES = `import { readFileSync } from "node:fs";
const chosen = (name) => new File([readFileSync(name)], name);
const [file, test] = ["resnet20-12fca82f.th", "cifar10_first32.npz"].map(chosen);
`;

async function firstOfReadme() {
  const [first, below] = blocksOf(await readFile(at("README.md"), "utf8")).filter(({ language }) =>
    /^(js|text)$/.test(language),
  );
  assert(isWhole(first.code) && below.language === "text", "the README begins with a whole program and what it prints");
  await runProgram("README", `${hears}${FILES}${first.code}\nprinted(${JSON.stringify(below.code)});`);
}

// Programs are processes of their own, which may go on beside the examples.
await Promise.all([examplesOfDeclarations(), blocksOfGuides().then(firstOfReadme)]);
console.log = print;

await writeFile(
  at("tsconfig.examples.json"),
  JSON.stringify({
    extends: "./tsconfig.bundler.json",
    compilerOptions: { lib: ["ES2022", "ESNext.Disposable", "DOM"] },
    files: typed,
  }),
);
assert.deepEqual(failures, [], "examples that fail");
assert.deepEqual([...missing], [], "methods and functions without an example");
console.log(`${count} examples and blocks of guides hold, ${typed.length} of them for tsc`);
