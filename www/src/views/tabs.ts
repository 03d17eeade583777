/** The parts below the stage: one at a time, each with an address of its own. */

import { painted } from "../moments";
import { place } from "./place";
import { watchStaying } from "./staying";

const FIRST = "train";

/** `shown` is called when another part comes into view: charts in closed ones have no size. */
export function tabsView(shown: (tab: string) => void): void {
  const links = [...place("tabs").querySelectorAll("a")];
  const panels = [...document.querySelectorAll<HTMLElement>("[data-tab]")];
  const names = new Set(panels.map(({ dataset }) => dataset.tab));
  const open = (isFirst = false): void => {
    // Older addresses had no slash; one that is no part at all, like the skip link's, leaves all as it is.
    const [wanted = ""] = location.hash.replace(/^#\/?/, "").split("?");
    const isPart = location.hash.startsWith("#/") || names.has(wanted);
    if (!isFirst && location.hash !== "" && !isPart) return;
    const tab = names.has(wanted) ? wanted : FIRST;
    for (const panel of panels) panel.hidden = panel.dataset.tab !== tab;
    // Style sheets that found out by `main:has(…)` would have all of the page styled anew at each change in it.
    document.documentElement.dataset.part = tab;
    for (const link of links) {
      if (link.hash === `#/${tab}`) {
        link.setAttribute("aria-current", "page");
        // Where it is is known then, without the page being laid out for it.
        void painted().then(() => bringIntoView(link));
      } else link.removeAttribute("aria-current");
    }
    shown(tab);
  };
  // A browser leaves one that is half in sight where it is.
  place("tabs").addEventListener("focusin", ({ target }) => target instanceof HTMLElement && bringIntoView(target));
  window.addEventListener("hashchange", () => open());
  open(true);
  watchStaying();
}

/** Along the list and no further: the page stays where it is. */
function bringIntoView(link: HTMLElement): void {
  const list = link.closest("ul");
  if (!list) return;
  const [of, all] = [link.getBoundingClientRect(), list.getBoundingClientRect()];
  if (of.left < all.left) list.scrollLeft += of.left - all.left;
  else if (of.right > all.right) list.scrollLeft += of.right - all.right;
}
