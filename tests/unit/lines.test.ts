import { describe, expect, test } from "vitest";
import { linePlot } from "../../www/src/charts/line";
import { thinned } from "../../www/src/charts/thin";
import { cutBack, trainingPlot } from "../../www/src/charts/training";
import { landscape } from "./states";

describe("thinned", () => {
  test("keeps the ends and every extreme of a long line, in order", () => {
    const xs = Array.from({ length: 50_000 }, (_, index) => index);
    const ys = xs.map((x) => Math.sin(x / 900));
    ys[31_234] = 7;
    ys[31_240] = -7;
    const [x, y] = thinned(xs, ys, 500);
    expect(x.length).toBeLessThanOrEqual(2000);
    expect([x[0], x.at(-1)]).toEqual([0, 49_999]);
    expect(x).toEqual([...x].sort((a, b) => a - b));
    expect([y[x.indexOf(31_234)], y[x.indexOf(31_240)]]).toEqual([7, -7]);
  });

  test("leaves a short one as it is", () => {
    expect(thinned([1, 2, 3], [4, 5, 6], 1)).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
  });
});

describe("the chart of training", () => {
  const learning = {
    span: 8,
    epoch: [1, 2, 3],
    loss: [2, null, 0.5],
    accuracy: [0.3, 0.6, 0.9],
    test: [null, null, 0.88],
  };

  test("goes over all epochs from the start, and as high as the loss was", () => {
    const { x, y, right } = trainingPlot(learning);
    expect([x.low, y.low]).toEqual([0, 0]);
    expect(x.high).toBeCloseTo(8.08);
    expect(y.high).toBeCloseTo(2.1);
    expect(right?.scale.ticks.map(({ label }) => label)).toEqual(["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]);
  });

  test("says the last numbers", () => {
    expect(trainingPlot(learning).label).toContain("loss 0.500; accuracy 90.0 %; test accuracy 88.0 %");
  });

  test("drops what is past the place where a training goes on", () => {
    const cut = structuredClone(learning);
    cutBack(cut, 4);
    expect(cut).toEqual(learning);
    cutBack(cut, 1.5);
    expect(cut).toEqual({ span: 8, epoch: [1], loss: [2], accuracy: [0.3], test: [null] });
    cutBack(cut, 0);
    expect([cut.epoch, cut.test]).toEqual([[], []]);
  });

  test("has room where there is nothing yet", () => {
    expect(trainingPlot({ span: 1, epoch: [], loss: [], accuracy: [], test: [] }).y.high).toBeGreaterThan(2);
  });
});

describe("the line through the loss", () => {
  const trained = landscape([[4, 1, 4]]);
  const bent = landscape([[4000, 1, 4000]]);

  test("is on one logarithmic axis for both", () => {
    const plot = linePlot({ trained, bent }, "log");
    expect(plot?.y.at(4000)).toBeGreaterThan(0.95);
    expect(plot?.y.at(1)).toBeGreaterThan(0);
  });

  test("is cut on a linear one, where the bent valley would hide the other", () => {
    expect(linePlot({ trained, bent }, "linear")?.y.high).toBeCloseTo(16.8);
    expect(linePlot({ trained }, "linear")?.y.high).toBeCloseTo(4.2);
  });

  test("is linear where a loss of 0 has no logarithm, and nothing where none is known", () => {
    expect(linePlot({ trained: landscape([[2, 0, 2]]) }, "log")?.y.low).toBe(0);
    expect(linePlot({}, "log")).toBeUndefined();
  });
});
