/** `<isoflat-spectrum>`: an operator's eigenvalues at the ends of its spectrum, and its density; of one point or of two. */

import type { EigenResult, SpectralDensity } from "isoflat";
import { type MakeDrawing, PlotElement } from "./element";
import { densityOf, eigenvaluesOf, namesOf } from "./given";

export interface SpectrumContent {
  eigenvalues: EigenResult[];
  densities: SpectralDensity[];
  names: readonly [string, string];
  hasOwnAxes: boolean;
  isSemidefinite: boolean;
}

type OneOrTwo<T> = T | readonly [T] | readonly [T, T] | null;

export class IsoflatSpectrum extends PlotElement<SpectrumContent> {
  static readonly observedAttributes = ["own-axes"];
  protected readonly given = ["eigenvalues", "density", "names", "ownAxes"];
  #eigenvalues: { given: OneOrTwo<EigenResult>; own: EigenResult[] } = { given: null, own: [] };
  #density: { given: OneOrTwo<SpectralDensity>; own: SpectralDensity[] } = { given: null, own: [] };
  #names: readonly [string, string] = ["before", "after"];
  #isSemidefinite = false;

  get eigenvalues(): OneOrTwo<EigenResult> {
    return this.#eigenvalues.given;
  }

  set eigenvalues(given: OneOrTwo<EigenResult>) {
    this.#eigenvalues = { given, own: eigenvaluesOf(given, "eigenvalues") ?? [] };
    this.redraw();
  }

  get density(): OneOrTwo<SpectralDensity> {
    return this.#density.given;
  }

  set density(given: OneOrTwo<SpectralDensity>) {
    this.#density = { given, own: densityOf(given, "density") ?? [] };
    this.redraw();
  }

  get names(): readonly [string, string] {
    return this.#names;
  }

  set names(names: readonly [string, string]) {
    this.#names = namesOf(names, "names");
    this.redraw();
  }

  get ownAxes(): boolean {
    return this.hasAttribute("own-axes");
  }

  set ownAxes(has: boolean) {
    this.toggleAttribute("own-axes", has);
  }

  /** For the page that knows its operator: does it have no negative eigenvalue? */
  get isSemidefinite(): boolean {
    return this.#isSemidefinite;
  }

  set isSemidefinite(is: boolean) {
    this.#isSemidefinite = is;
    this.redraw();
  }

  attributeChangedCallback(): void {
    this.redraw();
  }

  protected override content(): SpectrumContent | null {
    const [eigenvalues, densities] = [this.#eigenvalues.own, this.#density.own];
    if (eigenvalues.length + densities.length === 0) return null;
    const { ownAxes: hasOwnAxes, names, isSemidefinite } = this;
    return { eigenvalues, densities, names, hasOwnAxes, isSemidefinite };
  }

  protected override async load(): Promise<MakeDrawing<SpectrumContent>> {
    return (await import("./spectrum-drawing")).spectrumDrawing;
  }
}
