/** `<isoflat-spectrum>`: an operator's eigenvalues at the ends of its spectrum, and its density; of one point or of two. */

import type { EigenResult, SpectralDensity } from "isoflat";
import { type MakeDrawing, PlotElement } from "./element";
import { densityOf, eigenvaluesOf } from "./given";

export interface SpectrumContent {
  eigenvalues: EigenResult[];
  densities: SpectralDensity[];
}

type OneOrTwo<T> = T | readonly [T] | readonly [T, T] | null;

export class IsoflatSpectrum extends PlotElement<SpectrumContent> {
  protected readonly given = ["eigenvalues", "density"];
  #eigenvalues: { given: OneOrTwo<EigenResult>; own: EigenResult[] } = { given: null, own: [] };
  #density: { given: OneOrTwo<SpectralDensity>; own: SpectralDensity[] } = { given: null, own: [] };

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

  protected override content(): SpectrumContent | null {
    const [eigenvalues, densities] = [this.#eigenvalues.own, this.#density.own];
    return eigenvalues.length + densities.length > 0 ? { eigenvalues, densities } : null;
  }

  protected override async load(): Promise<MakeDrawing<SpectrumContent>> {
    return (await import("./spectrum-drawing")).spectrumDrawing;
  }
}
