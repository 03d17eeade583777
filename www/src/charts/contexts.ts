/**
 * Who has WebGL contexts. Browsers allow a page few of them (16, on phones 8), and take the oldest away: where there are many surfaces
 * those that are far from the window give theirs back.
 */

/** So many may be far from the window and stay as they are. */
const MOST = 6;

export interface Holder {
  /** Would somebody miss it? */
  readonly isNear: boolean;
  /** It gives its context back. */
  letGo: () => void;
}

/** From the one that has had its context for longest. */
const holders = new Set<Holder>();

export function hold(holder: Holder): void {
  holders.delete(holder);
  holders.add(holder);
  spare();
}

export const release = (holder: Holder): void => void holders.delete(holder);

/** Takes the contexts of those that are far from the window, while there are too many. */
export function spare(): void {
  for (const holder of [...holders]) {
    if (holders.size <= MOST) return;
    if (holder.isNear) continue;
    holders.delete(holder);
    holder.letGo();
  }
}

/** Is nobody left who could give one back? */
export const isCrowded = (): boolean => holders.size > MOST;
