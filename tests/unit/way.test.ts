import type { Checkpoint, Engine, Landscape, Snapshot, TrainOptions, TrainResult } from "isoflat";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { heightsOf } from "../../www/src/charts/heights";
import { levelSegments } from "../../www/src/charts/levels";
import { finely, heightAt, onLine, placesOf, waySaid, weightsAt } from "../../www/src/charts/way";
import { unfinishedSaid } from "../../www/src/training";
import type { TrainChoice } from "../../www/src/worker/protocol";
import type { Session } from "../../www/src/worker/session";
import { TrainingRun } from "../../www/src/worker/training";
import { joined, snapshotsOf, type Way } from "../../www/src/worker/way";
import { landscape } from "./states";

const snapshot = (step: number): Snapshot => ({
  step,
  epoch: step / 10,
  loss: 1,
  parameters: Float64Array.of(step),
});
const stepsOf = (way: Way): number[] => way.map(({ step }) => step);

/** What the package keeps of steps from one to another of a run. */
function kept(from: number, to: number, count: number): Snapshot[] {
  let list: Snapshot[] = [];
  for (let step = from; step <= to; step++) {
    let spacing = 1;
    while (Math.floor(step / spacing) + 2 > count) spacing *= 2;
    if (step % spacing !== 0 && step !== to) continue;
    list = [...list.filter((other) => other.step % spacing === 0), snapshot(step)];
  }
  return list;
}

describe("lines of equal loss", () => {
  test("lie on the surface, each piece within a cell, at every level", () => {
    const bowl = landscape([0, 1, 2, 3, 4].map((j) => [0, 1, 2, 3, 4].map((i) => (i - 2) ** 2 + (j - 2) ** 2)));
    const heights = heightsOf([bowl], "linear");
    const segments = levelSegments(bowl, heights);
    const found = new Set(segments.map(({ height }) => height));
    expect([...found].sort()).toEqual(heights.levels.map((level) => heights.at(level)).sort());
    for (const { from, to, height } of segments) {
      for (const place of [from, to]) expect(heightAt(bowl, heights, place)).toBeCloseTo(height, 12);
      expect(Math.max(Math.abs(from.i - to.i), Math.abs(from.j - to.j))).toBeLessThanOrEqual(1);
    }
    // Around the middle: as much on each side.
    for (const axis of ["i", "j"] as const) {
      const middle = segments.reduce((sum, { from, to }) => sum + (from[axis] + to[axis]) / 2, 0) / segments.length;
      expect(middle).toBeCloseTo(2, 12);
    }
  });
});

describe("the way of a training", () => {
  test("is kept of networks that it fits", () => {
    expect([snapshotsOf(50_000), snapshotsOf(1e6), snapshotsOf(2e6)]).toEqual([33, 8, 0]);
  });

  test("is the same in pieces", () => {
    for (const ends of [[500], [3, 500], [64, 65, 90, 500], [1, 2, 3, 250, 499, 500]]) {
      let way: Way = [];
      let from = 0;
      for (const end of ends) {
        way = joined(way, kept(from, end, 20), 20);
        from = end;
      }
      expect(stepsOf(way)).toEqual(stepsOf(joined([], kept(0, 500, 20), 20)));
    }
  });

  test("stays as it is where nothing is added", () => {
    const way = joined([], kept(0, 9, 5), 5);
    expect(joined(way, [], 5)).toBe(way);
  });
});

