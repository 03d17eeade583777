/** Where the runs of the thesis' experiments begin. */

import { expect, test } from "vitest";
import { beganWithOnes, METHODS, type MethodId, orderOf, run } from "../../www/src/spaces/methods";

const spaceOf = (method: MethodId, value?: number) => orderOf(run(method, 0.1, value), "a").space;

test("G-space runs begin with ones on the tree, whatever the fixed weights are", () => {
  for (const method of ["g_sgd", "g_adam"] as const) {
    expect(spaceOf(method)).toEqual({ type: "g_space", values: { set: 1 }, tree: { set: 1 } });
    expect(spaceOf(method, 3)).toEqual({ type: "g_space", values: { set: 3 }, tree: { set: 1 } });
  }
});

test("a skeleton that is kept as drawn is kept whole", () => {
  expect(spaceOf("g_sgd_kept", 3)).toEqual({ type: "g_space", values: "keep", tree: "keep" });
});

test("a network is rescaled to fixed weights of ±1 by each choice of them, whatever values are set to elsewhere", () => {
  const choices = {
    fixed_sgd_rescaled: "diagonal",
    fixed_sgd_rescaled_distance: "hungarian_distance",
    fixed_sgd_rescaled_factors: "hungarian",
  } as const;
  for (const [method, choice] of Object.entries(choices) as [keyof typeof choices, string][])
    expect(spaceOf(method, 3)).toEqual({ type: "weight_fixing", values: "reparametrize", choice });
});

test("the curvature is taken where ones on the skeleton were set, and neither kept weights nor a rescaling's", () => {
  const methods = (value?: number) =>
    (Object.keys(METHODS) as MethodId[]).filter((method) => beganWithOnes(run(method, 0.1, value)));
  expect(methods()).toEqual(["g_sgd", "fixed_sgd", "g_adam", "fixed_adam"]);
  expect(methods(3)).toEqual([]);
});

test("no other space has a tree", () => {
  for (const method of Object.keys(METHODS) as MethodId[]) {
    const space = spaceOf(method);
    expect("tree" in space, method).toBe(space.type === "g_space");
  }
});
