/** Files as they come, one drop after the other: which belong together, and which are not used. */

export interface Given<F> {
  model: F[];
  data: F[];
  /** The drops that the data are of, where they came before the model. */
  waited: F[][];
  /** Those that were given and are not used, in words. */
  unused: string[];
}

/** What is in one drop. */
export type Came<F> = Pick<Given<F>, "model" | "data">;

interface Named {
  name: string;
}

/**
 * What comes on top of what there is: data for the model, or another model. `isIncomplete`: the files that there are make no model by
 * themselves.
 */
export function onTop<F extends Named>(before: Given<F>, isIncomplete: boolean, came: Came<F>): Given<F> {
  const [hasModel, hasData] = [came.model.length > 0, came.data.length > 0];
  if (!hasModel && before.model.length > 0) {
    return hasData ? { ...before, data: came.data, waited: [] } : before;
  }
  // Data that come before the model that they are for wait for it.
  const waiting = before.model.length === 0 ? before.waited.map((drop) => without(drop, came.data)) : [];
  if (!hasModel) {
    const waited = [...waiting, came.data].filter((drop) => drop.length > 0);
    return { ...before, data: waited.flat(), waited };
  }
  const left = isIncomplete ? without(before.model, came.model) : [];
  const unused = namesOf(left).map((name) => notUsed([name], "files of one model are to be given at once"));
  if (!hasData) return { model: came.model, data: waiting.flat(), waited: waiting, unused };
  // Whoever gives a model with its data means those: what waited was another try.
  const names = namesOf(waiting.flat());
  if (names.length > 0) unused.push(notUsed(names, "the model came with data of its own"));
  return { model: came.model, data: came.data, waited: [], unused };
}

/** The same without the data that waited longest, of which `fault` tells; null where none waited. */
export function withoutOldest<F extends Named>(given: Given<F>, fault: string): Given<F> | null {
  const [oldest, ...waited] = given.waited;
  if (!oldest) return null;
  const unused = [...given.unused, notUsed(namesOf(oldest), fault)];
  return { ...given, data: waited.flat(), waited, unused };
}

/** But for those that came again. */
export const without = <F extends Named>(files: F[], others: F[]): F[] =>
  files.filter(({ name }) => others.every((other) => other.name !== name));

/** Each once: the same file may have been given twice. */
export const namesOf = (files: Named[]): string[] => [...new Set(files.map(({ name }) => name))];

/** So many names are said. */
const NAMES = 4;

export const listed = (names: string[]): string =>
  names.length > NAMES ? `${names.slice(0, NAMES).join(", ")} and ${names.length - NAMES} more` : names.join(", ");

const notUsed = (names: string[], why: string): string =>
  `${listed(names)} ${names.length === 1 ? "was given before, and is" : "were given before, and are"} not used: ${why}`;
