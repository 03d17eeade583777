/** Parameter spaces without rescalings (Jestädt 2025). Its parts from the idea to the experiments. */

import type { App } from "../app";
import { html } from "../dom";
import { SpacesApp } from "../spaces/app";
import { curvatureView } from "./curvature";
import { place } from "./place";
import { rescalingView } from "./rescaling";
import { skeletonView } from "./skeleton";
import { ThesisView } from "./thesis";
import { ToysView } from "./toys";

/** The result calls for a redraw where colours are not the style sheet's. */
export function spacesView({ messages }: App): { redraw: () => void } {
  const section = place("spaces");
  const app = new SpacesApp(messages);
  const display = html("div", { class: "display" });
  section.append(
    html(
      "div",
      { class: "side" },
      html("h2", { id: "spaces-title" }, "Train without the symmetry"),
      html(
        "p",
        { class: "story" },
        "Bending the weights changes nothing that the network says, but it changes how it learns. Are there coordinates that cannot be bent? " +
          "Jestädt’s thesis (2025) builds two such spaces and trains in them.",
      ),
    ),
    display,
  );
  display.append(skeletonView(), rescalingView(app));
  const toys = new ToysView();
  display.append(toys.element);
  const thesis = new ThesisView(app);
  display.append(thesis.element, curvatureView(app));
  // How fast this device is takes a moment to find out, and matters only to who comes this far.
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    seen.disconnect();
    void app.measureSpeed();
  });
  seen.observe(thesis.element);
  return { redraw: () => toys.redraw() };
}
