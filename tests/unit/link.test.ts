import { describe, expect, test } from "vitest";
import { LANDSCAPE, MODEL, TRAINING } from "../../www/src/arrival/arrival";
import { queryOf, readQuery } from "../../www/src/link";
import { NOT_SHARP } from "../../www/src/store";
import type { ModelChoice, TrainChoice } from "../../www/src/worker/protocol";
import { state } from "./states";

const own: ModelChoice = {
  network: { kind: "widths", widths: [784, 30, 10], bias: false },
  init: { scheme: "xavier_normal", scale: 1, seed: 4 },
  data: { kind: "synthetic", samples: 200, seed: 4 },
  measured: 50,
};
const adam: TrainChoice = { optimizer: "adam", learningRate: 0.001, batchSize: 32, epochs: 2, seed: 4 };
const training = { epochs: 2, stopped: false, loss: 1, accuracy: 0.5 };
const arrived = state({ modelChoice: MODEL, trainChoice: TRAINING, training, landscapeChoice: LANDSCAPE });

describe("A link", () => {
  test("of the page as it opens says nothing but the slider", () => {
    const at = { ...arrived, sharpness: { way: "bend", decades: 3.5 } } as const;
    expect(queryOf(at, true)).toBe("s=3.5");
    expect(readQuery("s=3.5")).toEqual({
      trained: null,
      sharpness: { way: "bend", decades: 3.5 },
      lambda: null,
      nodewise: null,
      permutation: null,
      landscape: LANDSCAPE,
    });
  });

  test("holds all that makes the numbers", () => {
    const landscapeChoice = { ...LANDSCAPE, directions: "eigenvectors", points: 31, seed: 7 } as const;
    const bend = { lambda: [4, 0.25], nodewise: { seed: 3, range: 10 }, permutation: { seed: 2 } };
    const of = state({ modelChoice: own, trainChoice: adam, training, bend, landscapeChoice });
    const link = readQuery(queryOf(of, false) ?? "");
    expect(link).toEqual({
      trained: { model: own, training: adam },
      sharpness: NOT_SHARP,
      lambda: [4, 0.25],
      nodewise: { seed: 3, range: 10 },
      permutation: { seed: 2 },
      landscape: landscapeChoice,
    });
  });

  test("is none for a network out of files", () => {
    expect(queryOf(state({ modelChoice: null }), true)).toBeNull();
  });

  test("leaves out what it says wrongly, and a bare part is none", () => {
    expect(readQuery("")).toBeNull();
    expect(readQuery("nonsense=1")).toBeNull();
    const link = readQuery("s=99&lambda=1_-2&units=x&order=1.5&view=sideways_1&net=784-30-10&init=magic");
    expect(link).toEqual({
      trained: null,
      sharpness: NOT_SHARP,
      lambda: null,
      nodewise: null,
      permutation: null,
      landscape: LANDSCAPE,
    });
  });
});
