import { describe, expect, test } from "vitest";
import { advice } from "../../www/src/errors";
import {
  accuracySaid,
  canTrain,
  divergenceSaid,
  epochsSaid,
  hasDiverged,
  lossOfGuessing,
  lossSaid,
  trainedFor,
} from "../../www/src/training";
import { model } from "./states";

describe("a run that diverged", () => {
  const summary = { epochs: 1, stopped: false, loss: 0.5, accuracy: 0.9 };

  test("is said to have", () => {
    for (const loss of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(lossSaid(loss)).toBe("diverged");
      expect(hasDiverged({ ...summary, loss }, model())).toBe(true);
      expect(hasDiverged({ ...summary, validationLoss: loss }, model())).toBe(true);
      expect(divergenceSaid({ ...summary, loss }, model())).toMatch(/diverged.*no finite number/);
    }
    expect(accuracySaid(Number.NaN)).toBe("–");
  });

  test("also where its units are dead and its loss is as large as it happens to be", () => {
    const dead = { ...summary, loss: 1.35e6, accuracy: 0.05 };
    expect(hasDiverged(dead, model())).toBe(true);
    expect(divergenceSaid(dead, model())).toMatch(/1\.35.*guessing has 2\.30/);
    expect(hasDiverged(dead, model({ loss: "squared_error" }))).toBe(false);
  });

  test("and others are not", () => {
    expect([lossSaid(0.25), accuracySaid(0.5), hasDiverged(summary, model())]).toEqual(["0.250", "50.0 %", false]);
    for (const loss of [2.3, 3]) expect(hasDiverged({ ...summary, loss }, model())).toBe(false);
    expect(hasDiverged({ ...summary, validationLoss: 30 }, model())).toBe(false);
  });

  test("guessing knows the number of classes", () => {
    expect(lossOfGuessing(model())).toBeCloseTo(Math.log(10));
    expect(lossOfGuessing(model({ layers: ["784 → 64", "conv 1×1, 64 → 100 channels"] }))).toBeCloseTo(Math.log(100));
    expect(lossOfGuessing(model({ loss: "squared_error" }))).toBeNull();
    expect(lossOfGuessing(model({ layers: ["784 → 1"] }))).toBeNull();
  });

  test("comes with advice on the learning rate, and not on files", () => {
    const said = advice("not_finite", "training diverged in epoch 1, step 9: try a smaller learning rate");
    expect(said).toMatch(/learning rate/);
    expect(said).not.toMatch(/file/);
    expect(advice("not_finite", "inputs[3] is NaN", true)).toMatch(/file/);
    expect(advice("not_finite", "the loss at this point is inf: its numbers overflow")).not.toMatch(/file/);
  });
});

test("how far a training came is said in epochs, with the part of the one in which it was stopped", () => {
  expect(epochsSaid({ epochs: 8, stopped: false }, 8)).toBe("8 / 8");
  expect(epochsSaid({ epochs: 8, stopped: false })).toBe("8 / 8");
  expect(epochsSaid({ epochs: 4.6667, stopped: true }, 60)).toBe("4.7 / 60 stopped");
  expect([trainedFor(60), trainedFor(60, 4.6667), trainedFor(60, 0)]).toEqual([
    "60 epochs",
    "stopped after 4.7 of 60 epochs",
    "stopped after 0 of 60 epochs",
  ]);
});

test("Train can be pressed while the network of the options is made, but for no other beginning", () => {
  expect([canTrain("idle", false), canTrain("looking", false), canTrain("starting", true)]).toEqual([true, true, true]);
  expect([canTrain("starting", false), canTrain("training", false), canTrain("training", true)]).toEqual([
    false,
    false,
    false,
  ]);
});
