/** `<isoflat-landscape>`: the loss around a point as a surface that hands turn, as a contour map, or as a line. */

import type { Landscape } from "isoflat";
import { cameraText, orbitOf } from "../charts/camera";
import type { HeightKind } from "../charts/heights";
import type { Orbit } from "../charts/relief";
import { chosen, type MakeDrawing, PlotElement } from "./element";
import { type LandscapeData, landscapeOf } from "./given";

const VIEWS = ["surface", "contour"] as const;
const SCALES = ["log", "linear"] as const;

export type View = (typeof VIEWS)[number];

export interface LandscapeContent {
  landscape: Landscape;
  /** Those that it shares its scale with. */
  beside: Landscape[];
  view: View;
  scale: HeightKind;
  orbit: Orbit;
  hasControls: boolean;
}

export class IsoflatLandscape extends PlotElement<LandscapeContent> {
  static readonly observedAttributes = ["view", "scale", "camera", "controls"];
  protected readonly given = ["landscape", "beside", "view", "scale", "camera", "controls"];
  #given: { landscape: LandscapeData; own: Landscape } | null = null;
  #beside: { landscapes: readonly LandscapeData[]; own: Landscape[] } = { landscapes: [], own: [] };
  #orbit: Orbit = orbitOf(null);

  get landscape(): LandscapeData | null {
    return this.#given?.landscape ?? null;
  }

  set landscape(landscape: LandscapeData | null) {
    this.#given = landscape ? { landscape, own: landscapeOf(landscape, "landscape") } : null;
    this.redraw();
  }

  get beside(): readonly LandscapeData[] {
    return this.#beside.landscapes;
  }

  set beside(landscapes: readonly LandscapeData[]) {
    if (!Array.isArray(landscapes)) throw new TypeError("beside: it is to be a list of landscapes");
    this.#beside = { landscapes, own: landscapes.map((one, index) => landscapeOf(one, `beside[${index}]`)) };
    this.redraw();
  }

  get view(): View {
    return chosen(this.getAttribute("view"), VIEWS);
  }

  set view(view: View) {
    this.setAttribute("view", view);
  }

  get scale(): HeightKind {
    return chosen(this.getAttribute("scale"), SCALES);
  }

  set scale(scale: HeightKind) {
    this.setAttribute("scale", scale);
  }

  get controls(): boolean {
    return this.hasAttribute("controls");
  }

  set controls(has: boolean) {
    this.toggleAttribute("controls", has);
  }

  /** `""` where it begins. */
  get camera(): string {
    return cameraText(this.#orbit) ?? "";
  }

  set camera(text: string) {
    this.#orbit = orbitOf(text);
    this.redraw();
  }

  attributeChangedCallback(name: string, _: string | null, value: string | null): void {
    if (name === "camera") this.camera = value ?? "";
    else this.redraw();
  }

  /** By hand. */
  turn(orbit: Orbit): void {
    this.#orbit = orbit;
    this.redraw();
    this.dispatchEvent(new Event("camerachange"));
  }

  choose(view: View): void {
    this.view = view;
    this.dispatchEvent(new Event("viewchange"));
  }

  protected override content(): LandscapeContent | null {
    if (!this.#given) return null;
    const { view, scale } = this;
    return {
      landscape: this.#given.own,
      beside: this.#beside.own,
      view,
      scale,
      orbit: this.#orbit,
      hasControls: this.controls,
    };
  }

  protected override async load(): Promise<MakeDrawing<LandscapeContent>> {
    return (await import("./landscape-drawing")).landscapeDrawing as MakeDrawing<LandscapeContent>;
  }
}
