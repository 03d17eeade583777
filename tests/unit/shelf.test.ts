import { describe, expect, test } from "vitest";
import { compared, freeName, type Known, nameFor } from "../../www/src/networks-beside";
import { type Entry, noted, renamed, sorted } from "../../www/src/shelf";
import { NO_VALUES } from "../../www/src/store";
import { DESCRIPTIONS, measured, model, state } from "./states";

const entry = (at: number, change: Partial<Entry> = {}): Entry => ({
  stamp: `s${at}`,
  name: null,
  at,
  summary: "784-10",
  parameterCount: 7850,
  data: "MNIST",
  training: null,
  testAccuracy: null,
  ...change,
});

const stamps = (entries: Entry[]): string => entries.map(({ stamp }) => stamp).join(" ");

describe("the shelf", () => {
  const twelve = Array.from({ length: 12 }, (_, at) => entry(at));

  test("keeps the newest of those without a name", () => {
    const { kept, old } = sorted(twelve, new Set());
    expect(stamps(kept)).toBe("s11 s10 s9 s8 s7 s6 s5 s4");
    expect(stamps(old)).toBe("s3 s2 s1 s0");
  });

  test("keeps all with a name, and those that are needed", () => {
    const named = twelve.map((one) => (one.at < 2 ? { ...one, name: "old" } : one));
    expect(stamps(sorted(named, new Set(["s2"])).old)).toBe("s3");
  });

  test("keeps fewer of large ones", () => {
    const large = twelve.map((one) => ({ ...one, parameterCount: 15e6 }));
    expect(stamps(sorted(large, new Set()).kept)).toBe("s11 s10");
  });
});

test("a name that is still to be written is not lost to what is read meanwhile", () => {
  const naming = [
    { stamp: "s1", name: "L" },
    { stamp: "s1", name: "Large batches" },
  ];
  const names = renamed([entry(1), entry(2, { name: "Small batches" }), entry(3)], naming).map(({ name }) => name);
  expect(names).toEqual(["Large batches", "Small batches", null]);
});

describe("what is noted of the network on the stage", () => {
  const training = { optimizer: "adam", learningRate: 0.001, batchSize: 64, epochs: 3, seed: 1 } as const;

  test("keeps how it was trained, where the page knows its weights alone", () => {
    const known = entry(1, { stamp: "a", name: "mine", training, testAccuracy: 0.9 });
    const now = noted(state({ stamp: "a", training: null }), known);
    expect(now).toMatchObject({ name: "mine", at: 1, training, testAccuracy: 0.9 });
  });

  test("where its training was stopped, until it has gone on to its end", () => {
    const at = (stopped: boolean, epochs: number) =>
      state({ stamp: "a", training: { epochs, stopped, loss: 1, accuracy: 0.5 } });
    const stopped = noted(at(true, 4.5), undefined);
    expect(stopped?.stoppedAt).toBe(4.5);
    expect(noted(state({ stamp: "a", training: null }), stopped ?? undefined)?.stoppedAt).toBe(4.5);
    expect(noted(at(false, 60), stopped ?? undefined)?.stoppedAt).toBeUndefined();
  });

  test("says how many of the test set are right where there is one, and only there", () => {
    const at = (validationSamples: number) =>
      noted(state({ stamp: "a", model: model({ validationSamples }), accuracy: { trained: 0.5 } }), undefined);
    expect([at(10)?.testAccuracy, at(0)?.testAccuracy]).toEqual([0.5, null]);
  });

  test("is nothing of one that is not kept, or comes with the page", () => {
    expect(noted(state(), undefined)).toBeNull();
    expect(noted(state({ stamp: "arrival x" }), undefined)).toBeNull();
  });
});

describe("networks side by side", () => {
  const known = (loss?: number, validationAccuracy?: number): Known => ({
    measures: { ...NO_VALUES, trained: new Map(loss === undefined ? [] : [["loss" as const, measured("loss", loss)]]) },
    model: model({ validationSamples: 0 }),
    surfaces: {},
    // At the samples that it was trained on.
    accuracy: { trained: 1 },
    training:
      validationAccuracy === undefined ? null : { epochs: 1, stopped: false, loss: 0, accuracy: 1, validationAccuracy },
  });

  test("say which is the least, and leave out what nobody has", () => {
    const groups = compared([known(2, 0.9), null, known(1)], DESCRIPTIONS);
    const rows = groups.flatMap(({ rows }) => rows);
    expect(rows.map(({ key, values, least }) => [key, values, least])).toEqual([
      ["accuracy", [0.9, undefined, undefined], -1],
      ["loss", [2, undefined, 1], 2],
    ]);
  });

  test("say of one alone, or of equals, that none is the least", () => {
    expect(compared([known(2)], DESCRIPTIONS)[0]?.rows[0]?.least).toBe(-1);
    expect(compared([known(2), known(2)], DESCRIPTIONS)[0]?.rows[0]?.least).toBe(-1);
  });

  test("have names from how they were trained", () => {
    const training = { optimizer: "adam", learningRate: 0.001, batchSize: 64, epochs: 3, seed: 1 } as const;
    expect(nameFor({ summary: "784-10", training })).toBe("784-10, Adam, batches of 64");
    expect(nameFor({ summary: "784-10", training: null })).toBe("784-10");
  });

  test("and no two the same", () => {
    const shelf = [entry(1, { name: "784-10" }), entry(2, { name: "784-10 (2)" }), entry(3)];
    expect(freeName(entry(3), shelf)).toBe("784-10 (3)");
    expect(freeName(entry(3), [])).toBe("784-10");
  });
});
