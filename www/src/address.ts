/** The address line: it says what the page shows whenever that rests, and what it says the page shows. */

import type { Beginning } from "./arrival/load";
import { type Link, queryOf, readQuery } from "./link";
import type { Key, State, Store } from "./store";

/** A slider sends many values, and a hand that turns a surface. */
const REST_MS = 400;

/** On an entry of the browser's history whose address the page has written, or has followed: it asks for nothing any more. */
const MARK = "isoflat.address";
/** The last one that this tab has written, and of which network: after a reload not every browser has the entry's mark. */
const WRITTEN = "isoflat.address";

interface Written {
  address: string;
  /** What stood there until then: a browser that is told to reload while the page writes opens that one again. */
  before: string;
  stamp: string | null;
}

/** What an address is made of, and whether the page rests. */
export const SAID: Key[] = [
  ...(["task", "ready", "engine", "stamp", "model", "modelChoice", "trainChoice", "training"] as const),
  ...(["sharpness", "bend", "dinh", "landscapeChoice", "look", "spectrumChoice"] as const),
  ...(["asked", "spectra", "densities", "table2", "table3", "invariance", "checkChoice", "spaces"] as const),
];

const isMarked = (): boolean => history.state === MARK;

/** The address that the page has written, has followed, or was told of last. */
let known = location.hash;

function put(address = location.hash): void {
  history.replaceState(MARK, "", address);
  known = location.hash;
}

/** Somebody has gone to another address, and the page is not told yet: to write one now would take that back. */
const isLeft = (): boolean => location.hash !== known;

function read(): Written | null {
  try {
    return JSON.parse(sessionStorage.getItem(WRITTEN) ?? "null") as Written | null;
  } catch {
    return null;
  }
}

function written(): Written | null {
  const found = read();
  return found?.address === location.hash ? found : null;
}

function write(stamp: string | null, address: string): void {
  remember({ address, before: location.hash, stamp });
  put(address);
}

function remember(last: Written): void {
  // A frame has the storage of the page around it.
  if (window !== window.top) return;
  try {
    sessionStorage.setItem(WRITTEN, JSON.stringify(last));
  } catch {
    // Then a reload opens what the address says.
  }
}

export class Address {
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What the address asks for, until it is on the stage: from then on a reload is to find what is kept, whatever was done to it. */
  #asked: Link | null = written() ? null : linkNow();

  /** `part`: which one is open; `open` shows what a link says, and says when its settings are on the stage. */
  constructor(
    private readonly store: Store,
    private readonly part: () => string,
    private readonly open: (link: Link, shown: () => void) => Promise<void>,
  ) {}

  /** What the address asks for as the page opens. */
  static opening(): { link: Link | null; isLinked: boolean; isKept: (first: Beginning) => boolean } {
    mendReload();
    const link = linkNow();
    const stamp = written()?.stamp ?? null;
    return {
      link,
      // What the page itself has written is there after a reload, as far as it is kept.
      isLinked: link !== null && !link.leavesStage && stamp === null,
      isKept: (first) => {
        if (stamp === null || first.kind === "none" || first.stamp !== stamp) return false;
        return first.kind === "own" || first.snapshot !== null;
      },
    };
  }

  async follow(link: Link): Promise<void> {
    this.#asked = link;
    const shown = (): void => {
      if (this.#asked !== link) return;
      this.#asked = null;
      this.#later();
    };
    await this.open(link, shown);
    shown();
  }

  /** From now on the address is written, and those that somebody goes to are followed. */
  begin(): void {
    // Followed once: who comes back to it later comes back to a part.
    known = location.hash;
    if (linkNow()) put();
    window.addEventListener("hashchange", () => {
      known = location.hash;
      const link = isMarked() ? null : linkNow();
      if (link) {
        put();
        void this.follow(link);
        return;
      }
      // Back at a part: what its address said is of another time, and no reload is to follow it.
      if (isMarked()) put(`#/${this.part()}`);
      this.#write();
    });
    this.store.watch(SAID, () => {
      const { stamp } = this.store.state;
      const last = written();
      // Another network is on the stage, and a reload is to find that one, also before all of it has come to rest.
      if (last && stamp !== null && last.stamp !== stamp && !isLeft()) write(stamp, `#/${this.part()}`);
      this.#later();
    });
  }

  /** The whole of it; null where no address holds the state. */
  static of(state: State, part: string): string | null {
    const query = queryOf(state);
    return query === null ? null : `#/${part}${query && `?${query}`}`;
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#write(), REST_MS);
  }

  #write(): void {
    const { state } = this.store;
    if (isLeft() || !state.ready || !state.engine) return;
    if (state.task === "idle") {
      const part = this.part();
      const address = Address.of(state, part) ?? `#/${part}`;
      if (address !== location.hash || written()?.stamp !== state.stamp) write(state.stamp, address);
    } else if (this.#asked === null && linkNow() && !written()) write(state.stamp, location.hash);
  }
}

/** A reload that came while the page was writing opens the address before, which the page has left like the one that it wrote. */
function mendReload(): void {
  const last = read();
  if (last === null || last.before !== location.hash || last.address === location.hash) return;
  // Whoever enters an address means what it says.
  const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (entry?.type === "reload") remember({ ...last, address: location.hash });
}

function linkNow(): Link | null {
  const [, query = ""] = location.hash.split("?");
  return readQuery(query);
}
