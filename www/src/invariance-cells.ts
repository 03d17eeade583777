/** The invariance check's table, as the page and a drawing of it have it: its rows, and what colours and marks a cell. */

import type { InvarianceCell, MeasureDescription, MeasureKey, Transformation } from "isoflat";
import { power } from "./format";
import { byPaper } from "./papers";
import type { State } from "./store";

export type Measure = InvarianceCell["measure"];
export type Precision = "f32" | "f64";
/** A cell, by its measure and the index of its transformation. */
export type CellName = Pick<InvarianceCell, "measure" | "transformation">;

/** What `engine.invariance` gives, or as much of it as there is. */
export interface InvarianceData {
  readonly transformations: readonly Transformation[];
  readonly cells: readonly InvarianceCell[];
  readonly backend?: { readonly precision: Precision };
}

/** What is drawn. */
export interface InvarianceTable {
  transformations: readonly Transformation[];
  /** Rows under the papers that they come from. */
  groups: { title: string; measures: Measure[] }[];
  /** Of those that are there; the others are still to come. */
  cells: ReadonlyMap<string, InvarianceCell>;
  precision: Precision;
}

export const nameOf = ({ measure, transformation }: CellName): string => `${measure} ${transformation}`;

/** What there is of a check, and what is to come of it. */
export interface Check {
  table: InvarianceData;
  /** Of rows; null for those that have cells. */
  measures: readonly Measure[] | null;
  descriptions: MeasureDescription[];
}

/** The page's own; nothing before something has been checked, or is to be. */
export function checkOf({
  invariance,
  checkChoice,
  engine,
  descriptions,
}: Pick<State, "invariance" | "checkChoice" | "engine" | "descriptions">): Check | null {
  // What was kept by an older page has no choice beside it.
  const measures: Measure[] | null = checkChoice && ["outputs", ...checkChoice.keys];
  if (invariance) return { table: invariance, measures, descriptions };
  if (!checkChoice) return null;
  const { transformations } = checkChoice;
  return { table: { transformations, cells: [], ...(engine && { backend: engine.info }) }, measures, descriptions };
}

/** Under the papers that the measures come from, where these are described; all others follow. */
export function tableOf({ table, measures, descriptions }: Check): InvarianceTable {
  const { transformations, cells, backend } = table;
  const rows = new Set([...(measures ?? []), ...cells.map(({ measure }) => measure)]);
  const groups = byPaper(descriptions).flatMap(({ paper, measures }) => {
    const there: Measure[] = measures.map(({ key }) => key as MeasureKey).filter((key) => rows.has(key));
    if (paper.id === "point" && rows.has("outputs")) there.unshift("outputs");
    return there.length > 0 ? [{ title: paper.title, measures: there }] : [];
  });
  const others = [...rows].filter((measure) => !groups.some(({ measures }) => measures.includes(measure)));
  if (others.length > 0) groups.push({ title: groups.length > 0 ? "Others" : "", measures: others });
  return {
    transformations,
    groups,
    cells: new Map(cells.map((cell) => [nameOf(cell), cell])),
    precision: backend?.precision ?? "f64",
  };
}

export const VERDICTS: Record<InvarianceCell["verdict"], { symbol: string; word: string }> = {
  invariant: { symbol: "=", word: "same" },
  changed: { symbol: "≠", word: "changes" },
  unresolved: { symbol: "?", word: "unresolved" },
};

export const TO_COME = "·";
export const AGAINST = "✗ against theory";

/** What the signs mean, for a legend. */
export const SIGNS: readonly { symbol: string; meaning: string }[] = [
  { symbol: VERDICTS.invariant.symbol, meaning: "the same, within its tolerance" },
  { symbol: VERDICTS.changed.symbol, meaning: "changes" },
  { symbol: VERDICTS.unresolved.symbol, meaning: "unresolved: nothing can be said, for the reason given" },
];
export const SHOULD_STAND = "should stand still, says theory";

/** What a cell shows: how far its number moved as a colour and as a power of ten, and what theory and the check say as marks. */
export interface Marks {
  symbol: string;
  word: string;
  /** Along the colours, 0 to 1. */
  heat: number;
  change: string;
  shouldStand: boolean;
  isAgainst: boolean;
}

export function marksOf({ verdict, expected, agrees, relativeChange }: InvarianceCell, precision: Precision): Marks {
  return {
    ...VERDICTS[verdict],
    heat: heat(relativeChange, precision),
    change: power(relativeChange),
    shouldStand: expected === "invariant",
    isAgainst: !agrees,
  };
}

/** Ends of the colours, in powers of ten of the relative change: rounding in the engine's precision, and a thousandfold. */
const COLDEST = { f64: -16, f32: -8 } as const;
const HOTTEST = 3;

/** [0, 1]; no change at all is coldest. */
function heat(relativeChange: number, precision: Precision): number {
  if (!(relativeChange > 0)) return 0;
  return Math.min(Math.max(shareOf(Math.log10(relativeChange), precision), 0), 1);
}

const shareOf = (exponent: number, precision: Precision): number =>
  (exponent - COLDEST[precision]) / (HOTTEST - COLDEST[precision]);

/** The numbers along the colours, and where each of them is. */
export function ticksOf(precision: Precision): { at: number; text: string }[] {
  const coldest = COLDEST[precision];
  return [coldest, coldest / 2, 0, HOTTEST].map((exponent) => ({
    at: shareOf(exponent, precision),
    text: exponent === 0 ? "1" : power(10 ** exponent),
  }));
}
