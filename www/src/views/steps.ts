/** The row of steps at the top: which one is in view, which ones have something to show. */

import type { App } from "../app";
import { transformationOf } from "../store";

export function stepsView(app: App): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>(".steps a")];
  const byId = new Map(links.map((link) => [link.hash.slice(1), link]));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        for (const link of links) link.removeAttribute("aria-current");
        byId.get(target.id)?.setAttribute("aria-current", "step");
      }
    },
    // The section that crosses a line a third down the window.
    { rootMargin: "-33% 0px -66% 0px" },
  );
  for (const section of document.querySelectorAll("section.step")) observer.observe(section);
  app.store.watch(["ready", "surfaces", "bend", "measures", "dinh"], () => {
    const { ready, surfaces, bend, measures, dinh } = app.store.state;
    const bent = transformationOf(bend) !== null;
    const done: [string, boolean][] = [
      ["train", ready],
      ["look", surfaces.trained !== undefined],
      ["bend", bent],
      ["sharpen", dinh.sharpened !== null],
      ["compare", bent && measures.bent.size > 0],
    ];
    for (const [id, yes] of done) byId.get(id)?.toggleAttribute("data-done", yes);
  });
}
