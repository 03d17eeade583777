import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { History } from "../../www/src/history";
import type { Step } from "../../www/src/kept";
import { type State, Store } from "../../www/src/store";
import { measured, model, state } from "./states";

const sharp = (decades: number): Partial<State> => ({ sharpness: { way: "bend", decades } });

/** A page whose steps are taken at once; `gone` are stamps that are kept no longer. */
function begun(change: Partial<State> = {}) {
  const store = new Store<State>(state({ stamp: "a", ...change }));
  const gone = new Set<string>();
  const fails: true[] = [];
  let arrive: Promise<void> | undefined;
  /** From now on a step takes as long as what is returned is not called. */
  const slow = (): (() => void) => {
    let done = (): void => {};
    arrive = new Promise((resolve) => {
      done = resolve;
    });
    return done;
  };
  const history = new History(store, async ({ stamp, snapshot }: Step) => {
    await arrive;
    if (gone.has(stamp)) return "gone";
    if (fails.length > 0) return "overtaken";
    store.set({ ...snapshot, stamp, ready: true });
    return "shown";
  });
  const rest = (): void => void vi.advanceTimersByTime(1000);
  rest();
  return { store, history, gone, fails, slow, rest };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("History", () => {
  test("takes the choice of a view for a step, and a turned surface for none", async () => {
    const { store, history, rest } = begun();
    store.set({ look: { ...store.state.look, view: "contour" } });
    rest();
    expect(store.state.undo).toBe("the view");
    store.set({ look: { ...store.state.look, orbit: { position: [1, 2, 3], zoom: 1 } } });
    rest();
    await history.undo();
    expect([store.state.look.view, store.state.undo, store.state.redo]).toEqual(["surface", null, "the view"]);
  });

  test("goes back and on again, and says what changes", async () => {
    const { store, history, rest } = begun();
    expect([store.state.undo, store.state.redo]).toEqual([null, null]);
    store.set(sharp(1));
    rest();
    store.set({ landscapeChoice: { ...store.state.landscapeChoice, points: 5 } });
    rest();
    expect(store.state.undo).toBe("the landscape");
    await history.undo();
    expect([store.state.landscapeChoice.points, store.state.undo, store.state.redo]).toEqual([
      3,
      "the bend",
      "the landscape",
    ]);
    await history.undo();
    expect(store.state.sharpness.decades).toBe(0);
    await history.redo();
    await history.redo();
    rest();
    expect([store.state.landscapeChoice.points, store.state.sharpness.decades, store.state.redo]).toEqual([5, 1, null]);
  });

  test("is one step for a slider that moves, however far", async () => {
    const { store, history, rest } = begun();
    for (let decades = 0.1; decades < 3; decades += 0.1) {
      store.set(sharp(decades));
      vi.advanceTimersByTime(30);
    }
    rest();
    await history.undo();
    expect([store.state.sharpness.decades, store.state.undo]).toEqual([0, null]);
  });

  test("brings results back that came before the change", async () => {
    const { store, history, rest } = begun();
    const values = { trained: new Map([["loss" as const, measured("loss", 0.5)]]), bent: new Map() };
    store.set({ measures: values });
    rest();
    store.set({ ...sharp(1), measures: { trained: new Map(), bent: new Map() } });
    rest();
    await history.undo();
    expect(store.state.measures.trained.get("loss")?.value).toBe(0.5);
  });

  test("comes back from a network that is still to be trained, and takes nothing from the way on", async () => {
    const { store, history, rest } = begun();
    store.set({ stamp: null, ready: false, model: model({ summary: "784-10" }) });
    rest();
    expect(store.state.undo).toBe("the network");
    await history.undo();
    expect([store.state.stamp, store.state.ready, store.state.undo]).toEqual(["a", true, null]);
  });

  test("is a step for a network however soon the next one follows", async () => {
    const { store, history } = begun();
    store.set({ stamp: "b" });
    store.set({ stamp: null, ready: false });
    store.set({ stamp: "c", ready: true });
    await history.undo();
    expect(store.state.stamp).toBe("b");
    await history.undo();
    expect([store.state.stamp, store.state.undo]).toEqual(["a", null]);
  });

  test("is one for the first network too", async () => {
    const { store, history } = begun({ stamp: null, ready: false });
    store.set({ stamp: "a", ready: true });
    store.set({ stamp: null, ready: false });
    store.set({ stamp: "b", ready: true });
    await history.undo();
    expect([store.state.stamp, store.state.undo]).toEqual(["a", null]);
  });

  test("begins with the first network as an address puts it", async () => {
    const { store, rest } = begun({ stamp: null, ready: false });
    store.set({ stamp: "a", ready: true });
    store.set({ model: model({ measuredSamples: 7 }) });
    rest();
    expect(store.state.undo).toBeNull();
  });

  test("passes what an address puts on the stage on its way", async () => {
    const { store, history, rest } = begun({ stamp: null, ready: false });
    store.set({ stamp: "a", ready: true });
    const opened = history.passing();
    rest();
    store.set(sharp(1));
    opened();
    rest();
    expect(store.state.undo).toBeNull();
    store.set(sharp(2));
    const followed = history.passing();
    store.set({ stamp: "b" });
    rest();
    store.set(sharp(3));
    followed();
    followed();
    rest();
    await history.undo();
    expect([store.state.stamp, store.state.sharpness.decades, store.state.undo]).toEqual(["a", 2, "the bend"]);
  });

  test("forgets the way on when something else is done", async () => {
    const { store, history, rest } = begun();
    store.set(sharp(1));
    rest();
    await history.undo();
    store.set(sharp(2));
    rest();
    expect(store.state.redo).toBeNull();
    await history.redo();
    expect(store.state.sharpness.decades).toBe(2);
  });

  test("keeps one that a pause has not passed since", async () => {
    const { store, history } = begun();
    store.set(sharp(1));
    await history.undo();
    expect(store.state.sharpness.decades).toBe(0);
    await history.redo();
    expect(store.state.sharpness.decades).toBe(1);
  });

  test("drops steps of a network that is kept no longer", async () => {
    const { store, history, gone, rest } = begun();
    store.set(sharp(1));
    rest();
    store.set({ stamp: "b" });
    rest();
    expect([...history.stamps].sort()).toEqual(["a", "b"]);
    gone.add("a");
    await history.undo();
    rest();
    expect([store.state.stamp, store.state.undo]).toEqual(["b", null]);
    expect([...history.stamps]).toEqual(["b"]);
  });

  test("keeps the way on while the step before takes long to come", async () => {
    const { store, history, slow, rest } = begun();
    store.set(sharp(1));
    rest();
    const done = slow();
    const undone = history.undo();
    // A task begins, and the page still shows what it showed.
    store.set({ task: "looking" });
    rest();
    expect([store.state.undo, store.state.redo]).toEqual([null, "the bend"]);
    done();
    await undone;
    rest();
    expect([store.state.sharpness.decades, store.state.redo]).toEqual([0, "the bend"]);
  });

  test("two presses in a row go back twice, however long the first takes", async () => {
    const { store, history, slow, rest } = begun();
    for (const decades of [1, 2]) {
      store.set(sharp(decades));
      rest();
    }
    const done = slow();
    const both = [history.undo(), history.undo()];
    done();
    await Promise.all(both);
    expect([store.state.sharpness.decades, store.state.undo, store.state.redo]).toEqual([0, null, "the bend"]);
  });

  test("is as it was where a step cannot be shown, or something else is done meanwhile", async () => {
    const { store, history, fails, rest } = begun();
    for (const decades of [1, 2]) {
      store.set(sharp(decades));
      rest();
    }
    fails.push(true);
    await history.undo();
    rest();
    expect([store.state.undo, store.state.redo]).toEqual(["the bend", null]);
    store.set(sharp(3));
    rest();
    fails.pop();
    await history.undo();
    expect(store.state.sharpness.decades).toBe(2);
  });

  test("comes back to the network before one that the browser does not keep", async () => {
    const { store, history, rest } = begun();
    store.set(sharp(1));
    rest();
    store.set({ ...sharp(0), stamp: null });
    rest();
    expect(store.state.undo).toBe("the network");
    await history.undo();
    expect([store.state.stamp, store.state.sharpness.decades]).toEqual(["a", 1]);
  });

  test("a bend and Redo at once: the bend is what was done last", async () => {
    const { store, history, rest } = begun();
    store.set(sharp(1));
    rest();
    await history.undo();
    rest();
    store.set(sharp(2));
    await history.redo();
    expect([store.state.sharpness.decades, store.state.redo]).toEqual([2, null]);
  });

  test("forgets a network that is let go, and no step is left that would change nothing", async () => {
    const { store, history, rest } = begun();
    for (const stamp of ["b", "a"]) {
      store.set({ stamp });
      rest();
    }
    expect(store.state.undo).toBe("the network");
    history.forget(["b"]);
    expect([store.state.undo, [...history.stamps]]).toEqual([null, ["a"]]);
    store.set(sharp(1));
    rest();
    await history.undo();
    expect([store.state.sharpness.decades, store.state.undo]).toEqual([0, null]);
  });

  test("takes no steps while the page starts: it moves by itself", () => {
    const { store, rest } = begun({ task: "starting" });
    store.set(sharp(1));
    rest();
    store.set(sharp(2));
    rest();
    store.set({ task: "idle" });
    rest();
    expect(store.state.undo).toBeNull();
  });
});
