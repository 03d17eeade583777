import { describe, expect, test, vi } from "vitest";
import { found, measuresOf, refusalOf, Store, transformationOf } from "../../www/src/store";
import { DESCRIPTIONS, model, state } from "./states";

describe("Store", () => {
  test("tells a view at once, and then of the parts that it watches alone", () => {
    const store = new Store({ a: 1, b: 1, c: 1 });
    const listener = vi.fn();
    store.watch(["a", "b"], listener);
    expect(listener).toHaveBeenCalledTimes(1);
    store.set({ c: 2 });
    expect(listener).toHaveBeenCalledTimes(1);
    store.set({ a: 2, b: 2 });
    expect(listener).toHaveBeenCalledTimes(2);
    expect(store.state).toEqual({ a: 2, b: 2, c: 2 });
  });

  test("makes a new state, so that one that was kept does not change", () => {
    const store = new Store({ a: 1 });
    const before = store.state;
    store.set({ a: 2 });
    expect(before).toEqual({ a: 1 });
  });

  test("shows a listener the state after the change", () => {
    const store = new Store({ a: 1 });
    const seen: number[] = [];
    store.watch(["a"], () => seen.push(store.state.a));
    store.set({ a: 5 });
    expect(seen).toEqual([1, 5]);
  });
});

describe("a change in parts", () => {
  /** Tasks that are let go on one by one. */
  const tasksOf = () => {
    const waiting: (() => void)[] = [];
    const run = (part: () => void) => new Promise<void>((resolve) => waiting.push(() => resolve(part())));
    return { run, next: () => waiting.shift()?.() };
  };

  test("is there at once, and told to one after the other", async () => {
    const store = new Store({ a: 1, b: 1 });
    const told: string[] = [];
    store.watch(["a"], () => told.push(`first ${store.state.a}`));
    store.watch(["b"], () => told.push("another's"));
    store.watch(["a"], () => told.push(`second ${store.state.a}`));
    told.length = 0;
    const tasks = tasksOf();
    const over = store.setInParts({ a: 2 }, tasks);
    expect([store.state.a, told]).toEqual([2, []]);
    tasks.next();
    expect(told).toEqual(["first 2"]);
    await Promise.resolve();
    // Whatever comes between is told at once, and who is still to be told sees that too.
    store.set({ a: 3 });
    expect(told).toEqual(["first 2", "first 3", "second 3"]);
    await Promise.resolve();
    tasks.next();
    await over;
    expect(told).toEqual(["first 2", "first 3", "second 3", "second 3"]);
  });

  test("is not told twice to who comes meanwhile", async () => {
    const store = new Store({ a: 1 });
    store.watch(["a"], () => {});
    const tasks = tasksOf();
    const over = store.setInParts({ a: 2 }, tasks);
    const late = vi.fn();
    store.watch(["a"], late);
    tasks.next();
    await over;
    expect(late).toHaveBeenCalledTimes(1);
  });
});

describe("measuresOf", () => {
  const keys = (change: Parameters<typeof model>[0]) =>
    measuresOf(state({ model: model(change) })).map(({ key }) => key);
  const all = DESCRIPTIONS.map(({ key }) => key);

  test("leaves out what is not defined for the network", () => {
    expect(keys({})).toEqual(all);
    expect(keys({ piecewiseLinear: false })).toEqual(all.filter((key) => key !== "petzka.rho_max"));
    expect(keys({ dense: false })).toEqual(all.filter((key) => key !== "path_norm_squared"));
  });
});

describe("transformationOf", () => {
  const straight = { lambda: [1, 1], nodewise: null, permutation: null };

  test("is null where the controls move nothing", () => {
    expect(transformationOf(straight)).toBeNull();
  });

  test("composes what is moved, layers first", () => {
    const bend = { lambda: [4, 0.25], nodewise: { seed: 3, range: 5 }, permutation: { seed: 7 } };
    expect(transformationOf(bend)).toEqual({
      type: "composition",
      of: [
        { type: "layerwise", lambda: [4, 0.25] },
        { type: "random_nodewise", seed: 3, low: 0.2, high: 5 },
        { type: "random_permutation", seed: 7 },
      ],
    });
  });
});

test("a finding is a value or a refusal", () => {
  expect([found({ value: 3 }), found({ refusal: "no" }), found(null)]).toEqual([3, null, null]);
  expect([refusalOf({ value: 3 }), refusalOf({ refusal: "no" }), refusalOf(null)]).toEqual([null, "no", null]);
});
