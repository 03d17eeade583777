import { expect, test, vi } from "vitest";
import { areProcessorsFew, handsOn, ShortTasks } from "../../www/src/moments";

test("parts of long work share a task as long as it is short, and then get another", async () => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const yields: number[] = [];
  vi.stubGlobal("scheduler", {
    yield: async () => {
      yields.push(now);
    },
  });
  const tasks = new ShortTasks();
  const part = (takes: number) => () => {
    now += takes;
    return takes;
  };
  expect(await tasks.run(part(4))).toBe(4);
  await tasks.run(part(4));
  expect(yields).toEqual([]);
  await tasks.run(part(40));
  expect(yields).toEqual([]);
  await tasks.run(part(1));
  await tasks.run(part(1));
  expect(yields).toEqual([48]);
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test("where a browser has no scheduler they do too", async () => {
  vi.stubGlobal("scheduler", undefined);
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const tasks = new ShortTasks();
  await tasks.run(() => {
    now += 100;
  });
  let awaited = 0;
  void (async () => {
    for (; awaited < 50; awaited++) await null;
  })();
  // A task of its own comes when all that is only awaited is over.
  await tasks.run(() => {});
  expect(awaited).toBe(50);
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test("two processors are few, three are not", () => {
  for (const [processors, few] of [
    [1, true],
    [2, true],
    [3, false],
    [8, false],
  ] as const) {
    vi.stubGlobal("navigator", { hardwareConcurrency: processors });
    expect(areProcessorsFew()).toBe(few);
  }
  vi.unstubAllGlobals();
});

test("somebody is at the page once anything moves over it or is pressed, and not before", async () => {
  for (const kind of ["pointermove", "pointerdown", "keydown"]) {
    const page = new EventTarget();
    vi.stubGlobal("window", page);
    let isThere = false;
    const there = handsOn().then(() => {
      isThere = true;
    });
    page.dispatchEvent(new Event("scroll"));
    await Promise.resolve();
    expect(isThere).toBe(false);
    page.dispatchEvent(new Event(kind));
    await there;
    expect(isThere).toBe(true);
  }
  vi.unstubAllGlobals();
});
