/** Work of many pieces, each done once: what was stopped goes on with those that are missing. */

import type { RunOptions } from "isoflat";
import { type HowFar, Pace, type Part } from "../pace";

/** News go to the page this often. */
const NEWS_MS = 150;

export interface Piece extends Part {
  what: string;
  /** `tell`: how much of it is done, where that is known. */
  run(signal: AbortSignal, tell: (share: number) => void): Promise<void>;
}

export class Pieces {
  #done = 0;
  readonly #pace = new Pace(() => performance.now() / 1000);

  constructor(private readonly pieces: readonly Piece[]) {}

  async run(signal: AbortSignal, listener: (news: HowFar & { what: string }) => void): Promise<void> {
    for (const piece of this.pieces.slice(this.#done)) {
      const after = this.pieces.slice(this.#done + 1);
      const tell = (share: number | null): void => listener({ what: piece.what, ...this.#pace.howFar(after, share) });
      let told = performance.now();
      this.#pace.begin(piece);
      tell(null);
      try {
        await piece.run(signal, (share) => {
          if (performance.now() - told < NEWS_MS) return;
          told = performance.now();
          tell(share);
        });
      } catch (error) {
        this.#pace.rest();
        throw error;
      }
      this.#pace.end();
      this.#done++;
    }
  }
}

/** For work that says how many steps it has. */
export const telling = (signal: AbortSignal, tell: (share: number) => void): RunOptions => ({
  signal,
  onProgress: ({ done, total }) => {
    if (total > 0) tell(done / total);
  },
});
