/** Other tabs of the page: what they need of the networks that are kept, and that these have changed. */

const NEEDS = "isoflat needs ";
const CHANGED = "isoflat networks";

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

/** Tells the others that networks were kept, named or let go; `listener` is told by them. */
export function onChange(listener: () => void): () => void {
  if (typeof BroadcastChannel === "undefined") return () => {};
  const channel = new BroadcastChannel(CHANGED);
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
