import type { PetzkaReport } from "isoflat";
import { expect, test } from "vitest";
import { resultFile } from "../../www/src/result";
import { INFO, landscape, measured, state } from "./states";

test("the saved result holds every number as JSON can hold it", () => {
  const report: PetzkaReport = {
    kappa: [],
    kappaTrace: [1],
    rho: [new Float64Array([1, 2])],
    relativeFlatness: [3],
    backend: INFO,
  };
  const text = resultFile(
    state({
      measures: { trained: new Map([["loss", measured("loss", 0.5)]]), bent: new Map() },
      layers: { trained: report },
      surfaces: {
        trained: landscape([
          [1, 2],
          [3, 4],
        ]),
      },
    }),
  );
  const saved = JSON.parse(text);
  expect(saved.isoflat).toBe("result");
  expect(saved.backend).toEqual(INFO);
  expect(saved.measures).toEqual({ trained: [{ key: "loss", value: 0.5, converged: true }], bent: [] });
  // Typed arrays would have become objects.
  expect(saved.layers.trained.rho).toEqual([[1, 2]]);
  expect(saved.landscape.surface.trained.loss).toEqual([1, 2, 3, 4]);
  expect(saved.landscape.surface.bent).toBeUndefined();
});
