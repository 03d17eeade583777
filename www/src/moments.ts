/** When there is time: after a picture, in the next task, when nothing else is to be done. */

/** Where frames are late, or nobody looks, the page goes on without one. */
const MOST_MS = 250;

/** What the page shows by now has been drawn. */
export const painted = (): Promise<void> =>
  new Promise((resolve) => {
    if (document.hidden) {
      resolve();
      return;
    }
    // What runs in a frame comes before its drawing, the next task after it.
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, MOST_MS);
  });

/** At most: where no browser says when. */
const FIRST_MS = 2000;
let first: Promise<void> | undefined;

/** The page's first words are on the screen: whatever sets the GPU up would have them wait for it. */
export function firstPicture(): Promise<void> {
  first ??= new Promise((resolve) => {
    if (document.hidden || !PerformanceObserver.supportedEntryTypes.includes("paint")) {
      resolve();
      return;
    }
    const observer = new PerformanceObserver((list) => {
      if (list.getEntriesByName("first-contentful-paint").length > 0) resolve();
    });
    observer.observe({ type: "paint", buffered: true });
    setTimeout(resolve, FIRST_MS);
  });
  return first;
}

/** Lets the page draw and hear what people do. */
export const nextTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/**
 * The same, before what else waits, where the browser can: in between it is people's turn alone. Elsewhere no message channel
 * stands in for it: after a reload Firefox let go of one before its message came, and the page stayed as it was.
 */
function yielded(): Promise<void> {
  const { scheduler } = globalThis as { scheduler?: { yield?: () => Promise<void> } };
  return scheduler?.yield?.() ?? nextTask();
}

/** A press that has to wait for longer is felt, and a phone takes four times as long. */
const LONGEST_MS = 10;

/** Long work on the page in short tasks. */
export class ShortTasks {
  #began = performance.now();

  /** Does the next part of it: at once, or in a task of its own when this one has taken its time. */
  async run<T>(part: () => T): Promise<T> {
    if (performance.now() - this.#began >= LONGEST_MS) {
      await yielded();
      this.#began = performance.now();
    }
    return part();
  }
}

/** The page and what draws for it keep two busy while something moves: work beside it would have them wait for each other. */
export const areProcessorsFew = (): boolean => navigator.hardwareConcurrency <= 2;

/** Somebody is at the page: a mouse that moves is on its way to something. */
export function handsOn(): Promise<void> {
  return new Promise((resolve) => {
    for (const kind of ["pointermove", "pointerdown", "keydown"]) {
      window.addEventListener(kind, () => resolve(), { capture: true, once: true, passive: true });
    }
  });
}

/** Nothing else is to be done, or has not been for some seconds. */
export const idle = (): Promise<void> =>
  new Promise((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: 5000 });
    else setTimeout(resolve, 1000);
  });
