/** What was on the page last, in the browser's own database: a reload finds it again. */

import type { ModelChoice, OpenChoice } from "./protocol";

/** Files that were opened, or a network of the options with the weights it was trained to. */
export type Last =
  | { kind: "files"; model: File[]; data: File[]; choice: OpenChoice }
  | { kind: "trained"; choice: ModelChoice; parameters: Float64Array };

const [DATABASE, STORE, KEY] = ["isoflat", "last", "last"];

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

export const remember = async (last: Last): Promise<void> => {
  await transaction("readwrite", (store) => store.put(last, KEY));
};

export const forget = async (): Promise<void> => {
  await transaction("readwrite", (store) => store.delete(KEY));
};

export const recall = (): Promise<Last | undefined> =>
  transaction("readonly", (store): IDBRequest<Last | undefined> => store.get(KEY));
