/** Every method, with options out of the grammar: absurd counts, wrong types, wrong bags, keys that nobody knows, cycles, NaN. */

import { methods } from "../api.mjs";
import { problem, statedByCounts } from "../problems.mjs";

const points = (random) => ({
  problem: problem(random),
  precision: random.pick(["f64", "f64", "f32"]),
  engine: random.chance(0.9) ? "kept" : "fresh",
});

/** A call of one method; `expect` is what the grammar knows of its arguments. */
export function draw(random, method) {
  const drawn = method.args.map((arg) => arg(random));
  const refused = drawn.some(({ valid }) => valid === false);
  const { name: call, promise, slow: guard } = method;
  // What is valid may still not fit the network: only what is wrong in itself is known to be refused.
  return { call, promise, guard, args: drawn.map(({ value }) => value), ...(refused && { expect: "refused" }) };
}

export default {
  name: "options",
  targets: ["wasm", "chrome"],
  stated: ({ steps }) => statedByCounts(steps),
  generate(random) {
    return { setup: points(random), steps: [draw(random, random.pick(methods))] };
  },
};
