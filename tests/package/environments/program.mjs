/** What is run in every environment: the first eigenvalue of a golden case's Hessian, without any word about where the module is. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../scripts/lib/process.mjs";

const golden = JSON.parse(readFileSync(join(root, "tests", "golden", "mlp_bias.json"), "utf8"));
const known = golden.expected.hessian.max_eigenvalue;

const data = JSON.stringify({
  network: golden.network,
  inputs: golden.inputs.flat(),
  targets: golden.targets,
  parameters: golden.parameters,
});

/**
 * `eigenvalue()`: the eigenvalue, the same by an engine in a worker or the code of the error in its place, and how many bytes the module
 * for files makes of the parameters.
 */
const body = `
const { network: json, inputs, targets, parameters } = ${data};
async function eigenvalue() {
  await init();
  const network = Network.fromJSON(json);
  const problem = new Problem(network, { loss: "cross_entropy", inputs, targets });
  const engine = await Engine.create({ backend: "cpu" });
  const { top } = await engine.eigenvalues(problem, parameters);
  const saved = await saveModel(network, parameters);
  const worker = await inWorker(problem, parameters).catch((error) => error.code ?? String(error.stack));
  return JSON.stringify({ isoflat: { value: top[0].value, worker, saved: saved.length } });
}
async function inWorker(problem, parameters) {
  const engine = await Engine.create({ backend: "cpu", worker: true });
  const { top } = await engine.eigenvalues(problem, parameters);
  engine.free();
  return top[0].value;
}`;

const names = "Engine, Network, Problem, saveModel";
const module = (from) => `import init, { ${names} } from "${from}";\n${body}\nexport { eigenvalue };\n`;
const required = (from) =>
  `const { default: init, ${names} } = require("${from}");\n${body}\nmodule.exports = { eigenvalue };\n`;

const shown = "(error) => (globalThis.outcome = String(error?.stack ?? error))";

/** Files of a project that all environments' programs are made of; `from` is the package's entry. */
export const files = (from = "isoflat") => ({
  "eigenvalue.js": module(from),
  "eigenvalue.cjs": required(from),
  // In Node and what is like it: on standard output.
  "print.js": 'import { eigenvalue } from "./eigenvalue.js";\nconsole.log(await eigenvalue());\n',
  "print.cjs": 'require("./eigenvalue.cjs").eigenvalue().then(console.log);\n',
  // What is bundled for Node must not await at its top, which CommonJS has not.
  "bundled.js": 'import { eigenvalue } from "./eigenvalue.js";\neigenvalue().then(console.log);\n',
  // In a browser: as a global.
  "page.js": `import { eigenvalue } from "./eigenvalue.js";\neigenvalue().then((value) => (globalThis.outcome = value), ${shown});\n`,
  "worker.js": `import { eigenvalue } from "./eigenvalue.js";\neigenvalue().then(postMessage, (error) => postMessage(String(error?.stack ?? error)));\n`,
  "works.js": `const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
worker.onmessage = ({ data }) => (globalThis.outcome = data);
worker.onerror = (event) => (globalThis.outcome = "the worker fails: " + event.message);
`,
});

export const page = (script) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>isoflat</title></head><body><script type="module" src="${script}"></script></body></html>\n`;

/** A page that finds the package without a bundler. */
export function mapped(script) {
  const map = JSON.stringify({ imports: { isoflat: "./node_modules/isoflat/pkg/isoflat.js" } });
  return page(script).replace("</head>", `<script type="importmap">${map}</script></head>`);
}

/** Fails unless a program's output ends with what is known, to the last digits, and the worker's is `inWorker`; gives it in words. */
export function check(output, inWorker) {
  const line = String(output)
    .split("\n")
    .reverse()
    .find((text) => text.includes('{"isoflat":'));
  assert(line !== undefined, `no eigenvalue came: ${String(output).slice(-2000)}`);
  const { value, worker, saved } = JSON.parse(/\{"isoflat":\{.*?\}\}/.exec(line)[0]).isoflat;
  assert(Math.abs(value - known) < 1e-10 * known, `the eigenvalue is ${value}, not ${known}`);
  assert.equal(worker, inWorker ?? value, "in a worker");
  // Eight bytes a parameter and a header.
  assert(saved > 8 * golden.parameters.length, `the saved model has ${saved} bytes`);
  return value.toFixed(10);
}
