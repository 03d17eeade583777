/**
 * Values for options, out of a grammar. A type draws `{ value, valid }`: `valid` is true where the call must take it, false where
 * it must refuse it, and undefined where either will do (a count so large that it may be refused, a null for "default").
 */

import { $ } from "./values.mjs";

const yes = (value) => ({ value, valid: true });
const no = (value) => ({ value, valid: false });
const maybe = (value) => ({ value, valid: undefined });

/** What is never a number, a name or a list. */
const foreign = (random) =>
  no(
    random.pick([
      {},
      $("symbol"),
      $("bigint", { value: "3" }),
      $("function"),
      $("date"),
      $("map", { entries: [] }),
      $("cyclic", { shape: "object" }),
      $("proxy", { of: {}, trap: "revoked" }),
      $("proxy", { of: {}, trap: "get" }),
      $("throwsAsPrimitive"),
      $("thenable"),
      $("deep", { depth: 20_000, shape: "array" }),
      $("deep", { depth: 20_000, shape: "object" }),
    ]),
  );

const notNumbers = (random) =>
  random.chance(0.4)
    ? foreign(random)
    : no(random.pick(["3", "", "NaN", true, false, [], [3], $("NaN"), $("Infinity"), $("-Infinity")]));

/** Larger than anything computes: refused, or under way until it is stopped. */
export const absurd = [2 ** 28, 1e8, 1e6, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 5, 2 ** 53, 2 ** 40, 65_536, 1e5];
const notCounts = [-1, 0.5, 1e300, 2 ** 64, -(2 ** 31), 1.0000001, -0.5];

/** A draw from the good values, the wild ones, the bad ones and what is no such thing at all. */
function type({ good, wild = [], bad = [], other = notNumbers }) {
  return (random) => {
    const dice = random.next();
    if (dice < 0.5) return yes(typeof good === "function" ? good(random) : random.pick(good));
    if (dice < 0.55) return maybe(random.pick([null, $("undefined")]));
    if (dice < 0.75 && wild.length > 0) return maybe(random.pick(wild));
    if (dice < 0.87 && bad.length > 0) return no(random.pick(bad));
    return other(random);
  };
}

export const count = (from = 1, to = 12) =>
  type({ good: (random) => random.between(from, to), wild: [0, 1, $("-0"), ...absurd], bad: notCounts });
/** A layer's number. */
export const layer = type({
  good: [1],
  wild: [2, 3, ...absurd.filter((number) => number !== 0)],
  bad: [0, ...notCounts],
});
export const index = type({ good: [0], wild: [1, 2, 3, ...absurd], bad: notCounts });
export const seed = type({
  good: (random) => random.int(1000),
  wild: [2 ** 32, 2 ** 53 - 1, 2 ** 53],
  bad: [-1, 0.5, 1e300],
});
/** A positive number. */
export const positive = (...good) =>
  type({ good, wild: [1e-300, 1e300, 5e-324, 1e-12, 1e12, 1.7976931348623157e308, $("-0"), 0, -1, -1e300] });
export const number = (...good) => type({ good, wild: [1e300, -1e300, 5e-324, 0, -1] });
export const flag = type({
  good: [true, false],
  other: (random) => (random.chance(0.5) ? foreign(random) : no(random.pick(["true", 0, 1, "", []]))),
});
/** Where options may be given instead: the empty object is none too many. */
export const flagOrOptions = (random) => {
  const drawn = flag(random);
  return JSON.stringify(drawn.value) === "{}" ? yes(drawn.value) : drawn;
};

const notNames = (random) =>
  random.chance(0.4)
    ? foreign(random)
    : no(
        random.pick([
          1,
          -1,
          true,
          [],
          ["hessian"],
          $("NaN"),
          "",
          "none such",
          "HESSIAN",
          " ",
          $("text", { length: 100_000 }),
        ]),
      );
export const name = (...names) =>
  Object.assign(type({ good: names, bad: ["nothing", "__proto__", "constructor"], other: notNames }), { names });

export const operator = type({
  good: [
    "hessian",
    "gauss_newton",
    "hessian.weights",
    "gauss_newton.layer_1",
    "riemannian.nodewise_flat",
    "riemannian.layerwise_levi_civita",
  ],
  wild: ["hessian.layer_2", "riemannian.nodewise_gauss_newton.layer_1", "hessian.layer_99"],
  bad: [
    "hessian.layer_0",
    "hessian.layer_-1",
    "hessian.layer_99999999999999999999",
    "hessian.",
    ".weights",
    "hessian.weights.weights",
  ],
  other: notNames,
});

const objects = (...list) =>
  type({
    good: list.filter(([, valid]) => valid === true).map(([value]) => value),
    wild: list.filter(([, valid]) => valid === undefined).map(([value]) => value),
    bad: list.filter(([, valid]) => valid === false).map(([value]) => value),
    // What is no such object, unless it is one by chance.
    other: (random) => {
      const found = notNames(random);
      const same = list.find(([value]) => JSON.stringify(value) === JSON.stringify(found.value));
      return same === undefined ? found : { value: found.value, valid: same[1] };
    },
  });

