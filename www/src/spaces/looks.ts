/** Methods that differ in nothing but the choice of their fixed weights: a colour and a mark for each, in the lab as in stored results. */

import type { FixedChoice } from "isoflat";
import type { XySeries } from "../charts/xy";

export type Look = Pick<XySeries, "kind" | "dashed" | "mark">;

export const OF_CHOICES: Record<FixedChoice, Look> = {
  diagonal: { kind: "space-weight_fixing", dashed: false, mark: "square" },
  hungarian_distance: { kind: "of-value-4", dashed: false, mark: "diamond" },
  hungarian: { kind: "of-value-3", dashed: true, mark: "ring" },
};
