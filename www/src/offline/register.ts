/** The page's side of the service worker: whether the page works offline, and whether a new version is there. */

import { idle } from "../moments";
import type { Answer, Question } from "./files";

export interface Offline {
  /** `page`: without what is large and seldom needed. */
  works: "no" | "page" | "all";
  /** `elsewhere`: it cannot take over, since another tab works with the files of this one. */
  update: "none" | "there" | "elsewhere";
}

/** Between two looks for a new version while the page stays open. */
const LOOK_MS = 3_600_000;

function ask(worker: ServiceWorker, question: Question): Promise<Answer> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = ({ data }: MessageEvent<Answer>) => resolve(data);
    worker.postMessage(question, [port2]);
  });
}

/** Once, when the worker has come so far. */
function when(worker: ServiceWorker, state: ServiceWorkerState): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (worker.state !== state) return;
      worker.removeEventListener("statechange", look);
      resolve();
    };
    worker.addEventListener("statechange", look);
    look();
  });
}

/** People may have asked their browser to save data. */
const savesData = (): boolean =>
  (navigator as Navigator & { connection?: { saveData?: boolean } }).connection?.saveData === true;

export class OfflineUse {
  #registration: ServiceWorkerRegistration | undefined;
  #state: Offline = { works: "no", update: "none" };

  constructor(private readonly changed: (state: Offline) => void) {}

  /** `script`: an address that only this build has. */
  async start(script: string): Promise<void> {
    if (!("serviceWorker" in navigator)) return;
    try {
      await idle();
      const registration = await navigator.serviceWorker.register(new URL("sw.js", document.baseURI), {
        updateViaCache: "none",
      });
      this.#registration = registration;
      this.#watch(registration);
      const worker = registration.active ?? registration.waiting ?? registration.installing;
      if (worker) await this.#keep(worker, script);
    } catch {
      // Private windows and full disks may refuse it: then the page works as it did, with a network.
    }
  }

  /** The new version instead of this one; all that is kept stays. */
  async reload(): Promise<void> {
    const worker = this.#registration?.waiting;
    if (!worker) return;
    const activated = when(worker, "activated");
    if ((await ask(worker, { type: "take-over" })) === "others") return this.#set({ update: "elsewhere" });
    await activated;
    location.reload();
  }

  async #keep(worker: ServiceWorker, script: string): Promise<void> {
    await when(worker, "activated");
    if (!navigator.serviceWorker.controller) await ask(worker, { type: "claim", script });
    this.#set({ works: "page" });
    if (savesData()) return;
    await idle();
    if ((await ask(worker, { type: "keep-later" })) === "done") this.#set({ works: "all" });
  }

  #watch(registration: ServiceWorkerRegistration): void {
    const found = async (worker: ServiceWorker | null): Promise<void> => {
      // The first one takes the place of none.
      if (!worker || !registration.active) return;
      await when(worker, "installed");
      this.#set({ update: "there" });
    };
    void found(registration.waiting);
    registration.addEventListener("updatefound", () => void found(registration.installing));
    let looked = Date.now();
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState !== "visible" || Date.now() - looked < LOOK_MS) return;
      looked = Date.now();
      registration.update().catch(() => {}); // Without a network there is nothing new.
    });
  }

  #set(change: Partial<Offline>): void {
    this.#state = { ...this.#state, ...change };
    this.changed(this.#state);
  }
}
