import type { ReportSection } from "isoflat";
import { describe, expect, test } from "vitest";
import { secondsOf } from "../../www/src/estimates";
import { Paces } from "../../www/src/paces";
import type { Piece } from "../../www/src/plan";
import { type KnownCosts, type State, Store } from "../../www/src/store";
import { Progressing, shareOf, stepsOf } from "../../www/src/waiting";
import { model, state } from "./states";

const costs: KnownCosts = {
  step: { call: 0, sample: 0.01 },
  product: { call: 0, sample: 1e-5 },
  evaluation: 1e-5,
  plane: { begin: 1e-5, point: 1e-6 },
  dataBytes: 10,
  pointBytes: 100,
  vectorBytes: 1000,
  isBeside: false,
  weight: 1e-10,
};
const sections: ReportSection[] = ["point", "hessian", "density"];
const report: Piece = { what: "report", sections };
const NOTHING = { asked: [], all: false };

const secondsIn = (piece: Piece): number =>
  secondsOf(piece, { state: state(), costs, model: model(), training: { epochs: 1, batchSize: 64 } }) ?? Number.NaN;

function page(change: Partial<KnownCosts> = {}) {
  const store = new Store<State>(state({ costs: { ...costs, ...change } }));
  let seconds = 0;
  const progressing = new Progressing(store, new Paces(null), () => seconds);
  const pass = (by: number): void => {
    seconds += by;
  };
  progressing.begin(null, false);
  /** The engine says where it is, as often as a page listens. */
  const say = (section: number, phase = "lanczos", done = 0, total = 10): void => {
    store.set({ progress: { phase, done, total, section, sections: 3, remainingSeconds: 1e6 } as State["progress"] });
  };
  return { store, progressing, pass, say };
}

describe("stepsOf", () => {
  test("a report consists of its sections, which take as long as it does", () => {
    const steps = stepsOf(report);
    expect(steps).toEqual(sections.map((section) => ({ what: "report", sections: [section] })));
    const sum = steps.reduce((sum, step) => sum + secondsIn(step), 0);
    expect(sum).toBeCloseTo(secondsIn(report), 10);
  });

  test("what has no sections is one step", () => {
    expect(stepsOf({ what: "boxes", asked: true })).toEqual([{ what: "boxes", asked: true }]);
    expect(stepsOf({ what: "report", sections: [] })).toHaveLength(1);
  });
});

describe("shareOf", () => {
  const progress = (phase: string) => ({ phase, done: 3, total: 4 });

  test("of a report a section that is one steady phase tells how far it is", () => {
    expect(shareOf(report, progress("density: spectral density"))).toBe(0.75);
    expect(shareOf(report, progress("hessian: lanczos"))).toBeNull();
    expect(shareOf(report, progress("sharpness: average sharpness"))).toBeNull();
  });

  test("of a check no phase does", () => {
    const unit = { name: "hessian", keys: [], cost: "eigenvalues" } as const;
    expect(shareOf({ what: "check", unit: { ...unit, keys: [] } }, progress("spectral density"))).toBeNull();
  });
});

describe("Progressing", () => {
  test("a report's time left goes down with its sections, and by how long they took", async () => {
    const { store, progressing, pass, say } = page();
    let end = (): void => {};
    const over = progressing.through(report, [], NOTHING, () => new Promise<void>((resolve) => (end = resolve)));
    const [point = 0, hessian = 0, density = 0] = stepsOf(report).map(secondsIn);
    expect(store.state.waiting?.left).toBeCloseTo(point + hessian + density, 5);
    pass(1);
    say(2);
    expect(store.state.waiting?.count).toEqual({ done: 2, total: 3, of: "sections" });
    pass(4 * hessian + 10);
    say(3);
    // Twice as long as expected at least: so the rest is too, whatever the engine says itself.
    expect(store.state.waiting?.left).toBeGreaterThan(1.5 * density);
    expect(store.state.waiting?.left).toBeLessThan(100 * density);
    const before = store.state.waiting?.left ?? 0;
    pass(1);
    say(3, "density: spectral density", 9, 10);
    expect(store.state.waiting?.left).toBeLessThan(before);
    end();
    await over;
    progressing.end(false);
  });

  test("what work took is learnt, unless its costs are too high", async () => {
    for (const [isBeside, learnt] of [
      [false, true],
      [true, false],
    ] as const) {
      const { store, progressing, pass } = page({ isBeside });
      const before = progressing.estimate(report, store.state, null) ?? 0;
      await progressing.through(report, [], NOTHING, async () => pass(3 * before));
      const after = progressing.estimate(report, store.state, null) ?? 0;
      expect(after / before).toBeCloseTo(learnt ? 3 : 1);
      progressing.end(false);
    }
  });

  test("of work on a network that nothing tells of nothing is said", () => {
    const { store, progressing } = page({ weight: null });
    expect(progressing.estimate({ what: "table2", seed: 2019 }, store.state, null)).toBeNull();
    progressing.end(false);
  });
});
