import { describe, expect, test } from "vitest";
import { Pace } from "../../www/src/pace";

function clock() {
  let seconds = 100;
  const pass = (by: number): void => {
    seconds += by;
  };
  return { now: () => seconds, pass };
}

const part = (seconds: number | null, group = "products") => ({ group, seconds });

describe("Pace", () => {
  test("begins with the estimates", () => {
    const { now } = clock();
    const pace = new Pace(now);
    pace.begin(part(2));
    expect(pace.howFar([part(3), part(5)], null)).toEqual({ fraction: 0, left: 10 });
  });

  test("is corrected by what pieces have taken, the more the longer they were", () => {
    const { now, pass } = clock();
    const pace = new Pace(now);
    pace.begin(part(10));
    pass(30);
    expect(pace.end()).toBe(30);
    expect(pace.factor("products")).toBeGreaterThan(2.5);
    expect(pace.howFar([part(10)], null).left).toBeGreaterThan(25);
    const short = new Pace(now);
    short.begin(part(0.1));
    pass(0.3);
    short.end();
    expect(short.factor("products")).toBeLessThan(1.3);
  });

  test("says nothing of other kinds of work", () => {
    const { now, pass } = clock();
    const pace = new Pace(now);
    pace.begin(part(40, "training"));
    pass(5);
    pace.end();
    expect(pace.howFar([part(10)], null).left).toBe(10);
  });

  test("goes by the piece's own share as soon as that tells", () => {
    const { now, pass } = clock();
    const pace = new Pace(now);
    pace.begin(part(40));
    pass(2);
    expect(pace.howFar([], 0.5).left).toBeCloseTo(2);
  });

  test("a piece that is over its time is not said to be done", () => {
    const { now, pass } = clock();
    const pace = new Pace(now);
    pace.begin(part(2));
    pass(8);
    const { fraction, left } = pace.howFar([], null);
    expect(left).toBe(2);
    expect(fraction).toBeCloseTo(0.8);
  });

  test("the bar never goes back, not even when more is to be done", () => {
    const { now, pass } = clock();
    const pace = new Pace(now);
    pace.begin(part(2));
    pass(1);
    const before = pace.howFar([part(1)], null).fraction ?? 0;
    expect(pace.howFar([part(1), part(20)], null).fraction).toBe(before);
  });

  test("counts pieces where times are not known", () => {
    const { now, pass } = clock();
    const pace = new Pace(now);
    pace.begin(part(null));
    pass(1);
    pace.end();
    pace.begin(part(null));
    expect(pace.howFar([part(null), part(null)], null)).toEqual({ fraction: 0.25, left: null });
  });

  test("goes on from where it rested", () => {
    const { now, pass } = clock();
    const pace = new Pace(now);
    pace.begin(part(5));
    pass(5);
    pace.end();
    pace.begin(part(5));
    const before = pace.howFar([], null).fraction;
    pace.rest();
    pass(1000);
    pace.begin(part(5));
    expect(pace.howFar([], null).fraction).toBe(before);
  });
});
