/** The three numbers of the stage: one that a bend swings, one that stands, and whether the network is any worse. */

import type { MeasureKey } from "isoflat";
import { type Bend, measuresOf, type State } from "./store";

export const SWINGS: MeasureKey = "hessian.spectral_norm";

/** In the metric that the bend's maps leave alone. */
export function standsFor({ nodewise }: Bend): MeasureKey {
  return `riemannian.${nodewise ? "nodewise" : "layerwise"}_flat.spectral_norm`;
}

/** What the gauges need of each point. */
export function gaugeKeys(state: State): [swings: MeasureKey[], stands: MeasureKey[]] {
  const defined = measuresOf(state).map(({ key }) => key);
  const there = (key: MeasureKey) => defined.filter((other) => other === key);
  return [there(SWINGS), there(standsFor(state.bend))];
}
