/** Files of one model that come one after the other: a graph, and the weights beside it. */

import { type Came, without } from "./given";

interface Named {
  name: string;
}

/** What the package says of a file that is nothing without another one. */
const ASKS = /\bopen (it|them) together with\b/;

const asks = (error: unknown): boolean => error instanceof Error && ASKS.test(error.message);

export class Parts<F extends Named> {
  /** Those that have made no model so far. */
  #held: F[] = [];

  /** `opens`: whether these files make a model. */
  constructor(
    private readonly sort: (files: F[]) => Promise<Came<F>>,
    private readonly opens: (model: F[]) => Promise<boolean>,
  ) {}

  /** They make no model by themselves. */
  hold(files: F[]): void {
    this.#held = files;
  }

  /** Which of the files are a model and which are data, with those before them if they are nothing without those. */
  async sorted(files: F[]): Promise<Came<F>> {
    const held = without(this.#held, files);
    // What came last is looked at first: a fault of its own is what is to be said.
    const all = [...files, ...held];
    const alone = await this.sort(files).catch((error: unknown) => error);
    if (isSorted<F>(alone)) {
      if (held.length === 0 || alone.model.length === 0) return alone;
      const both = (await this.opens(alone.model)) ? null : await this.sort(all).catch(() => null);
      const found = both && (await this.opens(both.model)) ? both : alone;
      this.#held = [];
      return found;
    }
    const both = held.length > 0 ? await this.sort(all).catch((error: unknown) => error) : alone;
    if (isSorted<F>(both)) {
      this.#held = [];
      return both;
    }
    // More of them may be missing still.
    if (asks(both)) this.#held = all;
    else if (asks(alone)) this.#held = files;
    throw asks(both) ? both : alone;
  }
}

const isSorted = <F>(found: unknown): found is Came<F> =>
  typeof found === "object" && found !== null && "model" in found;
