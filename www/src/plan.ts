/** What is missing, piece by piece, in the order in which it is most telling: order, progress, estimate and what is left follow from it. */

import type { MeasureKey, ReportSection } from "isoflat";
import { rowsOf } from "./charts/heights";
import { CONSTRUCTIONS, isConstruction, wantsValley } from "./constructions";
import { gaugeKeys } from "./gauges";
import { missingSeeds, TABLES, type TableName } from "./seeds";
import { type Asked, found, type Growing, measuresOf, type State, transformationOf, type Waiting } from "./store";
import { checkUnits, measureUnits, type Unit } from "./units";
import type { AskedWith, Construction, Point, TableFound } from "./worker/protocol";

/** One piece of work: what the worker is asked at a time. */
export type Piece =
  | { what: "training" }
  | { what: "report"; sections: readonly ReportSection[] }
  | { what: "bend" | "examples" | "valley" | "sharpen" | "power" }
  | { what: Construction; asked: AskedWith }
  | { what: TableName; seed: number }
  | { what: "line" | "surface" | "accuracy" | "layers" | "spectrum" | "density"; point: Point }
  | { what: "measures"; point: Point; unit: Unit }
  | { what: "check"; unit: Unit };

export type What = Piece["what"];

/** How much of it is to be there. */
export interface Scope {
  /** What a person has asked for comes first. */
  asked: readonly (keyof Asked)[];
  /** All that the page shows of its points, or only what the stage does? */
  all: boolean;
}

export const pointsOf = ({ bend }: State): Point[] => (transformationOf(bend) ? ["trained", "bent"] : ["trained"]);

/** One like no other of a plan. */
export function nameOf(piece: Piece): string {
  const unit = "unit" in piece ? piece.unit.keys.join() : "seed" in piece ? piece.seed : "";
  return [piece.what, "point" in piece ? piece.point : "", unit, "asked" in piece ? piece.asked : ""].join(" ");
}

export function planOf(state: State, { asked, all }: Scope): Piece[] {
  // These are of networks of their own.
  if (!state.ready) return TABLES.flatMap((name) => (asked.includes(name) ? leftOf(state, name) : []));
  // What is asked of the twin is asked of the one that the page has.
  const bend: Piece[] = transformationOf(state.bend) && !state.bendSummary ? [{ what: "bend" }] : [];
  const wanted = asked.flatMap((name) => leftOf(state, name));
  // Where Theorem 4 puts the twin is not known before: all that is asked of it comes after.
  const place = isSharpened(state) ? valley(state) : [];
  const pieces = [...place, ...bend, ...wanted, ...stage(state), ...(all ? rest(state) : [])];
  return once(pieces);
}

/** A measure that one piece is about to compute is no other's. */
function once(pieces: Piece[]): Piece[] {
  const names = new Set<string>();
  const isNew = (name: string): boolean => !names.has(name) && names.add(name) !== undefined;
  return pieces.flatMap((piece): Piece[] => {
    if (piece.what !== "measures") return isNew(nameOf(piece)) ? [piece] : [];
    const keys = piece.unit.keys.filter((key) => isNew(`${piece.point} ${key}`));
    return keys.length > 0 ? [{ ...piece, unit: { ...piece.unit, keys } }] : [];
  });
}

/** Is everything there that the page shows of its points? Not after a pause. */
export const isComplete = (state: State): boolean => planOf(state, { asked: [], all: true }).length === 0;

/** What is still to be done for what a person has asked for. */
export function leftOf(state: State, name: keyof Asked): Piece[] {
  const asked = state.asked[name];
  if (asked === undefined) return [];
  if (!isConstruction(name)) return WANTED[name](state);
  return [...(wantsValley(name) ? valley(state) : []), { what: name, asked }];
}

const WANTED: Record<Exclude<keyof Asked, Construction>, (state: State) => Piece[]> = {
  check,
  spectrum: (state) => {
    const missing = (what: "spectrum" | "density", there: State["spectra"] | State["densities"]): Piece[] =>
      pointsOf(state).flatMap((point) => (there[point] ? [] : [{ what, point }]));
    // The ends of the spectrum first: they are there soon.
    return [...missing("spectrum", state.spectra), ...missing("density", state.densities)];
  },
  table2: (state) => tablePieces("table2", state.table2, state.asked.table2 ?? 0),
  table3: (state) => tablePieces("table3", state.table3, state.asked.table3 ?? 0),
};

/** The seeds that are missing, and behind those of Table 2 the figure that is of the first. */
export function tablePieces(name: TableName, found: TableFound | null, count: number): Piece[] {
  const seeds = missingSeeds(found, count).map((seed): Piece => ({ what: name, seed }));
  return name === "table2" && !found?.power ? [...seeds, { what: "power" }] : seeds;
}

function check({ checkChoice, invariance, descriptions, model }: State): Piece[] {
  if (!checkChoice) return [];
  const there = new Set(invariance?.cells.map(({ measure }) => measure));
  const missing = descriptions.filter(({ key }) => checkChoice.keys.includes(key) && !there.has(key));
  return checkUnits(missing, model?.piecewiseLinear !== false).map((unit) => ({ what: "check", unit }));
}

