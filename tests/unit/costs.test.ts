import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Client } from "../../www/src/client";
import { Costs } from "../../www/src/costs";
import { type State, Store } from "../../www/src/store";
import type { SampleCosts } from "../../www/src/worker/protocol";
import { model, state } from "./states";

const costs = (sample: number): SampleCosts => ({
  step: { call: 0, sample: 1 },
  product: { call: 0, sample },
  evaluation: 1,
  plane: { begin: 1, point: 1 },
  dataBytes: 1,
  pointBytes: 1,
  vectorBytes: 1,
});

/** A worker whose trials are answered when the test says so. */
function lab() {
  const trials: { answer: (found: SampleCosts) => void; fail: () => void }[] = [];
  const call = () =>
    new Promise((resolve, reject) => {
      trials.push({ answer: resolve, fail: () => reject(new Error("gone")) });
    });
  return { trials, client: { call } as unknown as Client };
}

function begun(change: Partial<State>) {
  const store = new Store<State>(state({ model: null, engine: null, ...change }));
  const { trials, client } = lab();
  new Costs(store, client);
  const { engine } = state();
  store.set({ model: model(), engine });
  return { store, trials };
}

const settle = () => vi.advanceTimersByTimeAsync(3000);

describe("Costs", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("of a trial while nothing runs are good, and not asked for again", async () => {
    const { store, trials } = begun({ task: "idle" });
    trials[0]?.answer(costs(2));
    await settle();
    store.set({ task: "looking" });
    store.set({ task: "idle" });
    await settle();
    expect(store.state.costs).toMatchObject({ product: { sample: 2 }, isBeside: false });
    expect(trials).toHaveLength(1);
  });

  test("of a trial beside other work hold until there is rest, and are tried again then", async () => {
    const { store, trials } = begun({ task: "looking" });
    trials[0]?.answer(costs(9));
    await settle();
    expect(store.state.costs).toMatchObject({ product: { sample: 9 }, isBeside: true });
    expect(trials).toHaveLength(1);
    store.set({ task: "idle" });
    await settle();
    expect(store.state.costs?.isBeside).toBe(true);
    trials[1]?.answer(costs(2));
    await settle();
    expect(store.state.costs).toMatchObject({ product: { sample: 2 }, isBeside: false });
  });

  test("work that begins during a trial makes it one beside other work", async () => {
    const { store, trials } = begun({ task: "idle" });
    store.set({ task: "training" });
    trials[0]?.answer(costs(9));
    await settle();
    expect(store.state.costs?.isBeside).toBe(true);
  });

  test("a moment between two tasks is no rest", async () => {
    const { store, trials } = begun({ task: "looking" });
    trials[0]?.answer(costs(9));
    await settle();
    store.set({ task: "idle" });
    await vi.advanceTimersByTimeAsync(500);
    store.set({ task: "bending" });
    await settle();
    expect(trials).toHaveLength(1);
  });

  test("a trial whose data have given way to others is made again", async () => {
    const { store, trials } = begun({ task: "starting" });
    // Another number of samples of the same network: what it costs is the same.
    store.set({ model: model({ measuredSamples: 100 }) });
    trials[0]?.fail();
    await settle();
    expect(store.state.costs).toBeNull();
    store.set({ task: "idle" });
    await settle();
    trials[1]?.answer(costs(2));
    await settle();
    expect(store.state.costs?.product.sample).toBe(2);
  });

  test("what always fails is not tried for ever", async () => {
    const { store, trials } = begun({ task: "idle" });
    for (let i = 0; i < 20; i++) {
      trials.at(-1)?.fail();
      await settle();
    }
    expect(store.state.costs).toBeNull();
    expect(trials.length).toBeLessThan(6);
  });

  test("of another network are asked for at once, and an answer that comes too late is none", async () => {
    const { store, trials } = begun({ task: "idle" });
    store.set({ model: model({ summary: "784-10" }) });
    trials[0]?.answer(costs(9));
    await settle();
    expect(store.state.costs).toBeNull();
    trials[1]?.answer(costs(2));
    await settle();
    expect(store.state.costs?.product.sample).toBe(2);
  });

  test("a weight's part is known of a dense network, and of others from the last dense one", async () => {
    const { store, trials } = begun({ model: null });
    trials[0]?.answer(costs(50890));
    await settle();
    expect(store.state.costs?.weight).toBe(1);
    store.set({ model: model({ summary: "conv", dense: false, parameterCount: 100 }) });
    trials[1]?.answer(costs(7));
    await settle();
    expect(store.state.costs).toMatchObject({ product: { sample: 7 }, weight: 1 });
    const gpu = { info: { ...state().engine?.info, backend: "gpu" } } as State["engine"];
    store.set({ engine: gpu });
    trials[2]?.answer(costs(7));
    await settle();
    expect(store.state.costs?.weight).toBeNull();
  });
});
