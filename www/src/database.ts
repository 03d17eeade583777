/** The page's own database in the browser: a few values by name. Without one nothing is kept, and nothing else is amiss. */

const [NAME, STORE] = ["isoflat", "last"];

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** What `body`'s last request finds; undefined where there is no database, in private windows, or where it is full. */
export async function transaction<T>(
  mode: IDBTransactionMode,
  body: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T | undefined> {
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
