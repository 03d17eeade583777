/**
 * Every model among the fixtures, in the module: its addresses have 32 bits, and the native tests', which try the same files, 64.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import init, { Engine, openModel, Problem } from "isoflat";

await init();
const at = (name) => new URL(`fixtures/${name}`, import.meta.url);
const file = (name) => ({ name: name.split("/").at(-1), bytes: readFileSync(at(name)) });
const json = (name) => JSON.parse(readFileSync(at(name), "utf8"));

const engine = await Engine.create({ backend: "cpu", precision: "f64", threads: 1 });

/** What the model's network gives, beside what the program gave that wrote the file. */
async function check(name, files, { inputs, outputs }) {
  const { network, parameters } = await openModel(files);
  const samples = inputs.length / network.inputLength;
  const targets = new Float64Array(samples * network.outputLength);
  const problem = new Problem(network, { loss: "squared_error", inputs: Float64Array.from(inputs), targets });
  const found = await engine.outputs(problem, parameters);
  assert.equal(found.length, outputs.length, name);
  const largest = Math.max(...outputs.map(Math.abs));
  const off = Math.max(...outputs.map((value, i) => Math.abs(value - found[i]))) / largest;
  // The files' programs compute in single precision.
  assert(off < 2e-5, `${name}: off by ${off.toExponential(1)}`);
  problem.free();
  network.free();
}

const records = Object.entries(json("onnx/outputs.json"));
for (const [name, record] of records) {
  const beside = readdirSync(at("onnx")).filter((other) => other.startsWith(`${name}.onnx`));
  await check(
    name,
    beside.map((other) => file(`onnx/${other}`)),
    record,
  );
}
assert(records.length > 20);

/** A checkpoint and the same tensors as NumPy's: one network with the same parameters, or two refusals. */
const opened = (name) => openModel(file(name)).catch((error) => error);
const pairs = readdirSync(at("pytorch")).filter((name) => name.endsWith(".pt"));
let compared = 0;
for (const name of pairs) {
  const twin = name.replace(".pt", ".npz");
  if (!readdirSync(at("pytorch")).includes(twin)) continue;
  const [own, other] = [await opened(`pytorch/${name}`), await opened(`pytorch/${twin}`)];
  assert.equal(own instanceof Error, other instanceof Error, `${name}: ${own.message} / ${other.message}`);
  if (own instanceof Error) continue;
  assert.deepEqual(own.parameters, other.parameters, name);
  compared += 1;
}
assert(compared > 2, `${compared} pairs`);
console.log(
  `opened in the module: ${records.length} ONNX files with their outputs, ${compared} checkpoints beside NumPy's`,
);
