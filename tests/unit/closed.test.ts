/** What a closed part of the page shows waits until it has rested or is opened. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Closed } from "../../www/src/closed";

let open = "";
const closed = new Closed((part) => part !== open);

beforeEach(() => {
  open = "";
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

test("an open part draws at once", () => {
  open = "measures";
  const draw = vi.fn();
  closed.draw("measures", draw);
  expect(draw).toHaveBeenCalledTimes(1);
  vi.runAllTimers();
  expect(draw).toHaveBeenCalledTimes(1);
});

test("a closed one draws once, when nothing has asked for a while", () => {
  const draw = vi.fn();
  for (let k = 0; k < 10; k++) {
    closed.draw("measures", draw);
    vi.advanceTimersByTime(50);
  }
  expect(draw).not.toHaveBeenCalled();
  vi.runAllTimers();
  expect(draw).toHaveBeenCalledTimes(1);
});

test("what has waited is drawn when the part is opened, and not again", () => {
  const [measures, spectrum] = [vi.fn(), vi.fn()];
  closed.draw("measures", measures);
  closed.draw("spectrum", spectrum);
  open = "measures";
  closed.opened("measures");
  expect([measures, spectrum].map((draw) => draw.mock.calls.length)).toEqual([1, 0]);
  vi.runAllTimers();
  expect([measures, spectrum].map((draw) => draw.mock.calls.length)).toEqual([1, 1]);
});

test("drawings have a task each", () => {
  const draws = [vi.fn(), vi.fn()];
  for (const draw of draws) closed.draw("measures", draw);
  vi.advanceTimersToNextTimer();
  expect(draws.map((draw) => draw.mock.calls.length)).toEqual([1, 0]);
  vi.advanceTimersToNextTimer();
  expect(draws.map((draw) => draw.mock.calls.length)).toEqual([1, 1]);
});
