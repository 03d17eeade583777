import { describe, expect, test } from "vitest";
import { axis, Rows } from "../../www/src/worker/rows";
import { INFO, landscape } from "./states";

const [s, t] = [axis([-1, 1], 3), axis([0, 3], 4)];
const row = (loss: number) => ({
  phase: "landscape",
  done: 0,
  total: 0,
  losses: [loss, loss, loss],
  accuracies: [0.1 * loss, 0.1 * loss, 0.1 * loss],
});
/** What the package gives from a row on. */
const rest = (first: number, losses: number[]) => ({
  ...landscape(losses.map((loss) => [loss, loss, loss])),
  s,
  t: t.slice(first),
  accuracy: Float64Array.from(losses.flatMap((loss) => row(loss).accuracies)),
  center: 7,
});

function stopped(...losses: number[]) {
  const rows = new Rows(null);
  rows.over(s, t, INFO);
  for (const loss of losses) rows.add(row(loss));
  return rows.sofar;
}

describe("Rows", () => {
  test("a run that was stopped and goes on is the run that was not, but for what is computed twice: nothing", () => {
    const rows = new Rows(stopped(1, Number.POSITIVE_INFINITY));
    rows.over(s, t, INFO);
    expect(rows.first).toBe(2);
    rows.add(row(3));
    expect(rows.sofar.loss).toHaveLength(9);
    expect(rows.isWhole).toBe(false);
    rows.add(row(4));
    expect(rows.isWhole).toBe(true);
    const whole = rows.with(rest(2, [3, 4]), 2);
    const inf = Number.POSITIVE_INFINITY;
    expect([...whole.loss]).toEqual([1, 1, 1, inf, inf, inf, 3, 3, 3, 4, 4, 4]);
    expect([...whole.accuracy].map((value) => value / 0.1)).toHaveLength(12);
    expect(whole.accuracy[0]).toBe(0.1);
    expect([...whole.t]).toEqual([0, 1, 2, 3]);
    expect([whole.notFinite, whole.center]).toEqual([3, 7]);
  });

  test("a device that is lost on the way leaves its rows to one like it", () => {
    const rows = new Rows(stopped(1));
    rows.over(s, t, INFO);
    rows.add(row(2));
    rows.over(s, t, { ...INFO });
    expect(rows.first).toBe(2);
    rows.over(s, t, { ...INFO, backend: "gpu" });
    expect(rows.first).toBe(0);
  });

  test("rows of another device, of as many threads as it may be, or of other points are computed anew", () => {
    const first = (...over: Parameters<Rows["over"]>) => {
      const rows = new Rows(stopped(1, 2));
      rows.over(...over);
      return rows.first;
    };
    expect(first(s, t, INFO)).toBe(2);
    expect(first(s, t, { ...INFO, threads: 2 })).toBe(0);
    expect(first(s, t, { ...INFO, precision: "f32" })).toBe(0);
    expect(first(axis([-2, 2], 3), t, INFO)).toBe(0);
    expect(first(s, axis([0, 3], 5), INFO)).toBe(0);
  });

  test("the last row is always computed: what is of the whole comes with it", () => {
    const rows = new Rows(stopped(1, 2, 3, 4));
    rows.over(s, t, INFO);
    expect(rows.first).toBe(3);
  });
});
