/** `<isoflat-landscape>`: the loss around a point as a surface that hands turn, as a contour map, or as a line. */

import type { Landscape } from "isoflat";
import { cameraText, orbitOf, orbitSaid, PLACES } from "../charts/camera";
import type { HeightKind } from "../charts/heights";
import type { Orbit } from "../charts/relief";
import type { MakeDrawer } from "../charts/surface-drawer";
import { chosen, type MakeDrawing, oneOf, PlotElement } from "./element";
import { type LandscapeData, landscapesOf, namesOf } from "./given";

const VIEWS = ["surface", "contour"] as const;
const SCALES = ["log", "linear"] as const;

export type View = (typeof VIEWS)[number];

export interface LandscapeContent {
  landscape: Landscape;
  /** A second line, in the same chart. */
  other: Landscape | null;
  names: readonly [string, string];
  /** Those that it shares its scale with. */
  beside: Landscape[];
  view: View;
  scale: HeightKind;
  orbit: Orbit;
  hasControls: boolean;
  hasScale: boolean;
}

type Given = LandscapeData | readonly [LandscapeData] | readonly [LandscapeData, LandscapeData];

export class IsoflatLandscape extends PlotElement<LandscapeContent> {
  /** What draws surfaces elsewhere than on the page's thread. A page's own matter: no bundler would find its worker. */
  static drawers: () => MakeDrawer | null = () => null;
  static readonly observedAttributes = ["view", "scale", "camera", "controls", "no-scale"];
  protected readonly given = ["landscape", "beside", "names", "view", "scale", "camera", "controls", "noScale"];
  #given: { landscape: Given; own: Landscape[] } | null = null;
  #beside: { landscapes: readonly LandscapeData[]; own: Landscape[] } = { landscapes: [], own: [] };
  #orbit: Orbit = orbitOf(null);

  #names: readonly [string, string] = ["before", "after"];

  get landscape(): Given | null {
    return this.#given?.landscape ?? null;
  }

  set landscape(landscape: Given | null) {
    this.#given = landscape ? { landscape, own: landscapesOf(landscape, "landscape") } : null;
    this.redraw();
  }

  get names(): readonly [string, string] {
    return this.#names;
  }

  set names(names: readonly [string, string]) {
    this.#names = namesOf(names, "names");
    this.redraw();
  }

  get beside(): readonly LandscapeData[] {
    return this.#beside.landscapes;
  }

  set beside(landscapes: readonly LandscapeData[]) {
    if (!Array.isArray(landscapes)) throw new TypeError("beside: it is to be a list of landscapes");
    this.#beside = { landscapes, own: landscapes.flatMap((one, index) => landscapesOf(one, `beside[${index}]`)) };
    this.redraw();
  }

  get view(): View {
    return chosen(this.getAttribute("view"), VIEWS);
  }

  set view(view: View) {
    this.setAttribute("view", oneOf(view, VIEWS, "view"));
  }

  get scale(): HeightKind {
    return chosen(this.getAttribute("scale"), SCALES);
  }

  set scale(scale: HeightKind) {
    this.setAttribute("scale", oneOf(scale, SCALES, "scale"));
  }

  get controls(): boolean {
    return this.hasAttribute("controls");
  }

  set controls(has: boolean) {
    this.toggleAttribute("controls", has);
  }

  get noScale(): boolean {
    return this.hasAttribute("no-scale");
  }

  set noScale(has: boolean) {
    this.toggleAttribute("no-scale", has);
  }

  /** `""` where it begins. */
  get camera(): string {
    return cameraText(this.#orbit) ?? "";
  }

  set camera(text: string) {
    const orbit = text === "" ? orbitOf(null) : orbitSaid(String(text));
    if (!orbit) throw new TypeError(`camera: it is to be ${PLACES}, and not ${JSON.stringify(text)}`);
    this.#orbit = orbit;
    this.redraw();
  }

  /** The same to the last digit, for the page that has several. */
  get orbit(): Orbit {
    return this.#orbit;
  }

  set orbit(orbit: Orbit) {
    this.#orbit = orbit;
    this.redraw();
  }

  /** What makes no sense is the same error as of a property: the browser reports it, and what is drawn begins as if nothing were said. */
  attributeChangedCallback(name: string, _: string | null, value: string | null): void {
    if (name === "camera") this.#orbit = orbitOf(value);
    this.redraw();
    if (value === null) return;
    if (name === "camera") this.camera = value;
    else if (name === "view") oneOf(value as View, VIEWS, name);
    else if (name === "scale") oneOf(value as HeightKind, SCALES, name);
  }

  /** By hand. */
  turn(orbit: Orbit): void {
    this.#orbit = orbit;
    this.redraw();
    this.dispatchEvent(new Event("camerachange"));
  }

  /** A surface cannot be drawn, and is a map. */
  fallBack(): void {
    this.redraw();
    this.dispatchEvent(new Event("fallback"));
  }

  choose(view: View): void {
    this.view = view;
    this.dispatchEvent(new Event("viewchange"));
  }

  protected override content(): LandscapeContent | null {
    const [landscape, other = null] = this.#given?.own ?? [];
    if (!landscape) return null;
    const { view, scale } = this;
    return {
      landscape,
      other,
      names: this.#names,
      beside: this.#beside.own,
      view,
      scale,
      orbit: this.#orbit,
      hasControls: this.controls,
      hasScale: !this.noScale,
    };
  }

  protected override async load(): Promise<MakeDrawing<LandscapeContent>> {
    return (await import("./landscape-drawing")).landscapeDrawing as MakeDrawing<LandscapeContent>;
  }
}
