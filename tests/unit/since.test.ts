import { describe, expect, test } from "vitest";
import { stepNow } from "../../www/src/kept";
import { merged } from "../../www/src/spaces/kept";
import type { Curve } from "../../www/src/spaces/results";
import { LONGER, QUICK } from "../../www/src/spaces/settings";
import { knownSince, withLandscape } from "../../www/src/states";
import { NO_VALUES, type State } from "../../www/src/store";
import { landscape, measured, state } from "./states";

describe("what was computed after a step", () => {
  const trained = landscape([[1, 2]]);
  const snapshotOf = (change: Partial<State> = {}) => {
    const step = stepNow(state({ stamp: "a", ...change }));
    if (!step) throw new Error("no step");
    return step.snapshot;
  };
  const table2 = { device: "CPU", seeds: [] } as unknown as State["table2"];
  const later = state({
    stamp: "a",
    table2,
    surfaces: { trained, bent: trained },
    measures: { trained: new Map([["loss", measured("loss", 2)]]), bent: new Map([["loss", measured("loss", 3)]]) },
  });

  test("stays where it is of the same weights, samples and directions, and not of the twin", () => {
    const found = knownSince(snapshotOf(), later, true);
    expect([found.table2, found.surfaces]).toEqual([table2, { trained }]);
    expect([found.measures.trained.get("loss")?.value, found.measures.bent.size]).toEqual([2, 0]);
    const { landscapeChoice } = later;
    const elsewhere = knownSince(snapshotOf({ landscapeChoice: { ...landscapeChoice, seed: 9 } }), later, true);
    expect([elsewhere.surfaces, elsewhere.measures.trained.size]).toEqual([{}, 1]);
  });

  test("is of no other network but for tables, nor of other samples or devices", () => {
    const others = [
      knownSince(snapshotOf(), later, false),
      knownSince(snapshotOf({ backend: "webgpu" }), { ...later, backend: "cpu" }, true),
    ];
    for (const found of others) expect([found.table2, found.surfaces, found.measures]).toEqual([table2, {}, NO_VALUES]);
  });
});

test("other directions leave no coarse look along those before", () => {
  const preview = { surface: landscape([[1]]), samples: 1, answers: [] };
  const now = state({ preview });
  expect(withLandscape(now, { ...now.landscapeChoice, atBent: "anew" }).preview).toBeNull();
});

describe("the runs of two tabs", () => {
  const curve = (end: Curve["end"]): readonly Curve[] => [{ points: [], end }];
  const kept = (curves: Record<string, readonly Curve[]>, setting = QUICK) => ({
    experiment: "rates" as const,
    setting,
    curves: new Map(Object.entries(curves)),
    curvature: null,
  });
  const [one, two, three] = [curve("done"), curve("stopped"), curve("running")];

  test("are kept together", () => {
    const known = kept({ a: one, b: one });
    const own = { ...kept({ a: one, b: three }), experiment: "kept" as const };
    const all = merged(own, known, kept({ a: two, b: two, c: two }));
    expect([Object.fromEntries(all.curves), all.experiment]).toEqual([{ a: two, b: three, c: two }, "kept"]);
    // What this one has let go stays gone.
    expect([...merged(kept({ a: one }), known, kept({ a: one, b: one })).curves.keys()]).toEqual(["a"]);
  });

  test("of another setting give way only to what is new", () => {
    const there = kept({ a: two }, LONGER);
    const own = kept({ a: one });
    expect(merged({ ...own, experiment: "kept" }, own, there)).toEqual({ ...there, experiment: "kept" });
    const further = kept({ a: three });
    expect(merged(further, own, there)).toBe(further);
    expect(merged(own, own, undefined)).toBe(own);
  });
});
