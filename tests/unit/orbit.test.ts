/** How hands move the point from which surfaces are seen. */

import { expect, test } from "vitest";
import { byKey, closerBy, moved } from "../../www/src/charts/orbit";
import { FIRST_ORBIT, type Orbit, TARGET } from "../../www/src/charts/relief";

const offset = ({ position }: Orbit) => position.map((x, axis) => x - (TARGET[axis] ?? 0));
const distance = (orbit: Orbit) => Math.hypot(...offset(orbit));
const lift = (orbit: Orbit) => Math.asin((offset(orbit)[1] ?? 0) / distance(orbit));

const near = (orbit: Orbit | undefined, other: Orbit) =>
  orbit?.position.forEach((x, axis) => {
    expect(x).toBeCloseTo(other.position[axis] ?? Number.NaN, 9);
  });

test("a whole turn comes back", () => {
  near(moved(FIRST_ORBIT, { around: 2 * Math.PI }), FIRST_ORBIT);
  near(moved(moved(FIRST_ORBIT, { around: 1, lift: 0.2 }), { around: -1, lift: -0.2 }), FIRST_ORBIT);
});

test("turning keeps the distance, coming closer the direction", () => {
  expect(distance(moved(FIRST_ORBIT, { around: 0.7, lift: 0.3 }))).toBeCloseTo(distance(FIRST_ORBIT), 9);
  const closer = moved(FIRST_ORBIT, { closer: 1.5 });
  expect(distance(closer)).toBeCloseTo(distance(FIRST_ORBIT) / 1.5, 9);
  expect(lift(closer)).toBeCloseTo(lift(FIRST_ORBIT), 9);
});

test("one stays above the floor but for a little, beside the top, and within reach", () => {
  expect(lift(moved(FIRST_ORBIT, { lift: -9 }))).toBeCloseTo(-0.02 * Math.PI, 9);
  expect(lift(moved(FIRST_ORBIT, { lift: 9 }))).toBeLessThan(Math.PI / 2);
  expect(distance(moved(FIRST_ORBIT, { closer: 1e6 }))).toBeCloseTo(2.5, 9);
  expect(distance(moved(FIRST_ORBIT, { closer: 1e-6 }))).toBeCloseTo(12, 9);
});

test("keys turn, zoom and return; others mean nothing", () => {
  const left = byKey(FIRST_ORBIT, "ArrowLeft");
  expect(left && byKey(left, "ArrowRight")).toBeDefined();
  near(left && byKey(left, "ArrowRight"), FIRST_ORBIT);
  expect(distance(byKey(FIRST_ORBIT, "+") ?? FIRST_ORBIT)).toBeLessThan(distance(FIRST_ORBIT));
  expect(distance(byKey(FIRST_ORBIT, "-") ?? FIRST_ORBIT)).toBeGreaterThan(distance(FIRST_ORBIT));
  expect(left && byKey(left, "Home")).toEqual(FIRST_ORBIT);
  expect(byKey(FIRST_ORBIT, "Tab")).toBeUndefined();
});

test("a wheel's lines and pages are more than its pixels, up is closer", () => {
  const by = (deltaY: number, deltaMode = 0, ctrlKey = false) => closerBy({ deltaY, deltaMode, ctrlKey });
  expect(by(-100)).toBeGreaterThan(1);
  expect(by(100) * by(-100)).toBeCloseTo(1, 12);
  expect(by(3, 1)).toBeCloseTo(by(48), 12);
  expect(by(1, 2)).toBeCloseTo(by(100), 12);
  expect(by(-10, 0, true)).toBeCloseTo(by(-100), 12);
});
