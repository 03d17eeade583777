/** What was on the page last, in the browser's own database: a reload finds it again. */

import type { ModelChoice, OpenChoice } from "./protocol";

/** Files that were opened, or a network of the options with the weights it was trained to. */
export type Last =
  | { kind: "files"; model: File[]; data: File[]; choice: OpenChoice }
  | { kind: "trained"; choice: ModelChoice; parameters: Float64Array };

const [DATABASE, STORE, KEY] = ["isoflat", "last", "last"];

/** So often it was begun to restore it, and not ended: what crashes the page must not stand in the way at every start. */
const TRIES = "tries";
const MOST_TRIES = 4;

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function transaction<T>(
  mode: IDBTransactionMode,
  body: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T | undefined> {
  // A browser may have no database for a page: in private windows, or where it is full. Then a reload forgets.
  try {
    const database = await opened();
    try {
      return await new Promise<T>((resolve, reject) => {
        const work = database.transaction(STORE, mode);
        const request = body(work.objectStore(STORE));
        work.oncomplete = () => resolve(request.result);
        work.onabort = () => reject(work.error);
      });
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}

/** Keeps it in place of what was kept. */
export const remember = async (last: Last): Promise<void> => {
  await transaction("readwrite", (store) => {
    store.delete(TRIES);
    return store.put(last, KEY);
  });
};

/** What is kept, if it has not failed too often; `restored` is to be called when it is there. */
export async function recall(): Promise<Last | undefined> {
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
  return await transaction("readonly", (store): IDBRequest<Last | undefined> => store.get(KEY));
}

export const restored = async (): Promise<void> => {
  await transaction("readwrite", (store) => store.delete(TRIES));
};
