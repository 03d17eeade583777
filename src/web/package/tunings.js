/** What was measured of this computer's GPUs: kept in IndexedDB, so that it is measured once. */

const DATABASE = "isoflat gpu";
const STORE = "tunings";

/** Of this page alone, where nothing can be kept. */
const here = new Map();

const settled = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("blocked"));
  });

/** Milliseconds that a database has to answer: some never do, and an engine does without. */
const PATIENCE = 1000;

/** `body` on the store; undefined where there is none: no database, no permission, no room, no answer. */
async function stored(mode, body) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, PATIENCE);
  });
  return await Promise.race([answered(mode, body), late]).finally(() => clearTimeout(timer));
}

async function answered(mode, body) {
  let database;
  try {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    database = await settled(opening);
    return await settled(body(database.transaction(STORE, mode).objectStore(STORE)));
  } catch {
    return undefined;
  } finally {
    database?.close();
  }
}

/** All that are known. */
export async function keptTunings() {
  const kept = (await stored("readonly", (store) => store.getAll())) ?? [];
  return [...kept.filter((text) => typeof text === "string"), ...here.values()];
}

/** For the next engine. */
export async function keepTuning(name, text) {
  here.set(name, text);
  await stored("readwrite", (store) => store.put(text, name));
}
