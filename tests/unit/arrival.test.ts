import { describe, expect, test } from "vitest";
import { type Arrival, decoded, encoded } from "../../www/src/arrival/arrival";
import { landscape, measured } from "./states";

describe("An arrival", () => {
  const surface = landscape([
    [0.123456789, 2],
    [3, 4],
  ]);
  const pixels = Uint8ClampedArray.from([0, 255, 7]);
  const arrival = {
    surface,
    measures: [measured("loss", 0.1234567890123)],
    examples: { of: "test", labels: [7], images: [{ width: 1, height: 1, pixels }], answers: [[0.5, 0.5]] },
    accuracy: null,
  } as unknown as Arrival;

  test("comes back with its arrays as what they were", () => {
    const back = decoded(encoded(arrival));
    expect(back.surface.loss).toBeInstanceOf(Float64Array);
    expect(back.surface.s).toEqual(surface.s);
    expect(back.examples.images[0]?.pixels).toEqual(pixels);
    expect(back.examples.labels).toEqual([7]);
    expect(back.accuracy).toBeNull();
  });

  test("keeps every digit of a measure, and of a drawing those that can be seen", () => {
    const back = decoded(encoded(arrival));
    expect(back.measures[0]?.value).toBe(0.1234567890123);
    expect(back.surface.loss[0]).toBe(0.1234568);
  });
});
