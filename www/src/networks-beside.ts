/** Several networks beside each other: what is known of each, number by number. */

import type { MeasureDescription, MeasureKey } from "isoflat";
import { byPaper } from "./papers";
import { type Entry, testAccuracyOf } from "./shelf";
import type { State } from "./store";

/** What is known of a network without asking the engine. */
export type Known = Pick<State, "model" | "measures" | "surfaces" | "accuracy" | "training">;

export interface Row {
  title: string;
  key: MeasureKey | "accuracy";
  /** One a network; undefined where it is not computed. */
  values: (number | undefined)[];
  /** Which is the least, where that says something; -1 where not. */
  least: number;
}

export interface Group {
  title: string;
  rows: Row[];
}

/** What a person would call it who has not said: `784-64-10, Adam, batches of 64`. */
export function nameFor({ summary, training }: Pick<Entry, "summary" | "training">): string {
  if (!training) return summary;
  const optimizer = { sgd: "SGD", momentum: "momentum", adam: "Adam" }[training.optimizer];
  return `${summary}, ${optimizer}, batches of ${training.batchSize}`;
}

/** The same, told from those that are called so already. */
export function freeName(entry: Entry, shelf: readonly Entry[]): string {
  const taken = new Set(shelf.map(({ name }) => name));
  const name = nameFor(entry);
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${name} (${count})`;
  return free;
}

/** Rows of which at least one network has a number. */
export function compared(known: readonly (Known | null)[], descriptions: MeasureDescription[]): Group[] {
  const row = (key: Row["key"], title: string, of: (known: Known) => number | undefined): Row => {
    const values = known.map((one) => (one ? of(one) : undefined));
    return { key, title, values, least: key === "accuracy" ? -1 : least(values) };
  };
  const accuracy = row("accuracy", "Test accuracy", testAccuracyOf);
  const groups = byPaper(descriptions).map(({ paper, measures }) => ({
    title: paper.title,
    rows: measures.map(({ key, title }) => row(key, title, ({ measures: { trained } }) => trained.get(key)?.value)),
  }));
  const isThere = ({ values }: Row): boolean => values.some((value) => value !== undefined);
  return [{ title: "How well it does", rows: [accuracy] }, ...groups]
    .map(({ title, rows }) => ({ title, rows: rows.filter(isThere) }))
    .filter(({ rows }) => rows.length > 0);
}

/** Of two or more finite numbers that are not all the same. */
function least(values: readonly (number | undefined)[]): number {
  const there = values.filter((value) => value !== undefined && Number.isFinite(value)) as number[];
  const low = Math.min(...there);
  return there.length > 1 && low < Math.max(...there) ? values.indexOf(low) : -1;
}
