/** How much of the window is taken by what stays while the page goes by, so that what is scrolled to comes beside it. */

import { place } from "./place";

/** In the order of the page; on wide screens they stay together, as `.top`. */
const PARTS = [".top", "#landscapes > figure", "#loss-scale", ".tabs"];

export function watchStaying(): void {
  const root = document.documentElement;
  const [guide, control, surfaces] = [place("guide"), place("control"), place("surface")];
  const top = guide.closest<HTMLElement>(".top");
  const parts = PARTS.flatMap((selector) => document.querySelector<HTMLElement>(selector) ?? []);
  const measure = (): void => {
    // What was read once goes out of sight: the part of `.top` that is above the surfaces.
    const isTogether = top && top.offsetHeight > 0;
    const above = isTogether ? surfaces.getBoundingClientRect().top - top.getBoundingClientRect().top - GAP : 0;
    const isAtFoot = getComputedStyle(control).position === "fixed";
    const foot = isAtFoot ? control.offsetHeight : 0;
    root.style.setProperty("--guide", `${Math.max(above, 0)}px`);
    root.style.setProperty("--foot", `${foot}px`);
    // Where parts stick may follow from what is above.
    const ends = parts.map((part) => {
      const { position, top } = getComputedStyle(part);
      // A report has the page to itself.
      return position === "sticky" && part.offsetHeight > 0 ? Number.parseFloat(top) + part.offsetHeight : 0;
    });
    root.style.setProperty("--top", `${Math.max(...ends, 0)}px`);
  };
  const observer = new ResizeObserver(measure);
  for (const part of [...parts, guide, control]) observer.observe(part);
  // A window that becomes higher lets things stay that have the size that they had.
  addEventListener("resize", measure);
  // What has gone out of sight upwards comes back with the focus: to scroll to it does not move what stays.
  guide.addEventListener("focusin", () => {
    if (guide.getBoundingClientRect().top < 0) scrollTo({ top: 0, behavior: "instant" });
  });
}

/** Above the surfaces, in pixels. */
const GAP = 6;