export const space = objects(
  [{ type: "weights" }, true],
  [{ type: "g_space" }, undefined],
  [{ type: "g_space", biases: "paths" }, undefined],
  [{ type: "weight_fixing", choice: "hungarian" }, undefined],
  [{ type: "g_space", choice: "hungarian_distance" }, undefined],
  [{ type: "weight_fixing", values: { set: 1 } }, undefined],
  [{ type: "weight_norm", grouping: "layer" }, undefined],
  [{ type: "weight_fixing", values: { set: 0 } }, undefined],
  [{ type: "weight_fixing", values: { set: 1e308 } }, undefined],
  [{ type: "g_space", values: "reparametrize" }, undefined],
  [{ type: "g_space", values: { set: 1 }, tree: { set: 1 } }, undefined],
  [{ type: "g_space", tree: { set: -1e-300 } }, undefined],
  [{ type: "g_space", tree: { set: 0 } }, undefined],
  [{ type: "batch_norm", statistics: [] }, true],
  [{ type: "batch_norm", statistics: [{ layer: 1, mean: [0.5], deviation: [2] }] }, undefined],
  [{ type: "batch_norm" }, false],
  [{ type: "batch_norm", statistics: [{ layer: -1, mean: [], deviation: [] }] }, false],
  [{ type: "nowhere" }, false],
  [{}, false],
  [{ type: "weight_fixing", choice: "best" }, false],
  [{ type: "g_space", extra: 1 }, false],
  [{ type: "weight_fixing", values: { set: "1" } }, false],
  [{ type: "g_space", tree: "reparametrize" }, false],
  [{ type: "weight_fixing", tree: "keep" }, false],
  [{ type: "weight_norm", grouping: 3 }, false],
);

export const optimizer = objects(
  [{ type: "sgd", learningRate: 0.05 }, true],
  [{ type: "sgd", learningRate: 0.05, momentum: 0.9 }, true],
  [{ type: "adam", learningRate: 0.01 }, true],
  [{ type: "adam_w", learningRate: 0.01, beta1: 0.5, beta2: 0.9, epsilon: 1e-8 }, true],
  [{ type: "sgd", learningRate: 1e300 }, undefined],
  [{ type: "sgd", learningRate: 1e10, momentum: 0.99 }, undefined],
  [{ type: "adam", learningRate: 1e-300 }, undefined],
  [{ type: "adam", learningRate: 1e38 }, undefined],
  [{ type: "adam", learningRate: 0.1, epsilon: 0 }, undefined],
  [{ type: "adam", learningRate: 0.1, beta1: 1 }, undefined],
  [{ type: "sgd", learningRate: 0 }, undefined],
  [{ type: "sgd", learningRate: -1 }, undefined],
  [{ type: "sgd" }, false],
  [{ type: "sgd", learningRate: "0.1" }, false],
  [{ type: "sgd", learningRate: $("NaN") }, false],
  [{ type: "lbfgs", learningRate: 1 }, false],
  [{ type: "sgd", learning_rate: 0.1 }, false],
  [{ type: "sgd", learningRate: 0.1, nesterov: true }, false],
  [{ type: "adam", learningRate: 0.1, momentum: 0.9 }, false],
  [{}, false],
);

export const schedule = objects(
  [{}, true],
  [{ warmUpSteps: 3 }, true],
  [{ decay: { type: "cosine", epochs: 3 } }, true],
  [{ decay: { type: "step", every: 1, factor: 0.5 } }, true],
  [{ decay: { type: "linear", epochs: 2, minimum: 0.1 } }, true],
  [{ decay: { type: "exponential", factor: 0.5 } }, true],
  [{ warmUpSteps: 2 ** 53 }, undefined],
  [{ decay: { type: "step", every: 0, factor: 0.5 } }, undefined],
  [{ decay: { type: "cosine", epochs: 0 } }, undefined],
  [{ decay: { type: "exponential", factor: 1e300 } }, undefined],
  [{ decay: { type: "exponential", factor: 0 } }, undefined],
  [{ warmUpSteps: -1 }, false],
  [{ warmUpSteps: 0.5 }, false],
  [{ decay: { type: "sudden" } }, false],
  [{ decay: "cosine" }, false],
  [{ warmup: 3 }, false],
  [{ decay: { type: "step", every: 1.5, factor: 0.5 } }, false],
  [{ decay: { type: "cosine", epochs: $("NaN") } }, false],
);

export const region = objects(
  [{ type: "ball" }, true],
  [{ type: "box" }, true],
  [{ type: "cube" }, true],
  [{ type: "subspace", dimension: 2 }, true],
  [{ type: "subspace_box", dimension: 2 }, true],
  [{ type: "riemannian_layerwise" }, true],
  [{ type: "riemannian_nodewise" }, true],
  [{ type: "subspace", dimension: 0 }, undefined],
  [{ type: "subspace", dimension: 1000 }, undefined],
  [{ type: "subspace_box", dimension: 2 ** 28 }, undefined],
  [{ type: "subspace" }, false],
  [{ type: "subspace", dimension: -1 }, false],
  [{ type: "subspace", dimension: 0.5 }, false],
  [{ type: "sphere" }, false],
  [{}, false],
  [{ type: "ball", radius: 1 }, false],
);

