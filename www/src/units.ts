/** Which measures share what they are computed from, so that they are asked for together and nothing is computed twice. */

import type { MeasureCost, MeasureDescription, MeasureKey } from "isoflat";

const COSTS: MeasureCost[] = ["pass", "sweep", "eigenvalues", "probes", "search"];

/** Measures that are asked for together. */
export interface Unit {
  /** What they share: `sweep`, or an operator's name. */
  name: string;
  keys: MeasureKey[];
  /** The dearest one's. */
  cost: MeasureCost;
}

const isQuick = ({ cost }: MeasureDescription): boolean => cost === "pass" || cost === "sweep";

/** The operator that a measure is of; its own name where it is of none. */
function operatorOf(key: MeasureKey): string {
  if (key.startsWith("epsilon_sharpness")) return "hessian";
  if (key.startsWith("riemannian_sharpness.")) return `riemannian.${key.split(".")[1]}_flat`;
  if (key.startsWith("petzka.")) return "petzka";
  return key.includes(".") ? key.slice(0, key.lastIndexOf(".")) : key;
}

/** One pass or sweep is for all that need one, one search for the ends of a spectrum for all that are read off it. */
function quickOf(described: MeasureDescription): string {
  return isQuick(described) ? "sweep" : operatorOf(described.key);
}

/** Estimates and searches each by themselves: they take longest, and are shown as they come. */
const byCost = (described: MeasureDescription): string =>
  described.cost === "probes" || described.cost === "search" ? described.key : quickOf(described);

function unitsBy(descriptions: MeasureDescription[], nameOf: (of: MeasureDescription) => string): Unit[] {
  const units = new Map<string, Unit>();
  for (const described of descriptions) {
    const name = nameOf(described);
    const unit = units.get(name);
    if (!unit) units.set(name, { name, keys: [described.key], cost: described.cost });
    else {
      unit.keys.push(described.key);
      if (COSTS.indexOf(described.cost) > COSTS.indexOf(unit.cost)) unit.cost = described.cost;
    }
  }
  return [...units.values()];
}

const rank = ({ cost }: Unit): number => COSTS.indexOf(cost);

/** As the page computes them at a point: quickest first, and of those the ones in the weights as they are. */
export function measureUnits(descriptions: MeasureDescription[]): Unit[] {
  const isRiemannian = ({ name }: Unit) => Number(name.startsWith("riemannian."));
  return unitsBy(descriptions, byCost).sort((a, b) => rank(a) - rank(b) || isRiemannian(a) - isRiemannian(b));
}

/**
 * As the check computes them: all that is of one operator together, since a search for the ends of its spectrum saves an estimate
 * most of its products and gives ascents their start. So the cells are those of one table over all measures. Where a network
 * is not piecewise linear, traces are estimates too.
 */
export function checkUnits(descriptions: MeasureDescription[], isPiecewiseLinear: boolean): Unit[] {
  const nameOf = (described: MeasureDescription): string =>
    !isPiecewiseLinear && described.cost === "sweep" ? operatorOf(described.key) : quickOf(described);
  return unitsBy(descriptions, nameOf).sort((a, b) => rank(a) - rank(b));
}
