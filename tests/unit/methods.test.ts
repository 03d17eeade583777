/** Where the runs of the thesis' experiments begin. */

import { expect, test } from "vitest";
import { METHODS, type MethodId, orderOf, run } from "../../www/src/spaces/methods";

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

test("no other space has a tree", () => {
  for (const method of Object.keys(METHODS) as MethodId[]) {
    const space = spaceOf(method);
    expect("tree" in space, method).toBe(space.type === "g_space");
  }
});
