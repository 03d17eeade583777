import { describe, expect, test } from "vitest";
import { TRAINING } from "../../www/src/arrival/arrival";
import { readSettings, settingsOf } from "../../www/src/reopen";
import { resultFile } from "../../www/src/result";
import type { State } from "../../www/src/store";
import type { ModelChoice } from "../../www/src/worker/protocol";
import { state } from "./states";

const model: ModelChoice = {
  network: { kind: "preset", name: "small" },
  init: { scheme: "kaiming_uniform", scale: 1, seed: 1 },
  data: { kind: "mnist", samples: 100 },
  measured: 10,
};
const bend = { lambda: [2, 0.5], nodewise: null, permutation: null };
const file = (text: string, name = "isoflat-result.json") => new File([text], name);

describe("settingsOf", () => {
  test("finds in a result what makes its numbers", async () => {
    const of = state({ modelChoice: model, bend });
    const settings = await settingsOf([file(resultFile(of))]);
    expect(settings).toEqual({ model, training: null, bend, landscape: of.landscapeChoice });
  });

  test("leaves every other file, and several of them, to those who open models", async () => {
    expect(await settingsOf([file('{"network": {}}')])).toBeNull();
    expect(await settingsOf([file(resultFile(state({ modelChoice: model })), "result.txt")])).toBeNull();
    expect(await settingsOf([file("{}"), file("{}")])).toBeNull();
  });
});

describe("readSettings", () => {
  test("says why a result cannot be had again", () => {
    expect(() => readSettings("r.json", '{"isoflat": "result"')).toThrow(/r\.json is a result, but no JSON/);
    expect(() => readSettings("r.json", resultFile(state({ modelChoice: null })))).toThrow(/open those files/);
    expect(() => readSettings("r.json", JSON.stringify({ settings: { model } }))).toThrow(/without all/);
    const training = { epochs: 2.5, stopped: true, loss: 1, accuracy: 1 };
    const stopped = resultFile(state({ modelChoice: model, bend, training, trainChoice: TRAINING }));
    expect(() => readSettings("r.json", stopped)).toThrow(/training that was stopped/);
  });

  test("has the options of a training only where there was one", () => {
    const training = { epochs: 8, stopped: false, loss: 1, accuracy: 1 };
    const of = (change: Partial<State>) =>
      readSettings("r.json", resultFile(state({ modelChoice: model, bend, trainChoice: TRAINING, ...change })))
        .training;
    expect([of({}), of({ training })]).toEqual([null, TRAINING]);
  });
});