/** What the stage shows: of the bent point what swings first, then what theory has said already. */
function stage(state: State): Piece[] {
  const [swings, stands] = gaugeKeys(state);
  return pointsOf(state).flatMap((point) => [
    ...(point === "bent" ? measures(state, point, swings) : examples(state)),
    // The line first: with it a growing surface's scale is nearly the whole one's.
    ...landscape(state, point),
    ...measures(state, point, [...swings, ...stands]),
    ...(state.accuracy[point] === undefined ? [{ what: "accuracy", point } as const] : []),
  ]);
}

function rest(state: State): Piece[] {
  const points = pointsOf(state);
  const units = measureUnits(measuresOf(state));
  const of = (isWanted: (unit: Unit) => boolean): Piece[] =>
    units.filter(isWanted).flatMap((unit) => points.flatMap((point) => measures(state, point, unit.keys)));
  const isQuick = ({ cost }: Unit) => cost !== "probes" && cost !== "search";
  return [
    ...of(isQuick),
    ...valley(state),
    ...sharpen(state),
    ...points.flatMap((point) => layers(state, point)),
    ...of((unit) => !isQuick(unit)),
  ];
}

const examples = (state: State): Piece[] => (state.examples ? [] : [{ what: "examples" }]);

const landscape = ({ lines, surfaces }: State, point: Point): Piece[] => [
  ...(lines[point] ? [] : [{ what: "line", point } as const]),
  ...(surfaces[point] ? [] : [{ what: "surface", point } as const]),
];

/** All that a point's surface depends on and the page may change while it is computed. */
export const aboutOf = ({ landscapeChoice, bend }: State, point: Point): string =>
  JSON.stringify([landscapeChoice, point === "bent" && bend]);

/** All that a person waits for: what was asked for, and what is missing of what is shown. */
export const awaited = ({ asked, isWanted }: State): Scope => ({
  asked: Object.keys(asked) as (keyof Asked)[],
  all: isWanted,
});

/** Is it a training that *Continue* goes on with? */
export const isTrainingNext = ({ unfinished, training, stamp }: State): boolean =>
  unfinished !== null && !unfinished.isElsewhere && unfinished.stamp === stamp && training?.stopped === true;

/** Where *Continue* goes on, in words. */
export function goesOnWith(state: State): string {
  if (isTrainingNext(state)) return "Goes on with the training from where it was stopped";
  const surfaces = planOf(state, awaited(state)).flatMap((piece) => (piece.what === "surface" ? [piece.point] : []));
  const [rows] = surfaces.flatMap((point) => growingOf(state, point) ?? []);
  if (rows) return `Goes on with what is missing: of the surface, ${rowsOf(rows)} of ${rows.t.length} rows are there`;
  return "Goes on with what is missing; a step that was cut short begins anew";
}

/** The rows of a surface that are there: what was stopped goes on with the others. */
export function growingOf(state: State, point: Point): Growing | null {
  const growing = state.growing[point];
  return growing?.about === aboutOf(state, point) ? growing : null;
}

const layers = ({ layers, model }: State, point: Point): Piece[] =>
  layers[point] || model?.piecewiseLinear === false ? [] : [{ what: "layers", point }];

/** Those of the keys that are not there, and what they share. */
function measures(state: State, point: Point, keys: readonly MeasureKey[]): Piece[] {
  const missing = measuresOf(state).filter(({ key }) => keys.includes(key) && !state.measures[point].has(key));
  return measureUnits(missing).map((unit) => ({ what: "measures", point, unit }));
}

const valley = ({ dinh, model }: State): Piece[] =>
  dinh.valley || !model?.homogeneous || model.depth < 2 ? [] : [{ what: "valley" }];

const isSharpened = ({ sharpness }: State): boolean => sharpness.way === "sharpen" && sharpness.decades > 0;

function sharpen(state: State): Piece[] {
  const { dinh } = state;
  const isWanted = isSharpened(state) && !dinh.sharpened;
  // Without a valley there is nothing to be sharpened.
  return isWanted && (found(dinh.valley) || valley(state).length > 0) ? [{ what: "sharpen" }] : [];
}

/** What is counted while this piece runs, and how much of it is there. */
export function countOf(state: State, scope: Scope, piece: Piece): Waiting["count"] {
  if (piece.what === "check") {
    const { checkChoice, invariance } = state;
    const maps = checkChoice?.transformations.length ?? 0;
    // The outputs are compared too.
    const total = ((checkChoice?.keys.length ?? 0) + 1) * maps;
    return { done: invariance?.cells.length ?? 0, total, of: "cells" };
  }
  if (piece.what === "table2" || piece.what === "table3") {
    return { done: state[piece.what]?.seeds.length ?? 0, total: state.asked[piece.what] ?? 0, of: "seeds" };
  }
  if (!scope.all || ASKED.has(piece.what)) return null;
  const keys = measuresOf(state).map(({ key }) => key);
  const points = pointsOf(state);
  const done = points.reduce((sum, point) => sum + keys.filter((key) => state.measures[point].has(key)).length, 0);
  return { done, total: keys.length * points.length, of: "measures" };
}

/** Pieces that are of no use to count measures by. */
const ASKED: ReadonlySet<What> = new Set(["training", "report", "spectrum", "density", ...CONSTRUCTIONS, "power"]);
