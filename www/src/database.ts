/** The page's own database in the browser. Without one nothing is kept, and nothing else is amiss. */

/**
 * `last`: single values by name; by a network's stamp `networks`: its weights or files, `snapshots`: what the page showed of it,
 * `shelf`: its name and what it is.
 */
export type StoreName = "last" | "networks" | "snapshots" | "shelf";

const NAME = "isoflat";
const STORES: StoreName[] = ["last", "networks", "snapshots", "shelf"];
const VERSION = 2;

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, VERSION);
    request.onupgradeneeded = () => {
      const { result } = request;
      // What an older form held is nothing that this one could read.
      for (const store of [...result.objectStoreNames]) result.deleteObjectStore(store);
      for (const store of STORES) result.createObjectStore(store);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * What `body`'s last request finds; all of it is done, or nothing. Undefined where there is no database, in private windows, or
 * where it is full.
 */
export async function transaction<T>(
  mode: IDBTransactionMode,
  body: (store: (name: StoreName) => IDBObjectStore) => IDBRequest<T>,
): Promise<T | undefined> {
  try {
    const database = await opened();
    try {
      return await new Promise<T>((resolve, reject) => {
        const work = database.transaction(STORES, mode);
        const request = body((name) => work.objectStore(name));
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
