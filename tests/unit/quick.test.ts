import { describe, expect, test } from "vitest";
import cifarPetzkaJson from "../../docs/results/petzka-cifar10.json";
import petzkaJson from "../../docs/results/petzka-mnist.json";
import { correlationsOf } from "../../www/src/gallery/correlations";
import { QUICK_HERE } from "../../www/src/gallery/live";
import { QUICK_RUNS } from "../../www/src/gallery/quick-settings";
import type { Petzka } from "../../www/src/gallery/results";
import { kendall, type Pair, pearson } from "../../www/src/gallery/statistics";
import { type Piece, Pieces } from "../../www/src/worker/pieces";

describe("correlations", () => {
  test("of the stored networks are those that the commands have found", () => {
    for (const json of [petzkaJson, cifarPetzkaJson]) {
      const stored = json as unknown as Petzka;
      const found = correlationsOf(stored.runs.filter(({ training_loss: loss }) => loss <= stored.largest_loss));
      let compared = 0;
      for (const { measure, pearson: r, kendall: tau, rescaled } of stored.correlations) {
        const own = found.find((each) => each.measure === measure);
        if (!own) throw new Error(`${measure} has none here`);
        for (const [here, there] of [
          [own.pearson, r],
          [own.kendall, tau],
          [own.rescaled.pearson, rescaled.pearson],
          [own.rescaled.kendall, rescaled.kendall],
        ] as const)
          for (const key of ["value", "low", "high"] as const) {
            // Stored values are short; ranks that rounding makes equal or not move τ by a pair.
            expect(Math.abs(here[key] - there[key]), `${measure} ${key}`).toBeLessThan(1e-6);
            compared++;
          }
      }
      expect(compared).toBeGreaterThan(300);
    }
  });

  test("are the same number of what goes together, and none of too little or of what is always the same", () => {
    const line = (count: number): Pair[] => Array.from({ length: count }, (_, x) => [x, 3 - 2 * x]);
    expect(pearson(line(6))?.value).toBeCloseTo(-1, 12);
    expect(kendall(line(6))?.value).toBe(-1);
    expect([pearson(line(3)), kendall(line(4))]).toEqual([null, null]);
    const flat = line(6).map(([x]): Pair => [x, 1]);
    expect([pearson(flat), kendall(flat)]).toEqual([null, null]);
    // Of (1,1), (2,3), (3,2), (4,5), (5,4): eight pairs in order, two not.
    expect(kendall([1, 3, 2, 5, 4].map((y, x): Pair => [x, y]))?.value).toBeCloseTo(0.6, 12);
  });
});

describe("work of many pieces", () => {
  const piece = (what: string, run: Piece["run"]): Piece => ({ what, group: "all", seconds: 1, run });

  test("goes on where it was stopped, and does nothing twice", async () => {
    const done: string[] = [];
    const controller = new AbortController();
    const pieces = new Pieces([
      piece("a", async () => void done.push("a")),
      piece("b", async (signal) => {
        if (done.includes("b begun")) return void done.push("b");
        done.push("b begun");
        controller.abort(new Error("stopped"));
        signal.throwIfAborted();
      }),
      piece("c", async () => void done.push("c")),
    ]);
    await expect(pieces.run(controller.signal, () => {})).rejects.toThrow("stopped");
    await pieces.run(new AbortController().signal, () => {});
    expect(done).toEqual(["a", "b begun", "b", "c"]);
  });

  test("says what runs and how far it is, which never goes back", async () => {
    const heard: { what: string; fraction: number | null }[] = [];
    const pieces = new Pieces(["a", "b", "c"].map((what) => piece(what, async (_, tell) => tell(0.5))));
    await pieces.run(new AbortController().signal, (news) => heard.push(news));
    expect([...new Set(heard.map(({ what }) => what))]).toEqual(["a", "b", "c"]);
    const shares = heard.map(({ fraction }) => fraction ?? 0);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBeLessThan(1);
  });
});

test("every quick version is of some row", () => {
  const run = new Set(Object.values(QUICK_HERE).map((quick) => quick.run));
  expect([...run].sort()).toEqual(Object.keys(QUICK_RUNS).sort());
});
