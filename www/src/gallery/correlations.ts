/** How measures go with the generalisation gap over networks that were measured as they were trained, and after a rescaling. */

import type { Correlation, Measured, Petzka } from "./results";
import { kendall, type Pair, pearson } from "./statistics";

type Run = Petzka["runs"][number];
type Point = "at" | "rescaled";

/** Of every measure, and of every layer's; those that go best come first. What has no correlation is left out. */
export function correlationsOf(runs: readonly Run[]): Correlation[] {
  const first = runs[0]?.at;
  if (!first) return [];
  const values = [
    ...Object.keys(first.measures).map((measure) => ({ measure, of: (point: Measured) => point.measures[measure] })),
    ...Object.entries(first.layers).flatMap(([family, layers]) =>
      layers.map((_, layer) => ({
        measure: `petzka.${family}, layer ${layer + 1}`,
        of: (point: Measured) => point.layers[family]?.[layer],
      })),
    ),
  ];
  const rows = values.flatMap(({ measure, of }): Correlation[] => {
    const both = (point: Point): Omit<Correlation, "measure" | "rescaled"> | null => {
      const pairs = runs.flatMap((run): Pair[] => {
        const measured = run[point];
        const value = measured && of(measured);
        return value === undefined || value === null ? [] : [[value, run.test_loss - run.training_loss]];
      });
      const [linear, ranked] = [pearson(pairs), kendall(pairs)];
      return linear && ranked && { pearson: linear, kendall: ranked };
    };
    const [at, rescaled] = [both("at"), both("rescaled")];
    return at && rescaled ? [{ measure, ...at, rescaled }] : [];
  });
  return rows.sort((a, b) => b.kendall.value - a.kendall.value);
}
