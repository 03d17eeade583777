/** Models, weights and data of other programs, through the public interface; and back. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import init, {
  Engine,
  IsoflatError,
  Network,
  openData,
  openModel,
  Problem,
  proposeNetwork,
  saveModel,
  sortFiles,
} from "isoflat";

await init({ module_or_path: readFileSync(fileURLToPath(import.meta.resolve("isoflat/isoflat_bg.wasm"))) });

const file = (name) => ({ name, bytes: new Uint8Array(readFileSync(new URL(`fixtures/${name}`, import.meta.url))) });
const near = (found, expected, tolerance) =>
  assert(Math.abs(found - expected) <= tolerance * Math.abs(expected), `${found} is not ${expected}`);
const norm = (values) => Math.sqrt(values.reduce((sum, x) => sum + x * x, 0));

// A published ResNet-20, in PyTorch's format of before 1.6, with `module.` before its names.
const weights = file("published/resnet20-12fca82f.th");
const images = file("published/cifar10_first32.npz");
assert.deepEqual(await sortFiles([images, weights]), { model: [1], data: [0] });
const resnet = await openModel(weights);
assert.equal(resnet.network.parameterCount, 269_722);
assert(
  resnet.notes.some((note) => note.includes("resnet20")),
  `the preset is not named: ${resnet.notes}`,
);
const data = await openData(images, { shape: resnet.network.inputShape, outputs: 10, normalization: "imagenet" });
assert.deepEqual([data.samples, data.loss, data.shape], [32, "cross_entropy", [3, 32, 32]]);
const { loss, inputs, targets } = data;
const problem = new Problem(resnet.network, { loss, inputs, targets });
const engine = await Engine.create({ backend: "cpu", precision: "f64" });
const evaluated = await engine.evaluate(problem, resnet.parameters);
near(evaluated.loss, 0.010370075748057874, 1e-9);
near(norm(await engine.gradient(problem, resnet.parameters)), 1.4605012985655879, 1e-9);

// γ and β in place of what they are in a scale.
const { statistics } = resnet;
assert.equal(statistics.length, 19);
const space = resnet.network.space(resnet.parameters, { type: "batch_norm", statistics });
const coordinates = space.toCoordinates(resnet.parameters);
const [norm1] = statistics;
// The first is the second layer with parameters, behind the first convolution.
assert.equal(norm1.layer, 2);
const block = resnet.network.blocks().find(({ layer, kind }) => layer === norm1.layer && kind === "weight");
near(coordinates[block.start], resnet.parameters[block.start] * norm1.deviation[0], 1e-14);
const back = space.toParameters(coordinates);
assert(back.every((x, i) => Math.abs(x - resnet.parameters[i]) <= 1e-13 * (1 + Math.abs(x))));

// Folded instead, the same function of other parameters; and bent, saved under the file's own names, and opened again.
const { network, parameters } = resnet;

const bent = network.transform(parameters, { type: "random_nodewise", seed: 3, low: 0.5, high: 2 });
for (const format of ["safetensors", "npz"]) {
  const saved = await saveModel(resnet, bent, { format });
  const again = await openModel({ name: `bent.${format}`, bytes: saved });
  const there = await engine.evaluate(new Problem(again.network, { loss, inputs, targets }), again.parameters);
  near(there.loss, evaluated.loss, 1e-4);
  assert(Math.abs(again.parameters[0] - bent[0]) <= 1e-6 * Math.abs(bent[0]), format);
}

// A published LeNet, in PyTorch's zip format.
const lenet = await openModel(file("published/lenet_example.pth"));
assert.equal(lenet.network.parameterCount, 61_706);
assert.equal(lenet.network.summary, Network.preset("lenet").summary);

// Its layers as its shapes alone tell them; a file that says itself which network it is has nothing to propose.
const proposed = await proposeNetwork(file("published/lenet_example.pth"), { input: [1, 32, 32] });
assert.deepEqual(proposed.input, [1, 32, 32]);
assert.deepEqual(
  proposed.layers.flatMap(({ type, channels, units }) =>
    type === "relu" || type === "flatten" ? [] : [channels ?? units],
  ),
  [6, 16, 120, 84, 10],
);
// What was guessed is said; rows of zeros with a 1 are classes, whoever asks.
const table = (text) => ({ name: "table.csv", bytes: new TextEncoder().encode(text) });
const signed = await openData(table("a,b,label\n1,2,-1\n3,4,1\n"));
assert.equal(signed.loss, "squared_error");
assert(
  signed.notes.some((note) => note.includes("taken for quantities")),
  signed.notes.join(),
);
const rows = { name: "y.npy", bytes: npy([2, 3], [0, 1, 0, 0, 0, 1]) };
const hot = await openData([{ name: "x.npy", bytes: npy([2, 2], [1, 2, 3, 4]) }, rows]);
assert.deepEqual([hot.loss, ...hot.targets], ["cross_entropy", 1, 2]);
assert(
  hot.notes.some((note) => note.includes("squared_error would take the rows")),
  hot.notes.join(),
);

/** An array of doubles as NumPy writes it. */
function npy(shape, values) {
  const described = `{'descr': '<f8', 'fortran_order': False, 'shape': (${shape.join(", ")},), }`;
  const text = `${described.padEnd(117)}\n`;
  const head = [0x93, ...new TextEncoder().encode("NUMPY"), 1, 0, text.length, 0, ...new TextEncoder().encode(text)];
  return Uint8Array.from([...head, ...new Uint8Array(new Float64Array(values).buffer)]);
}

// A problem in one binary file.
const small = Network.dense([4, 3, 2]);
const theta = small.initialize({ seed: 1 });
const synthetic = Problem.synthetic(small, { samples: 5, seed: 2 });
const opened = await openModel(await saveModel(synthetic, theta, { name: "five" }));
assert.deepEqual([opened.name, opened.parameters], ["five", theta]);
assert.deepEqual(opened.problem.data, synthetic.data);
await refused("invalid_option", ["which network"], async () => proposeNetwork(await saveModel(synthetic, theta)));
const own = await openModel([await saveModel(small, theta)], { network: small });
assert.deepEqual(own.parameters, theta);

/** Asserts that `work` rejects with an IsoflatError of this code that says these words. */
async function refused(code, words, work) {
  await assert.rejects(work, (error) => {
    assert(error instanceof IsoflatError, `not an IsoflatError: ${error}`);
    assert.equal(error.code, code, error.message);
    for (const word of words) assert(error.message.includes(word), error.message);
    return true;
  });
}

await refused("parse", ["none of the formats"], () => openModel(new Uint8Array([1, 2, 3])));
await refused("invalid_option", ["5"], () => openModel(5));
await refused("invalid_option", ["name"], () => openModel({ bytes: new Uint8Array(1), path: "x" }));
await refused("invalid_option", ["colour"], () => openModel(weights, { colour: "red" }));
await refused("invalid_network", ["[300, 784]"], () => openModel(weights, { network: "f1" }));
await refused("invalid_option", ["ONNX"], () => saveModel(lenet, lenet.parameters, { format: "onnx" }));
await refused("invalid_parameters", ["61706"], () => saveModel(lenet, new Float64Array(3)));
await refused("invalid_handle", ["Network"], () => saveModel({}, theta));
console.log("files: models and data of other programs are opened and saved");
