import { describe, expect, test } from "vitest";
import { type AxisLabel, axesOf, lossTicks } from "../../www/src/charts/axes";
import { heightsOn } from "../../www/src/charts/heights";
import { byKey } from "../../www/src/charts/orbit";
import { FIRST_ORBIT, type Orbit, projection } from "../../www/src/charts/relief";

const axis = Float64Array.from({ length: 21 }, (_, index) => -1 + index / 10);
const relief = { s: axis, t: axis, loss: new Float64Array(21 * 21) };
const heights = heightsOn({ kind: "log", low: 0.0495, high: 257 });
/** Of the stage on a laptop, a large screen, a tablet, a phone and a small one. */
const sizes = [
  [451, 174],
  [760, 390],
  [390, 328],
  [182, 187],
  [147, 152],
] as const;
const LETTER = 6.6;

function box({ text, x, y, anchor }: AxisLabel) {
  const wide = LETTER * text.length;
  const left = anchor === "start" ? x : anchor === "end" ? x - wide : x - wide / 2;
  return { left, right: left + wide, top: y - 6, bottom: y + 6 };
}

/** All the way round, and from the floor to above. */
function* orbits(): Generator<Orbit> {
  let orbit = FIRST_ORBIT;
  for (let lift = 0; lift < 14; lift++) {
    for (let around = 0; around < 48; around++) {
      yield orbit;
      orbit = byKey(orbit, "ArrowLeft") ?? orbit;
    }
    orbit = byKey(orbit, lift < 7 ? "ArrowUp" : "ArrowDown") ?? orbit;
  }
}

const names = (labels: AxisLabel[]) => labels.filter(({ isName }) => isName).map(({ axis }) => axis);
const numbers = (labels: AxisLabel[], of: string) =>
  labels.filter(({ axis, isName }) => axis === of && !isName).map(({ text }) => text);

describe("numbers at a surface's box", () => {
  test.each(sizes)("lie over no other and within the view, from wherever one looks: %i × %i", (width, height) => {
    for (const orbit of orbits()) {
      const { labels } = axesOf(relief, heights, orbit, width, height);
      const boxes = labels.map(box);
      for (const [index, one] of boxes.entries()) {
        expect(one.left).toBeGreaterThanOrEqual(0);
        expect(one.right).toBeLessThanOrEqual(width);
        expect(one.top).toBeGreaterThanOrEqual(0);
        expect(one.bottom).toBeLessThanOrEqual(height);
        for (const other of boxes.slice(index + 1)) {
          const isOver =
            one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
          expect(isOver, JSON.stringify({ labels, orbit })).toBe(false);
        }
      }
    }
  });

  test.each(sizes)("are there for both directions as the page opens: %i × %i", (width, height) => {
    const { labels, marks } = axesOf(relief, heights, FIRST_ORBIT, width, height);
    expect(names(labels)).toEqual(expect.arrayContaining(["s", "t"]));
    for (const direction of ["s", "t"]) expect(numbers(labels, direction).length).toBeGreaterThanOrEqual(2);
    expect(marks).toHaveLength(labels.length - names(labels).length);
  });

  test("say the loss where there is room for it, each at its height", () => {
    const { labels, marks } = axesOf(relief, heights, FIRST_ORBIT, 760, 390);
    expect(names(labels)).toContain("loss");
    expect(numbers(labels, "loss")).toEqual(expect.arrayContaining(["1", "10", "100"]));
    // The corner farthest to the left, as it is seen first.
    const project = projection(FIRST_ORBIT, 760, 390);
    const ten = project([-1, heights.at(10) * 1.25, 1]);
    const label = labels.find(({ axis, text }) => axis === "loss" && text === "10");
    expect(label?.y).toBeCloseTo(ten.y, 6);
    expect(marks.some(({ from }) => Math.abs(from.x - ten.x) < 1e-9 && Math.abs(from.y - ten.y) < 1e-9)).toBe(true);
  });

  test("stand at the points that they are of", () => {
    const { labels, marks } = axesOf(relief, heights, FIRST_ORBIT, 760, 390);
    const project = projection(FIRST_ORBIT, 760, 390);
    const tips = labels.filter(({ isName }) => !isName);
    for (const [index, { axis, text }] of tips.entries()) {
      if (axis === "loss") continue;
      const value = Number(text.replace("−", "-"));
      const { x, y } = project(axis === "s" ? [value, 0, 1] : [1, 0, -value]);
      expect(marks[index]?.from.x).toBeCloseTo(x, 6);
      expect(marks[index]?.from.y).toBeCloseTo(y, 6);
    }
  });
});

describe("losses that one reads at a glance", () => {
  const labels = (kind: "log" | "linear", low: number, high: number) =>
    lossTicks(heightsOn({ kind, low, high })).map(({ label }) => label);

  test("are powers of ten first, within the scale", () => {
    expect(labels("log", 0.0495, 257).slice(0, 4)).toEqual(["0.1", "1", "10", "100"]);
    expect(labels("log", 0.5, 3e6)).toContain("10⁶");
  });
  test("are even on a linear scale, or where there is no power of ten", () => {
    expect(labels("linear", 0, 2)).toEqual(["0", "0.5", "1", "1.5", "2"]);
    expect(labels("log", 0.31, 0.39).length).toBeGreaterThanOrEqual(2);
  });
  test("there are none where all losses are one", () => {
    expect(labels("log", 1, 1)).toEqual([]);
  });
});
