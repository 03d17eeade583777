import { describe, expect, test } from "vitest";
import { LastReadings, type Reading } from "../../www/src/readings";

const reading = (part: Partial<Reading>): Reading => ({
  id: "swings",
  key: "hessian.spectral_norm",
  title: "Hessian norm",
  about: "",
  trained: 2.65,
  bent: undefined,
  text: String,
  at: () => 0,
  verdict: { kind: "pending", text: "computing…" },
  ...part,
});
const computed = (bent: number, trained = 2.65) => reading({ trained, bent, verdict: { kind: "moves", text: "" } });

describe("what a gauge shows while it computes", () => {
  test("is what it showed before", () => {
    const last = new LastReadings();
    expect(last.of(computed(415)).before).toBeUndefined();
    expect(last.of(reading({})).before).toBe(415);
    expect(last.of(computed(5225)).before).toBeUndefined();
    expect(last.of(reading({})).before).toBe(5225);
  });
  test("is nothing where there was nothing, or of another network, or of another measure", () => {
    const last = new LastReadings();
    expect(last.of(reading({})).before).toBeNull();
    last.of(computed(415));
    expect(last.of(reading({ trained: 3 })).before).toBeNull();
    expect(last.of(reading({ key: "hessian.trace" })).before).toBeNull();
  });
  test("is not kept where nothing is computed", () => {
    const last = new LastReadings();
    last.of(computed(415));
    expect(last.of(reading({ verdict: { kind: "none", text: "not computed" } })).before).toBeUndefined();
    last.of(reading({ trained: undefined }));
    expect(last.of(reading({})).before).toBeNull();
  });
});
