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

/** Nothing else is to be done, or has not been for some seconds. */
export const idle = (): Promise<void> =>
  new Promise((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: 5000 });
    else setTimeout(resolve, 1000);
  });