describe("a way over a landscape", () => {
  /** 5 × 3 points, of which 0, 0 is at the second column of the middle row. */
  const surface: Landscape = {
    ...landscape([
      [0, 1, 2, 3, 4],
      [1, 2, 3, 4, 5],
      [2, 3, 4, 5, 6],
    ]),
    s: Float64Array.of(-1, 0, 1, 2, 3),
    t: Float64Array.of(-2, 0, 2),
    path: { s: Float64Array.of(2.5, 1, 0), t: Float64Array.of(1, 2, 0), explained: [0.87, 0.092], share: 0.962 },
  };

  test("ends at the weights, wherever those are", () => {
    expect(weightsAt(surface)).toEqual({ i: 1, j: 1 });
    expect(placesOf(surface)).toEqual([
      { i: 3.5, j: 1.5 },
      { i: 2, j: 2 },
      { i: 1, j: 1 },
    ]);
    expect(placesOf(landscape([[0, 1]]))).toEqual([]);
  });

  test("lies on the surface", () => {
    const heights = heightsOf([surface], "linear");
    for (const place of placesOf(surface)) expect(heightAt(surface, heights, place) * 6).toBeCloseTo(place.i + place.j);
    expect(heightAt(surface, heights, { i: 4, j: 2 })).toBe(1);
  });

  test("is drawn where the surface is", () => {
    const parts = finely(surface, placesOf(surface));
    expect(parts).toHaveLength(1);
    expect(parts[0]?.length).toBeGreaterThan(10);
    // Of the last row nothing is there yet.
    const path = { ...surface.path, s: Float64Array.of(2.5, 1, 0), t: Float64Array.of(-1, 2, 0) } as Landscape["path"];
    const growing = { ...surface, path, loss: surface.loss.slice(0, 10) };
    const rows = finely(growing, placesOf(growing)).flat();
    expect(rows.length).toBeGreaterThan(1);
    expect(Math.max(...rows.map(({ j }) => j))).toBeLessThanOrEqual(1);
  });

  test("lies on a line", () => {
    const line = { ...landscape([[4, 2, 0, 2]]), s: Float64Array.of(-2, 0, 2, 4), t: new Float64Array() };
    const path = { s: Float64Array.of(3, 1, 0, 9), t: new Float64Array(), explained: [0.5], share: 0.5 };
    expect(onLine({ ...line, path })).toEqual([
      { s: 3, loss: 1 },
      { s: 1, loss: 1 },
      { s: 0, loss: 2 },
    ]);
  });

  test("is said in words", () => {
    expect(waySaid(surface, "way")).toContain("explain 87 % and 9.2 % of its variance");
    expect(waySaid({ ...surface, path: undefined }, "way")).toBe("");
    const far = { s: Float64Array.of(1, 0), t: Float64Array.of(1, 0), explained: [0, 0], share: 0.00001 };
    expect(waySaid({ ...surface, path: far }, "random")).toContain(
      "onto this plane, which holds less than 0.1 % of it",
    );
  });
});

