/** Runs the papers' experiments on little, one at a time, in a worker of their own; what they came to is kept in the browser. */

import { Client } from "../client";
import { transaction } from "../database";
import { LabError } from "../errors";
import type { Messages } from "../messages";
import { Store } from "../store";
import type { QuickApi, QuickName, QuickProgress, QuickResults } from "../worker/quick-protocol";
import { CORRELATIONS, MINIMA } from "./quick-settings";

export interface QuickState {
  /** Which runs. */
  running: QuickName | null;
  progress: QuickProgress | null;
  /** Stopped on their way: the worker has what they have computed. */
  begun: ReadonlySet<QuickName>;
  found: Partial<QuickResults>;
}

const KEY = "quick";
/** Of what is kept: what was found at other ones is not what the page says of it. */
const SETTINGS = JSON.stringify([MINIMA, CORRELATIONS]);

interface Kept {
  settings: string;
  found: QuickState["found"];
}

/** Nothing of other settings. */
const foundIn = (kept: Kept | undefined): Kept["found"] => (kept?.settings === SETTINGS ? kept.found : {});

/** Another tab may have found something else. */
function keep(found: Kept["found"]): void {
  void transaction("readwrite", (store): IDBRequest<Kept | undefined> => {
    const request: IDBRequest<Kept | undefined> = store("last").get(KEY);
    request.onsuccess = () => {
      const kept: Kept = { settings: SETTINGS, found: { ...foundIn(request.result), ...found } };
      store("last").put(kept, KEY);
    };
    return request;
  });
}

const quickWorker = (): Worker =>
  new Worker(new URL("../worker/quick-worker.ts", import.meta.url), { type: "module", name: "isoflat-quick" });

export class QuickRuns {
  readonly store = new Store<QuickState>({ running: null, progress: null, begun: new Set(), found: {} });
  readonly #client = new Client<QuickApi, QuickProgress>((progress) => this.store.set({ progress }), quickWorker);
  #isStopped = false;
  /** What this has said last. */
  #said: Element | null = null;

  constructor(private readonly messages: Messages) {
    void transaction("readonly", (store): IDBRequest<Kept | undefined> => store("last").get(KEY)).then((kept) => {
      this.store.set({ found: { ...foundIn(kept), ...this.store.state.found } });
    });
  }

  async run(name: QuickName): Promise<void> {
    if (this.store.state.running) return;
    this.#isStopped = false;
    if (this.#said) this.messages.clear(this.#said);
    this.#said = null;
    const begun = new Set(this.store.state.begun);
    this.store.set({ running: name, progress: null });
    try {
      const found = await this.#client.call((lab) => lab.run(name));
      begun.delete(name);
      this.store.set({ found: { ...this.store.state.found, [name]: found } });
      keep({ [name]: found });
    } catch (error) {
      const code = error instanceof LabError ? error.code : "unexpected";
      // It had not come so far that it could go on from there, if it has not been heard of.
      if (this.store.state.progress) begun.add(name);
      if (!this.#isStopped || code !== "aborted") this.#said = this.messages.error(error);
      // What such a worker had computed is gone with it.
      if (code === "unexpected" || code === "crashed") {
        begun.clear();
        this.#client.discard();
      }
    } finally {
      this.store.set({ running: null, progress: null, begun });
    }
  }

  stop(): void {
    this.#isStopped = true;
    void this.#client.stop().catch(() => {});
  }
}
