/** Parameter spaces without rescalings (Jestädt 2025). Its parts from the idea to the experiments. */

import { html, render } from "lit-html";
import type { App } from "../app";
import { SpacesApp } from "../spaces/app";
import { curvatureView } from "./curvature";
import { place, within } from "./place";
import { rescalingView } from "./rescaling";
import { skeletonView } from "./skeleton";
import { thesisView } from "./thesis";
import { ToysView } from "./toys";

/** Each fills its own. */
const PARTS = ["skeleton", "rescaling-part", "toys", "thesis", "curvature-part"] as const;

const markup = () => html`
  <div class="side">
    <h2 id="spaces-title">Train without the symmetry</h2>
    <p class="story">
      Bending the weights changes nothing that the network says, but it changes how it learns. Are there coordinates
      that cannot be bent? Jestädt’s thesis (2025) builds two such spaces and trains in them.
    </p>
  </div>
  <div class="display">
    ${PARTS.map((id) => html`<section id=${id} class="space-part" aria-labelledby="${id}-title"></section>`)}
  </div>
`;

/** The result calls for a redraw where colours are not the style sheet's. */
export function spacesView({ messages, store }: App): { redraw: () => void } {
  const spaces = place("spaces");
  render(markup(), spaces);
  const section = (id: (typeof PARTS)[number]): HTMLElement => within(spaces)("section", id);
  const app = new SpacesApp(messages, store);
  skeletonView(section("skeleton"));
  rescalingView(app, section("rescaling-part"));
  const toys = new ToysView(section("toys"));
  thesisView(app, section("thesis"));
  curvatureView(app, section("curvature-part"));
  // How fast this device is takes a moment to find out, and matters only to who comes this far.
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    seen.disconnect();
    void app.measureSpeed();
  });
  seen.observe(section("thesis"));
  return { redraw: () => toys.redraw() };
}
