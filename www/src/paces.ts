/** What work really took on this device, against what it was estimated to take: kept in the browser, and learnt from. */

/** Shorter work is a matter of messages and timers. */
const TELLING_SECONDS = 0.05;
/** So much of what was known is given up for what has just been seen. */
const WEIGHT = 0.5;
/** No estimate is off by more than this; a machine that slept in between has not worked. */
const MOST = 30;
/** Of all devices and networks; the oldest go first. */
const ENTRIES = 400;

const KEY = "isoflat-paces";
/** Ratios of another way to estimate mean nothing. */
const VERSION = 2;

/** Where it is kept: local storage, which private windows may lack. */
export interface Shelf {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

export interface Work {
  kind: string;
  /** One that computes elsewhere has another pace. */
  device: string;
  /** How many steps iterations take is a matter of the network: its own ratio goes before that of others. */
  network: string;
}

export class Paces {
  /** Natural logarithms of actual over estimated time, oldest first. */
  readonly #ratios: Map<string, number>;

  constructor(private readonly shelf: Shelf | null) {
    this.#ratios = read(shelf);
  }

  /** By what an estimate is to be multiplied; 1 of what has never been done. */
  factor({ kind, device, network }: Work): number {
    const own = this.#ratios.get(`${device} ${kind} ${network}`);
    return Math.exp(own ?? this.#ratios.get(`${device} ${kind}`) ?? 0);
  }

  learn({ kind, device, network }: Work, estimated: number, actual: number): void {
    if (!(estimated > 0) || !(actual >= TELLING_SECONDS)) return;
    const seen = Math.log(Math.min(Math.max(actual / estimated, 1 / MOST), MOST));
    for (const key of [`${device} ${kind}`, `${device} ${kind} ${network}`]) {
      const before = this.#ratios.get(key);
      this.#ratios.delete(key);
      this.#ratios.set(key, before === undefined ? seen : before + WEIGHT * (seen - before));
    }
    while (this.#ratios.size > ENTRIES) {
      const [oldest] = this.#ratios.keys();
      if (oldest !== undefined) this.#ratios.delete(oldest);
    }
    try {
      this.shelf?.setItem(KEY, JSON.stringify({ version: VERSION, ratios: [...this.#ratios] }));
    } catch {
      // It is full, or not to be had: estimates stay what they are.
    }
  }
}

function read(shelf: Shelf | null): Map<string, number> {
  try {
    const { version, ratios } = JSON.parse(shelf?.getItem(KEY) ?? "null") as { version: number; ratios: unknown };
    if (version !== VERSION || !Array.isArray(ratios)) return new Map();
    const isRatio = (entry: unknown): entry is [string, number] =>
      Array.isArray(entry) && typeof entry[0] === "string" && Number.isFinite(entry[1]);
    return new Map(ratios.filter(isRatio));
  } catch {
    return new Map();
  }
}

/** The browser's own; null where it has none. */
export function ownShelf(): Shelf | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}
