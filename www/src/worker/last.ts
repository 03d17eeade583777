/** The network that was on the page last, in the browser's own database: a reload finds it again. */

import { transaction } from "../database";
import type { ModelChoice, OpenChoice } from "./protocol";

/** Files that were opened, or a network of the options with the weights it was trained to. */
export type Last =
  | { kind: "files"; model: File[]; data: File[]; choice: OpenChoice }
  | { kind: "trained"; choice: ModelChoice; parameters: Float64Array };

/** The network, and by which name what is shown of it is known. */
const [KEY, STAMP] = ["last", "stamp"];

/** So often it was begun to restore it, and not ended: what crashes the page must not stand in the way at every start. */
const TRIES = "tries";
const MOST_TRIES = 4;

/** Keeps it in place of what was kept, under a new stamp; null where it cannot be kept. */
export async function remember(last: Last): Promise<string | null> {
  const stamp = `${Date.now()} ${Math.random()}`;
  const done = await transaction("readwrite", (store) => {
    store.delete(TRIES);
    store.put(last, KEY);
    return store.put(stamp, STAMP);
  });
  return done === undefined ? null : stamp;
}

/** What is kept, if it has not failed too often; `restored` is to be called when it is there. */
export async function recall(): Promise<{ last: Last; stamp: string } | undefined> {
  let isTried = true;
  // One transaction, so that pages that start together count each for itself.
  await transaction("readwrite", (store) => {
    const tries: IDBRequest<number | undefined> = store.get(TRIES);
    tries.onsuccess = () => {
      isTried = (tries.result ?? 0) >= MOST_TRIES;
      if (!isTried) store.put((tries.result ?? 0) + 1, TRIES);
    };
    return tries;
  });
  if (isTried) return undefined;
  const last = await transaction("readonly", (store): IDBRequest<Last | undefined> => store.get(KEY));
  return last && { last, stamp: (await stampOf()) ?? "" };
}

/** The stamp of what is kept; undefined where nothing is. */
export const stampOf = (): Promise<string | undefined> =>
  transaction("readonly", (store): IDBRequest<string | undefined> => store.get(STAMP));

export const restored = async (): Promise<void> => {
  await transaction("readwrite", (store) => store.delete(TRIES));
};