export const transformation = objects(
  [{ type: "random_layerwise", seed: 1, low: 0.5, high: 2 }, true],
  [{ type: "random_nodewise", seed: 1, low: 0.5, high: 2 }, true],
  [{ type: "random_permutation", seed: 1 }, true],
  [{ type: "composition", of: [{ type: "random_permutation", seed: 1 }] }, true],
  [{ type: "composition", of: [] }, undefined],
  [{ type: "random_nodewise", seed: 1, low: 1e-300, high: 1e300 }, undefined],
  [{ type: "random_layerwise", seed: 1, low: 2, high: 0.5 }, undefined],
  [{ type: "random_layerwise", seed: 1, low: 1, high: 1 }, undefined],
  [{ type: "alpha_scale", alpha: 2 }, undefined],
  [{ type: "alpha_scale", alpha: 1e-320 }, undefined],
  [{ type: "layerwise", lambda: [1e200, 1e-200] }, undefined],
  [$("composition", { depth: 5000, core: { type: "random_permutation", seed: 1 } }), undefined],
  [$("composition", { depth: 100_000, core: { type: "random_permutation", seed: 1 } }), undefined],
  [{ type: "composition", of: Array(2000).fill({ type: "random_permutation", seed: 1 }) }, undefined],
  [{ type: "alpha_scale", alpha: 0 }, false],
  [{ type: "alpha_scale", alpha: "2" }, false],
  [{ type: "layerwise", lambda: [] }, false],
  [{ type: "layerwise", lambda: [-1, -1] }, false],
  [{ type: "layerwise", lambda: [$("NaN"), 1] }, false],
  [{ type: "nodewise", factors: [[0]] }, false],
  [{ type: "permutation", permutations: [[0, 0]] }, false],
  [{ type: "permutation", permutations: [[-1]] }, false],
  [{ type: "permutation", permutations: [[2 ** 32]] }, false],
  [{ type: "composition", of: {} }, false],
  [{ type: "random_permutation" }, false],
  [{ type: "mirror" }, false],
  [{}, false],
  [{ type: "random_permutation", seed: -1 }, false],
);

/** A list of another type: valid if all its members are. */
export const list =
  (member, from = 1, to = 2) =>
  (random) => {
    if (random.chance(0.15)) {
      const other = notNames(random);
      if (random.chance(0.5)) return maybe([]);
      // It may be such a list by chance: the empty one, or one of the names.
      const isOne = Array.isArray(other.value) && other.value.every((value) => member.names?.includes(value));
      return isOne ? maybe(other.value) : other;
    }
    const drawn = Array.from({ length: random.between(from, to) }, () => member(random));
    const valid = drawn.some((of) => of.valid === false) ? false : drawn.every((of) => of.valid === true) || undefined;
    return { value: drawn.map((of) => of.value), valid };
  };

/** A whole options object: now and then something else in its place, or with a key that is not known, or one left out. */
export function options(fields, required = []) {
  const bag = (random) => {
    const chosen = Object.entries(fields).filter(([key]) => required.includes(key) || random.chance(0.35));
    const value = {};
    let valid = true;
    const left = random.chance(0.03) && required.length > 0 ? random.pick(required) : undefined;
    for (const [key, draw] of chosen) {
      if (key === left) continue;
      const drawn = draw(random);
      value[key] = drawn.value;
      if (drawn.valid === false || (valid && drawn.valid === undefined)) valid = drawn.valid;
      // A null in place of what is required may be refused or not.
    }
    if (left !== undefined) valid = false;
    if (random.chance(0.08)) {
      value[random.pick(["probe", "max_products", "Seed", "learningrate", "__proto", "0", ""])] = 1;
      valid = false;
    }
    return { value, valid };
  };
  return (random) => {
    if (random.chance(0.85)) return bag(random);
    if (random.chance(0.6)) {
      const whole = random.pick([
        "",
        "text",
        0,
        5,
        true,
        false,
        [],
        [1],
        $("map", { entries: [["seed", 1]] }),
        $("map", { entries: [] }),
        $("set", { values: [1] }),
        $("symbol"),
        $("bigint", { value: "1" }),
        $("date"),
        $("function"),
        $("NaN"),
        $("f64", { values: [1] }),
        $("proxy", { of: {}, trap: "ownKeys" }),
        $("proxy", { of: { seed: 1 }, trap: "get" }),
        $("proxy", { of: {}, trap: "revoked" }),
      ]);
      return no(whole);
    }
    const { value, valid } = bag(random);
    return random.pick([
      maybe($("proxy", { of: value, trap: "none" })),
      maybe($("instance", { of: value })),
      { value: $("bare", { of: value }), valid },
      maybe($("inherited", { of: value })),
      no($("getter", { key: random.pick(Object.keys(fields)), rest: value })),
      no($("cyclic", { shape: "object" })),
    ]);
  };
}
