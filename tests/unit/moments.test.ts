import { expect, test, vi } from "vitest";
import { ShortTasks } from "../../www/src/moments";

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
