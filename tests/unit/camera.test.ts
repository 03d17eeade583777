import { describe, expect, test } from "vitest";
import { cameraText, FIRST_LOOK, lookOf, lookText, orbitOf } from "../../www/src/charts/camera";
import { moved, polarOf } from "../../www/src/charts/orbit";
import { FIRST_ORBIT } from "../../www/src/charts/relief";

const DEGREES = 180 / Math.PI;

describe("The camera in an address", () => {
  test("is left out where the page begins", () => {
    expect(cameraText(FIRST_ORBIT)).toBeNull();
    expect(lookText(FIRST_LOOK)).toBeNull();
    expect(lookOf(null, null)).toEqual(FIRST_LOOK);
  });

  test("comes back to a tenth of a degree", () => {
    const orbit = moved(FIRST_ORBIT, { around: -1.234, lift: 0.321, closer: 1.4 });
    const [was, is] = [polarOf(orbit), polarOf(orbitOf(cameraText(orbit)))];
    expect(Math.abs(is.around - was.around) * DEGREES).toBeLessThan(0.05001);
    expect(Math.abs(is.lift - was.lift) * DEGREES).toBeLessThan(0.05001);
    expect(Math.abs(is.distance - was.distance)).toBeLessThan(0.005001);
    expect(cameraText(orbitOf(cameraText(orbit)))).toBe(cameraText(orbit));
  });

  test("comes back from the ends that a hand gets to", () => {
    for (const by of [{ lift: 9 }, { lift: -9 }, { closer: 99 }, { closer: 0.01 }]) {
      const text = cameraText(moved(FIRST_ORBIT, by));
      expect(cameraText(orbitOf(text))).toBe(text);
    }
  });

  test("that says no place is where the page begins", () => {
    for (const text of ["", "a_b_c", "10_20", "10_20_5_1", "10_120_5", "10_20_500", "10_20_0", "Infinity_20_5"]) {
      expect(orbitOf(text), text).toBe(FIRST_ORBIT);
    }
  });

  test("has the kind of view and the scale of its heights", () => {
    for (const view of ["surface", "contour", "line"] as const) {
      for (const height of ["log", "linear"] as const) {
        const look = { ...FIRST_LOOK, view, height };
        expect(lookOf(lookText(look), null)).toEqual(look);
      }
    }
    expect(lookOf("sideways_up", null)).toEqual(FIRST_LOOK);
  });
});
