/** What elements are given, checked: what the package's methods return, or the same read from JSON. */

import type { EigenResult, InvarianceCell, Landscape, MeasureDescription, SpectralDensity } from "isoflat";
import type { InvarianceData, Measure } from "../invariance-cells";

type Numbers = ArrayLike<number | null>;

/** A landscape as JSON has it too: with lists of numbers, and null for what is not finite. */
export interface LandscapeData {
  readonly s: Numbers;
  readonly t: Numbers;
  readonly loss: Numbers;
  readonly center?: number;
  readonly path?: { readonly s: Numbers; readonly t: Numbers };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const isNumbers = (value: unknown): value is Numbers =>
  isObject(value) &&
  typeof value.length === "number" &&
  (ArrayBuffer.isView(value) || Array.isArray(value)) &&
  Array.prototype.every.call(value, (entry) => entry === null || typeof entry === "number");

const numbers = (values: Numbers): Float64Array => Float64Array.from(values, (value) => value ?? Number.NaN);

function wrong(what: string, fault: string): never {
  throw new TypeError(`${what}: ${fault}`);
}

/** Fewer rows than `t` has are a beginning. */
export function landscapeOf(value: unknown, what: string): Landscape {
  if (!isObject(value)) wrong(what, "it is to be what engine.landscape gives, an object with s, t and loss");
  const { s, t, loss, center, path } = value;
  if (!isNumbers(s) || !isNumbers(t) || !isNumbers(loss)) wrong(what, "its s, t and loss are to be lists of numbers");
  if (s.length < 2) wrong(what, `its s has ${s.length} numbers; a landscape has at least 2 points along it`);
  if (t.length === 1) wrong(what, "its t has 1 number; a grid has at least 2, a line none");
  const whole = s.length * Math.max(t.length, 1);
  if (loss.length > whole || loss.length % s.length !== 0 || loss.length === 0) {
    const points = t.length > 0 ? `${s.length} × ${t.length} points, row by row` : `${s.length} points`;
    wrong(what, `its loss has ${loss.length} numbers and not those of ${points}`);
  }
  const way = isObject(path) && isNumbers(path.s) && isNumbers(path.t) ? path : null;
  if (path !== undefined && path !== null && !way) wrong(what, "its path is to have lists of numbers, s and t");
  const losses = numbers(loss);
  const found = {
    s: numbers(s),
    t: numbers(t),
    loss: losses,
    accuracy: new Float64Array(),
    // Null is what JSON has for what is not finite.
    ...(center !== undefined && { center: typeof center === "number" ? center : Number.NaN }),
    notFinite: losses.filter((x) => !Number.isFinite(x)).length,
    ...(way && {
      path: { s: numbers(way.s as Numbers), t: numbers(way.t as Numbers), explained: [], share: Number.NaN },
    }),
  };
  // Nothing is drawn of what computed it.
  return found as Omit<Landscape, "backend"> as Landscape;
}

/** One, or two lines to compare. */
export function landscapesOf(value: unknown, what: string): Landscape[] {
  if (!Array.isArray(value)) return [landscapeOf(value, what)];
  if (value.length < 1 || value.length > 2)
    wrong(what, `it is to be one landscape or two lines, and not ${value.length}`);
  const all = value.map((one) => landscapeOf(one, what));
  if (all.length > 1 && all.some(({ t }) => t.length > 0))
    wrong(what, "two are compared where they are lines; grids have an element each, which beside compares");
  return all;
}

/** One result, or two to compare; null for none. */
function upToTwo<T>(value: unknown, what: string, check: (one: unknown) => asserts one is T): T[] | null {
  if (value === null || value === undefined) return null;
  const all: unknown[] = Array.isArray(value) ? value : [value];
  if (all.length < 1 || all.length > 2) wrong(what, `it is to be one result or two, and not ${all.length}`);
  return all.map((one) => {
    check(one);
    return one;
  });
}

export const eigenvaluesOf = (value: unknown, what: string): EigenResult[] | null =>
  upToTwo(value, what, (one): asserts one is EigenResult => {
    const isPair = (pair: unknown): boolean =>
      isObject(pair) && typeof pair.value === "number" && typeof pair.residual === "number";
    const isEnd = (end: unknown): end is unknown[] => Array.isArray(end) && end.every(isPair);
    if (!isObject(one) || !isEnd(one.top) || !isEnd(one.bottom) || typeof one.products !== "number")
      wrong(what, "it is to be what engine.eigenvalues gives, with products and lists of pairs at the top and bottom");
    if (one.top.length + one.bottom.length === 0)
      wrong(what, "it has no eigenvalues, neither at the top nor at the bottom");
  });

export const densityOf = (value: unknown, what: string): SpectralDensity[] | null =>
  upToTwo(value, what, (one): asserts one is SpectralDensity => {
    const isThere =
      isObject(one) &&
      isNumbers(one.grid) &&
      isNumbers(one.density) &&
      typeof one.width === "number" &&
      isNumbers(one.densityError) &&
      typeof one.dimension === "number";
    if (!isThere)
      wrong(what, "it is to be what engine.density gives, with a grid, the density, its errors and the dimension");
    const { grid, density, densityError } = one as unknown as SpectralDensity;
    if (grid.length < 2 || density.length !== grid.length || densityError.length !== grid.length)
      wrong(what, `its density has ${density.length} numbers on a grid of ${grid.length}`);
  });

const VERDICTS: unknown[] = ["invariant", "changed", "unresolved"];

export function invarianceOf(value: unknown, what: string): InvarianceData {
  const isCell = (cell: unknown): boolean =>
    isObject(cell) &&
    typeof cell.measure === "string" &&
    typeof cell.transformation === "number" &&
    VERDICTS.includes(cell.verdict);
  if (
    !isObject(value) ||
    !Array.isArray(value.cells) ||
    !value.cells.every(isCell) ||
    !Array.isArray(value.transformations)
  )
    wrong(what, "it is to be what engine.invariance gives, with transformations and cells");
  return { ...(value as unknown as InvarianceData), cells: value.cells.map(cellOf) };
}

/** Null is what JSON has for what is no number. */
function cellOf(cell: InvarianceCell): InvarianceCell {
  const given = (value: unknown): number => (typeof value === "number" ? value : Number.NaN);
  const { before, after, relativeChange, tolerance } = cell;
  return {
    ...cell,
    before: given(before),
    after: given(after),
    relativeChange: given(relativeChange),
    tolerance: given(tolerance),
  };
}

export function descriptionsOf(value: unknown, what: string): MeasureDescription[] {
  const isOne = (one: unknown): boolean =>
    isObject(one) && typeof one.key === "string" && typeof one.title === "string";
  if (!Array.isArray(value) || !value.every(isOne)) wrong(what, "they are to be what describeMeasures() gives");
  return value as MeasureDescription[];
}

export function measuresOf(value: unknown, what: string): readonly Measure[] | null {
  if (value === null || value === undefined) return null;
  if (!Array.isArray(value) || !value.every((key) => typeof key === "string"))
    wrong(what, 'they are to be a list of measures\' keys, with "outputs" where that is a row');
  return value as Measure[];
}

export function namesOf(value: unknown, what: string): [string, string] {
  if (!Array.isArray(value) || value.length !== 2 || !value.every((name) => typeof name === "string"))
    wrong(what, "they are to be two, of what is compared");
  return value as [string, string];
}
