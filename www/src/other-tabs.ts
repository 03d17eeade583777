/** Other tabs of the page: what they need of the networks that are kept, that these have changed, and what trains there. */

const NEEDS = "isoflat needs ";
const TRAINS = "isoflat trains ";
const CHANGED = { networks: "isoflat networks", training: "isoflat training" };

/** Held as a lock, which a tab that is closed or has crashed lets go by itself. Where there are no locks nobody is told. */
export class Needs {
  #letGo = (): void => {};
  #name = "";

  set(stamps: ReadonlySet<string>): void {
    const name = NEEDS + JSON.stringify([...stamps].sort());
    if (name === this.#name || !navigator.locks) return;
    this.#name = name;
    const before = this.#letGo;
    const until = new Promise<void>((resolve) => {
      this.#letGo = resolve;
    });
    const held = navigator.locks.request(name, { mode: "shared" }, () => {
      before();
      return until;
    });
    held.catch(() => {});
  }
}

/** By any tab, this one too. */
export async function neededAnywhere(): Promise<string[]> {
  try {
    const { held = [] } = await navigator.locks.query();
    const names = held.flatMap(({ name }) => (name?.startsWith(NEEDS) ? name.slice(NEEDS.length) : []));
    return names.flatMap((stamps) => JSON.parse(stamps) as string[]);
  } catch {
    return [];
  }
}

/** Says to all tabs that a training runs, until what is returned is called or the worker is gone. Where there are no locks nobody knows. */
export function runs(run: string): () => void {
  let letGo = (): void => {};
  const until = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  // In Node, where the page is built, there may be no navigator.
  const locks = typeof navigator === "undefined" ? undefined : navigator.locks;
  locks?.request(TRAINS + run, () => until).catch(() => {});
  return letGo;
}

/** In any tab, this one too. */
export async function runsAnywhere(run: string): Promise<boolean> {
  try {
    const { held = [] } = await navigator.locks.query();
    return held.some(({ name }) => name === TRAINS + run);
  } catch {
    return false;
  }
}

/** When it does not run any more, however it has ended. */
export async function runOver(run: string): Promise<void> {
  await navigator.locks.request(TRAINS + run, { mode: "shared" }, () => {});
}

/** A training has been begun, in the place of the one that could go on. */
export function tellOfTraining(): void {
  if (typeof BroadcastChannel === "undefined") return;
  const channel = new BroadcastChannel(CHANGED.training);
  channel.postMessage(null);
  channel.close();
}

/** Tells the others that networks were kept, named or let go; `listener` is told by them. Of trainings the worker tells. */
export function onChange(what: keyof typeof CHANGED, listener: () => void): () => void {
  if (typeof BroadcastChannel === "undefined") return () => {};
  const channel = new BroadcastChannel(CHANGED[what]);
  channel.addEventListener("message", listener);
  return () => channel.postMessage(null);
}

const HERE = "isoflat.stamp";

/** Which network this tab shows: a reload brings back that one, whatever other tabs have come to. */
export function showsHere(stamp: string): void {
  // A frame has the storage of the page around it.
  if (window !== window.top) return;
  try {
    sessionStorage.setItem(HERE, stamp);
  } catch {
    // Then it is the last one of all tabs.
  }
}

export function shownHere(): string | null {
  try {
    return sessionStorage.getItem(HERE);
  } catch {
    return null;
  }
}
