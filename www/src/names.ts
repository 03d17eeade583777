/** The measures' names as people read them; the keys stay what programs read. */

import type { MeasureDescription, MeasureKey } from "isoflat";

export function measureName(descriptions: MeasureDescription[], key: MeasureKey | "outputs"): string {
  return key === "outputs" ? "Outputs" : (descriptions.find((measure) => measure.key === key)?.title ?? key);
}