describe("a training in pieces", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const choice: TrainChoice = { optimizer: "sgd", learningRate: 0.1, batchSize: 4, epochs: 20, seed: 1 };
  const model = {
    network: { parameterCount: 1 },
    train: { samples: 40 },
    trained: Float64Array.of(0),
  };
  const session = { model } as unknown as Session;

  /** A step every 100 ms, 200 in all; `slow`: how long the end of each piece takes beside, by its number. */
  function trainer(asked: (TrainOptions | undefined)[], slow = (_piece: number): number => 0): Engine {
    const train = async (_: unknown, __: unknown, options?: TrainOptions): Promise<TrainResult> => {
      asked.push(options);
      const from = options?.checkpoint?.steps ?? 0;
      let step = from;
      while (step < 200 && !options?.finish?.aborted) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        step++;
      }
      await new Promise((resolve) => setTimeout(resolve, slow(asked.length)));
      const parameters = Float64Array.of(step);
      const checkpoint = { steps: step } as Checkpoint;
      const snapshots = kept(from, step, 33);
      return { parameters, checkpoint, snapshots, stopped: step < 200, epochs: step / 10 } as TrainResult;
    };
    return { train } as unknown as Engine;
  }

  test("keeps a checkpoint every two seconds, and comes to its end", async () => {
    const asked: (TrainOptions | undefined)[] = [];
    const checkpoints: number[] = [];
    const run = new TrainingRun(session, choice, async ({ steps }) => void checkpoints.push(steps));
    const reached = run.on(trainer(asked), { signal: new AbortController().signal });
    await vi.advanceTimersByTimeAsync(30_000);
    const { stopped, parameters, way } = await reached;
    expect([stopped, parameters[0]]).toEqual([false, 200]);
    expect(checkpoints.length).toBeGreaterThan(4);
    expect(checkpoints.length).toBeLessThan(11);
    expect(asked.map((options) => options?.checkpoint?.steps ?? 0)).toEqual([0, ...checkpoints]);
    expect(stepsOf(way)).toEqual(stepsOf(joined([], kept(0, 200, 33), 33)));
  });

  const lengths = async (slow: (piece: number) => number): Promise<number[]> => {
    const checkpoints = [0];
    const run = new TrainingRun(session, choice, async ({ steps }) => void checkpoints.push(steps));
    void run.on(trainer([], slow), {});
    await vi.advanceTimersByTimeAsync(60_000);
    return checkpoints.slice(1).map((steps, index) => steps - (checkpoints[index] ?? 0));
  };

  test("keeps them as often where one takes long once, the first or a later one", async () => {
    for (const slowOnce of [1, 2, 4]) {
      const found = await lengths((piece) => (piece === slowOnce ? 1000 : 0));
      expect(Math.max(...found)).toBeLessThan(25);
      expect(found.length).toBeGreaterThan(8);
    }
  });

  test("keeps them less often where each takes long, but not at once", async () => {
    const [first = 0, ...more] = await lengths(() => 200);
    expect(first).toBeLessThan(10);
    expect([more[0], more[1], more[2]].map((steps = 0) => Math.round(steps / 10))).toEqual([2, 4, 8]);
  });

  test("ends with Stop, and goes on where it was", async () => {
    const stop = new AbortController();
    const run = new TrainingRun(session, choice, async () => {});
    const reached = run.on(trainer([]), { signal: stop.signal });
    await vi.advanceTimersByTimeAsync(7_050);
    stop.abort();
    await vi.advanceTimersByTimeAsync(200);
    const { stopped, checkpoint, way } = await reached;
    expect([stopped, checkpoint.steps > 50]).toEqual([true, true]);
    const asked: (TrainOptions | undefined)[] = [];
    const rest = new TrainingRun(session, choice, async () => {}, checkpoint, way).on(trainer(asked), {});
    await vi.advanceTimersByTimeAsync(30_000);
    expect(asked[0]?.checkpoint).toBe(checkpoint);
    expect(stepsOf((await rest).way)).toEqual(stepsOf(joined([], kept(0, 200, 33), 33)));
  });

  test("takes a lost device for no beginning", async () => {
    const asked: (TrainOptions | undefined)[] = [];
    const whole = trainer(asked);
    let calls = 0;
    const failing = {
      train: (...of: Parameters<Engine["train"]>) => {
        if (++calls === 3) return Promise.reject(new Error("lost"));
        return whole.train(...of);
      },
    } as unknown as Engine;
    const run = new TrainingRun(session, choice, async () => {});
    const lost = run.on(failing, {}).catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await lost).toBe("lost");
    const again = run.on(whole, {});
    await vi.advanceTimersByTimeAsync(30_000);
    await again;
    expect(asked[2]?.checkpoint?.steps).toBeGreaterThan(20);
  });
});

test("an unfinished training says how far it had come", () => {
  const choice: TrainChoice = { optimizer: "sgd", learningRate: 0.1, batchSize: 4, epochs: 8, seed: 1 };
  const of = { run: "1", choice, network: "784-10", history: [], stamp: null };
  expect(unfinishedSaid({ ...of, epochs: 3.4375 })).toContain("784-10 is at 3.4 of 8 epochs");
  expect(unfinishedSaid({ ...of, epochs: 0 })).toContain("784-10 was kept at its beginning");
  expect(unfinishedSaid({ ...of, epochs: 3, isElsewhere: true })).toMatch(/8 epochs.*in another tab/);
});
