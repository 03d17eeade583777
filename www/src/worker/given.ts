/** Files as they come, one drop after the other: which belong together, and which are not used. */

export interface Given<F> {
  model: F[];
  data: F[];
  /** Those that were given and are not used, in words. */
  unused: string[];
}

interface Named {
  name: string;
}

/**
 * What comes on top of what there is: data for the model, or another model. `isIncomplete`: the files that there are make no model by
 * themselves.
 */
export function onTop<F extends Named>(
  before: Given<F>,
  isIncomplete: boolean,
  came: Pick<Given<F>, "model" | "data">,
): Given<F> {
  // Data that come before the model that they are for wait for it.
  const waiting = before.model.length === 0 ? [...without(before.data, came.data), ...came.data] : came.data;
  if (came.model.length === 0) return { ...before, data: waiting.length > 0 ? waiting : before.data };
  const left = isIncomplete ? without(before.model, came.model) : [];
  return { model: came.model, data: waiting, unused: left.map(({ name }) => said(name)) };
}

/** But for those that came again. */
const without = <F extends Named>(files: F[], others: F[]): F[] =>
  files.filter(({ name }) => others.every((other) => other.name !== name));

const said = (name: string): string =>
  `${name} was given before, and is not used: files of one model are to be given at once`;
