import { describe, expect, test } from "vitest";
import { CONSTRUCTIONS, choiceOf, INPUT_MAPS, judged, refusalBefore, samplesSeen } from "../../www/src/constructions";
import { model } from "./states";

describe("a construction of Dinh et al.", () => {
  const small = model({ parameterCount: 2048 });
  const ASKED = { boxes: true, ball: 0.01, many: true, radial: 100, normalized: true, inputs: "whiten" } as const;
  const said = (network: ReturnType<typeof model>) =>
    Object.fromEntries(CONSTRUCTIONS.map((each) => [each, refusalBefore(each, network, ASKED[each])]));
  const NONE = { boxes: null, ball: null, many: null, radial: null, normalized: null, inputs: null };

  test("is offered where it may find something", () => {
    expect(said(small)).toEqual(NONE);
    expect(said({ ...small, tensors: [{ writers: [0], readers: [1] }] as never })).toEqual(NONE);
  });

  test("is not where its matrix would be too large, and says the sizes", () => {
    const { many, radial, ...others } = said(model({ parameterCount: 4097 }));
    expect(many).toMatch(/4\s096 parameters; this one has 4\s097/);
    expect(radial).toMatch(/2\s048 parameters; this one has 4\s097/);
    expect(Object.values(others)).toEqual([null, null, null, null]);
    const between = said(model({ parameterCount: 2049 }));
    expect([between.many, between.radial]).toEqual([null, expect.stringMatching(/2\s049/)]);
  });

  test("is not where nothing can be rescaled, but where it rescales no layers", () => {
    const rescaling = ({ boxes, ball, many }: ReturnType<typeof said>) => [boxes, ball, many];
    const others = ({ radial, normalized, inputs }: ReturnType<typeof said>) => [radial, normalized, inputs];
    const smooth = said({ ...small, homogeneous: false });
    const single = said({ ...small, depth: 1 });
    for (const refusal of rescaling(smooth)) expect(refusal).toMatch(/activation/);
    for (const refusal of rescaling(single)) expect(refusal).toMatch(/single layer/);
    for (const of of [smooth, single]) expect(others(of)).toEqual([null, null, null]);
    const { boxes, many, ball } = said({ ...small, tensors: [] });
    expect([boxes, ball]).toEqual([expect.stringMatching(/added/), expect.stringMatching(/added/)]);
    expect(many).toBeNull();
  });

  test("whitens what meets in one layer alone", () => {
    const images = model({ beginsDense: false });
    const said = INPUT_MAPS.map((map) => refusalBefore("inputs", images, map));
    expect(said).toEqual([null, expect.stringMatching(/dense first layer/), null]);
  });

  test("reads what it is asked with, and refuses what is none", () => {
    expect(CONSTRUCTIONS.filter((what) => choiceOf(what))).toEqual(["ball", "radial", "inputs"]);
    const read = (what: "ball" | "radial" | "inputs", ...texts: string[]) =>
      texts.map((text) => choiceOf(what)?.read(text));
    expect(read("ball", "0.01", "0", "-1", "x", "", "Infinity")).toEqual([0.01, null, null, null, null, null]);
    expect(read("radial", "100", "0.01", "1e9", "1e-9", "0", "")).toEqual([100, 0.01, null, null, null, null]);
    expect(read("inputs", "whiten", "magic", "")).toEqual(["whiten", null, null]);
  });

  test("gaussianises as many samples as there is time for", () => {
    expect(samplesSeen("whiten", 784, 500)).toBe(500);
    expect(samplesSeen("gaussianize", 784, 500)).toBe(61);
    expect(samplesSeen("gaussianize", 7, 500)).toBe(500);
    expect(samplesSeen("gaussianize", 1e9, 500)).toBe(2);
    // Where all kernels are used, the work still stays within the same bound.
    for (const inputs of [1, 7, 100, 195, 196, 784, 3072]) {
      const samples = samplesSeen("gaussianize", inputs, 1e6);
      expect(samples * inputs * Math.min(samples, 64)).toBeLessThanOrEqual(3e6);
    }
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
