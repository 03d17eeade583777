import { describe, expect, test } from "vitest";
import { CONSTRUCTIONS, judged, refusalBefore } from "../../www/src/constructions";
import { model } from "./states";

describe("a construction of Dinh et al.", () => {
  const small = model({ parameterCount: 4096 });
  const said = (network: ReturnType<typeof model>) => CONSTRUCTIONS.map((each) => refusalBefore(each, network));

  test("is offered where it may find something", () => {
    expect(said(small)).toEqual([null, null, null]);
    expect(said({ ...small, tensors: [{ writers: [0], readers: [1] }] as never })).toEqual([null, null, null]);
  });

  test("is not where its spectrum would be too large, and says the sizes", () => {
    expect(refusalBefore("many", model({ parameterCount: 4097 }))).toMatch(/4\s096 parameters; this one has 4\s097/);
    expect(refusalBefore("boxes", model({ parameterCount: 1e6 }))).toBeNull();
  });

  test("is not where nothing can be rescaled", () => {
    for (const refusal of said(model({ homogeneous: false }))) expect(refusal).toMatch(/activation/);
    for (const refusal of said(model({ depth: 1 }))) expect(refusal).toMatch(/single layer/);
    const [boxes, many, ball] = said({ ...small, tensors: [] });
    expect([boxes, ball]).toEqual([expect.stringMatching(/added/), expect.stringMatching(/added/)]);
    expect(many).toBeNull();
  });
});

test("what has not converged gets no tick, and no cross", () => {
  expect(judged(true, true, "less")).toBe("✓");
  expect(judged(true, true, "more", "at most the paper’s")).toBe("✓ at most the paper’s");
  expect(judged(false, true, "less")).toBe("✗ less");
  for (const holds of [true, false]) {
    const said = judged(holds, false, "less", "enough");
    expect(said).toMatch(/not converged/);
    expect(said).not.toMatch(/[✓✗]/u);
  }
});
