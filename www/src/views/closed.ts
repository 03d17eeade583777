/** The closed parts of this page. */

import type { App } from "../app";
import { Closed } from "../closed";
import type { Key } from "../store";

const panels = new Map(
  [...document.querySelectorAll<HTMLElement>("[data-tab]")].map((panel) => [panel.dataset.tab, panel]),
);

export const closed = new Closed((part) => panels.get(part)?.hidden === true);

/** As the store's own `watch`, for what an element of a part shows: while that is closed, drawing it waits. */
export function watchIn(element: HTMLElement, app: App, keys: Key[], draw: () => void): void {
  const part = element.closest<HTMLElement>("[data-tab]")?.dataset.tab;
  let isFirst = true;
  app.store.watch(keys, () => {
    if (isFirst || part === undefined) draw();
    else closed.draw(part, draw);
    isFirst = false;
  });
}
