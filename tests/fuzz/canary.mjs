/** A small call whose answer is known: it must stay right after whatever happened before, on the same engine and on a fresh one. */

import { file } from "./problems.mjs";
import { Reference } from "./reference.mjs";

const description = {
  network: { input: [3], layers: [{ type: "dense", units: 4 }, { type: "relu" }, { type: "dense", units: 2 }] },
  loss: "cross_entropy",
  samples: 5,
  seed: 7,
};
const small = file(description);
const reference = new Reference(small);
const expected = { loss: reference.loss(), gradient: reference.gradient() };
const LIMIT = { f64: 1e-12, f32: 1e-5 };

export async function checkCanary({ Network, Problem, Engine }, engine) {
  const faults = [];
  const network = Network.fromJSON(small.network);
  const inputs = Float64Array.from(small.inputs.flat());
  const problem = new Problem(network, { loss: small.loss, inputs, targets: Uint32Array.from(small.targets) });
  const parameters = Float64Array.from(small.parameters);
  const fresh = await Engine.create({ backend: "cpu" });
  for (const [name, of] of [
    ["same engine", engine],
    ["fresh engine", fresh],
  ]) {
    if (of === undefined) continue;
    try {
      const limit = LIMIT[of.info.precision];
      const gradient = await of.gradient(problem, parameters);
      const { loss } = await of.evaluate(problem, parameters);
      const worst = expected.gradient.reduce(
        (most, value, i) => Math.max(most, Math.abs(value - gradient[i])),
        Math.abs(loss - expected.loss),
      );
      if (!(worst <= limit)) faults.push({ failure: "canary", detail: `${name}: off by ${worst.toExponential(1)}` });
    } catch (error) {
      faults.push({ failure: "canary", detail: `${name}: ${error?.code ?? error?.name}: ${error?.message}` });
    }
  }
  for (const handle of [fresh, problem, network]) {
    try {
      handle.free();
    } catch (error) {
      faults.push({ failure: "cannot-free", detail: `canary: ${error?.message}` });
    }
  }
  return faults;
}
