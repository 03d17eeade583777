/** Draws what `<isoflat-landscape>` is given, by what the lab draws its landscapes with. */

import { drawContour } from "../charts/contour";
import type { Ground } from "../charts/ground";
import { heightsOf } from "../charts/heights";
import { linePlot } from "../charts/line";
import { drawLossScale } from "../charts/loss-scale";
import { ramp } from "../charts/palette";
import { Plot } from "../charts/plot";
import { SurfaceView } from "../charts/surface";
import { html } from "../dom";
import { whenSized } from "../observers";
import drawings from "../style/drawings.css?inline";
import { type Drawing, sheetOf } from "./element";
import { IsoflatLandscape, type LandscapeContent, type View } from "./landscape";

let sheet: CSSStyleSheet | undefined;
let drawn = 0;

const VIEWS: [view: View, label: string][] = [
  ["surface", "Surface"],
  ["contour", "Contour"],
];

class LandscapeDrawing implements Drawing<LandscapeContent> {
  readonly #name = `landscape-${++drawn}`;
  readonly #view = html("div", { class: "view" });
  readonly #scale = html("div", { class: "loss-scale" });
  readonly #legend = html("ul", { class: "legend" });
  readonly #controls: HTMLElement;
  readonly #leave: () => void;
  #surface: SurfaceView | undefined;
  #line: Plot | undefined;
  /** The browser has no WebGL: surfaces are drawn as maps. */
  #isFlat = false;
  #shown: { content: LandscapeContent; ground: Ground } | undefined;

  constructor(
    private readonly place: HTMLElement,
    private readonly element: IsoflatLandscape,
  ) {
    const radios = VIEWS.map(([view, label]) => {
      const radio = html("input", { type: "radio", name: "view", value: view });
      radio.addEventListener("change", () => radio.checked && element.choose(view));
      return html("label", {}, radio, html("span", {}, label));
    });
    this.#controls = html("div", { class: "segments", role: "radiogroup", "aria-label": "View" }, ...radios);
    place.replaceChildren(this.#view, this.#scale);
    this.#leave = whenSized(this.#view, () => this.#fit());
  }

  show(content: LandscapeContent, ground: Ground): void {
    const before = this.#shown?.content;
    this.#shown = { content, ground };
    if (before && isOnlyTurned(before, content)) {
      this.#surface?.turn(content.orbit);
      return;
    }
    const { landscape, beside, scale, orbit, hasControls, hasScale } = content;
    // Who asks for a surface again is to have one, if there can be.
    if (before?.view === "contour") this.#isFlat = false;
    const view = this.#viewOf(content);
    if (this.#view.dataset.view !== view) this.#clear();
    this.#view.dataset.view = view;
    if (!hasControls || view === "line") this.#controls.remove();
    else if (!this.#controls.isConnected) this.place.prepend(this.#controls);
    for (const radio of this.#controls.querySelectorAll("input")) radio.checked = radio.value === view;
    if (view === "line") {
      this.#drawLine(content);
      drawLossScale(this.#scale, undefined, 0);
      return;
    }
    const heights = heightsOf([landscape, ...beside], scale);
    if (view === "contour") this.#drawContour();
    else {
      this.#surface ??= new SurfaceView(
        this.#view,
        (to) => this.element.turn(to),
        () => {
          this.#isFlat = true;
          this.element.fallBack();
        },
        IsoflatLandscape.drawers(),
        ground,
      );
      this.#surface.turn(orbit);
      this.#surface.show(landscape, heights);
    }
    drawLossScale(this.#scale, hasScale ? heights : undefined, 1 + beside.length, ground.theme());
  }

  close(): void {
    this.#leave();
    this.#clear();
    this.place.replaceChildren();
  }

  #viewOf({ landscape, view }: LandscapeContent): View | "line" {
    if (landscape.t.length === 0) return "line";
    return this.#isFlat ? "contour" : view;
  }

  #clear(): void {
    this.#surface?.dispose();
    this.#surface = undefined;
    this.#line?.close();
    this.#line = undefined;
    this.#view.replaceChildren();
  }

  /** One alone needs no name. */
  #drawLine({ landscape, other, names, scale }: LandscapeContent): void {
    if (!this.#line) {
      const box = html("div", { class: "chart" });
      this.#view.replaceChildren(box, this.#legend);
      this.#line = new Plot(box);
    }
    const [one, two] = other ? names : ["", ""];
    const said = (name: string): string => (name === "" ? "" : `${name}: `);
    const lines = { trained: landscape, ...(other && { bent: other }) };
    this.#line.show(linePlot(lines, scale, { trained: said(one), bent: said(two) }));
    const key = (kind: string, name: string) =>
      html("li", { class: `of-${kind}` }, html("span", { class: `key ${kind}` }), name);
    this.#legend.replaceChildren(
      ...(other ? [key("trained", `● ${one}`), key("bent", `◆ ${two}`)] : []),
      ...(landscape.path ? [key("way", "the training’s way")] : []),
    );
  }

  /** A map is drawn for its size. */
  #fit(): void {
    if (this.#view.dataset.view === "contour") this.#drawContour();
  }

  #drawContour(): void {
    if (!this.#shown || this.#view.clientWidth === 0) return;
    const { content, ground } = this.#shown;
    const heights = heightsOf([content.landscape, ...content.beside], content.scale);
    drawContour(this.#view, content.landscape, heights, this.#name, ramp(ground.theme()));
  }
}

/** A hand turns it, frame by frame: nothing is built anew. */
function isOnlyTurned(before: LandscapeContent, now: LandscapeContent): boolean {
  const { orbit, ...others } = now;
  return before.orbit !== orbit && Object.entries(others).every(([name, value]) => before[name as "view"] === value);
}

export function landscapeDrawing(place: HTMLElement, element: IsoflatLandscape): Drawing<LandscapeContent> {
  sheet ??= sheetOf(drawings);
  element.adopt(sheet);
  return new LandscapeDrawing(place, element);
}
