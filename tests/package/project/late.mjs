/** What a caller does after a call has been made changes nothing of it: arrays that are written to or given away, handles that are freed, stops that had been pressed. */

import assert from "node:assert/strict";
import vm from "node:vm";
import init, { Engine, IsoflatError, Network, openData, openModel, Problem, saveModel } from "isoflat";

// The address that the guide for bundlers makes.
const { memory } = await init(import.meta.resolve("isoflat/isoflat_bg.wasm"));

const network = Network.dense([4, 6, 3]);
const problem = Problem.synthetic(network, { samples: 20, seed: 3 });
const theta = network.initialize({ seed: 2 });
const other = network.initialize({ seed: 5 });
const plain = (value) => JSON.stringify(value, (_, entry) => (ArrayBuffer.isView(entry) ? [...entry] : entry));
/** Every way to spoil an array. */
const SPOILT = [(array) => array.fill(0), (array) => structuredClone(array, { transfer: [array.buffer] })];

for (const spoil of SPOILT) {
  const copy = theta.slice();
  const saved = saveModel(network, copy);
  spoil(copy);
  const bytes = await saved;
  assert.deepEqual((await openModel(bytes, { network })).parameters, theta, "what saveModel was given");
  const given = bytes.slice();
  const opening = openModel(given, { network });
  spoil(given);
  const model = await opening;
  assert.deepEqual(model.parameters, theta, "what openModel was given");
  // Where the model came from is read again.
  const again = await openModel(await saveModel(model, other), { network });
  assert.deepEqual(again.parameters, other, "a model whose bytes are gone is saved");
  const table = new TextEncoder().encode("a,b,label\n1,2,0\n3,4,1\n");
  const data = openData({ name: "a.csv", bytes: table });
  spoil(table);
  assert.deepEqual([...(await data).inputs], [1, 2, 3, 4], "what openData was given");
}

for (const worker of [false, true]) {
  const engine = await Engine.create({ backend: "cpu", worker });
  const first = { epochs: 2, batchSize: 5, snapshots: { count: 9 } };
  const { checkpoint, snapshots } = await engine.train(problem, theta, first);
  const optimizer = { type: "sgd", learningRate: 0.1 };
  const { checkpoint: sgd } = await engine.train(problem, theta, { epochs: 1, optimizer });
  assert(!("mean" in sgd) && !("square" in sgd), "what plain SGD has not is not there");
  const way = () => snapshots.map((snapshot) => snapshot.parameters.slice());
  const calls = {
    checkpoint: () => {
      const given = structuredClone(checkpoint);
      const run = () => engine.train(problem, theta, { epochs: 4, batchSize: 5, checkpoint: given });
      return { run, arrays: [given.coordinates] };
    },
    directions: () => {
      const [values, parameters] = [other.slice(), other.slice().reverse()];
      const directions = [
        { type: "vector", values },
        { type: "towards", parameters },
      ];
      const run = () => engine.landscape(problem, theta, { directions, points: 3 });
      return { run, arrays: [values, parameters] };
    },
    trajectory: () => {
      const trajectory = way();
      const directions = [{ type: "principal", component: 0 }];
      return { run: () => engine.landscape(problem, theta, { directions, trajectory, points: 3 }), arrays: trajectory };
    },
  };
  for (const [name, make] of Object.entries(calls)) {
    const expected = plain(await make().run());
    for (const spoil of SPOILT) {
      const { run, arrays } = make();
      const busy = engine.train(problem, theta, { epochs: 3 });
      const found = run();
      arrays.forEach(spoil);
      await busy;
      assert.equal(plain(await found), expected, `${name}, ${worker ? "in a worker" : "here"}`);
    }
  }

  const finish = AbortSignal.abort();
  for (let i = 0; i < 5; i++) {
    const { epochs, stopped } = await engine.train(problem, theta, { epochs: 10, finish });
    assert.deepEqual([epochs, stopped], [0, true], "a training that is to finish before it begins");
  }
  engine.free();
}

/** Problems that are freed leave no memory behind, though an engine has computed with them. */
{
  const engine = await Engine.create({ backend: "cpu" });
  const wide = Network.dense([1000, 2, 2]);
  const start = wide.initialize();
  const [inputs, targets] = [new Float64Array(1000 * 10_000), new Uint8Array(10_000)];
  const used = async () => {
    const large = new Problem(wide, { loss: "cross_entropy", inputs, targets });
    await engine.evaluate(large, start);
    large.free();
    return memory.buffer.byteLength;
  };
  const first = await used();
  let last = first;
  for (let i = 0; i < 5; i++) last = await used();
  assert(last - first < 0.5 * inputs.byteLength, `80 MB each, one after the other: from ${first} to ${last} bytes`);
  engine.free();
}

/** Many small calls leave nothing behind either. */
if (globalThis.gc) {
  const engine = await Engine.create({ backend: "cpu" });
  const after = async (calls) => {
    for (let i = 0; i < calls; i++) await engine.evaluate(problem, theta);
    await new Promise((resolve) => setTimeout(resolve, 50));
    globalThis.gc();
    return process.memoryUsage().heapUsed;
  };
  await after(2000);
  const before = await after(2000);
  const grown = ((await after(10_000)) - before) / 10_000;
  assert(grown < 100, `a call leaves ${grown} bytes`);
  engine.free();
}

const bytes = await saveModel(network, theta);
const foreign = new (vm.runInNewContext("ArrayBuffer"))(bytes.length);
new Uint8Array(foreign).set(bytes);
for (const files of [foreign, { name: "a", bytes: foreign }, { length: 1, 0: bytes }])
  assert.deepEqual((await openModel(files, { network })).parameters, theta, "files in whichever form");
const gone = new ArrayBuffer(8);
structuredClone(gone, { transfer: [gone] });
for (const files of [gone, { bytes: gone }])
  await assert.rejects(
    openModel(files, { network }),
    (error) => error instanceof IsoflatError && /read/.test(error.message),
  );
class Moved extends Blob {
  async arrayBuffer() {
    throw new DOMException("The file could not be read", "NotReadableError");
  }
}
await assert.rejects(
  openModel(new Moved([bytes])),
  (error) => error instanceof IsoflatError && error.code === "invalid_option" && /cannot be read/.test(error.message),
);
const forged = Object.setPrototypeOf(Network.dense([4, 6, 3]), Problem.prototype);
assert.throws(() => forged.samples, { code: "invalid_handle" });
console.log("what comes after a call changes nothing of it");
