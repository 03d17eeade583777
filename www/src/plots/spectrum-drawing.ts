/** Draws what `<isoflat-spectrum>` is given, by what the lab draws its spectra with. */

import type { EigenResult, SpectralDensity } from "isoflat";
import { Plot } from "../charts/plot";
import { densityPlot, endsPlot } from "../charts/spectrum";
import { html } from "../dom";
import { integer } from "../format";
import drawings from "../style/drawings.css?inline";
import type { Point } from "../worker/protocol";
import { type Drawing, type PlotElement, sheetOf } from "./element";
import type { SpectrumContent } from "./spectrum";

let sheet: CSSStyleSheet | undefined;

const POINTS: { point: Point; name: string; sign: string }[] = [
  { point: "trained", name: "before", sign: "●" },
  { point: "bent", name: "after", sign: "◆" },
];

interface Part {
  figure: HTMLElement;
  note: HTMLElement;
  plot: Plot;
}

function part(title: string): Part {
  const note = html("span", { class: "range" });
  const chart = html("div", { class: "chart" });
  const figure = html("figure", { hidden: true }, html("figcaption", {}, title, note), chart);
  return { figure, note, plot: new Plot(chart) };
}

class SpectrumDrawing implements Drawing<SpectrumContent> {
  readonly #ends = part("Ends of the spectrum");
  readonly #densities = POINTS.map(() => part("Density"));
  readonly #legend = html(
    "ul",
    { class: "legend", hidden: true },
    ...POINTS.map(({ point, name, sign }) =>
      html("li", {}, html("span", { class: `key ${point}` }), `${sign} ${name}`),
    ),
  );

  constructor(private readonly place: HTMLElement) {
    const figures = [this.#ends, ...this.#densities].map(({ figure }) => figure);
    place.replaceChildren(this.#legend, html("div", { class: "spectrum" }, ...figures));
  }

  show({ eigenvalues, densities }: SpectrumContent): void {
    this.#legend.hidden = eigenvalues.length < 2 && densities.length < 2;
    this.#showEnds(eigenvalues);
    // One axis for both.
    const low = Math.min(...densities.map(({ grid }) => grid[0] ?? 0));
    const high = Math.max(...densities.map(({ grid }) => grid.at(-1) ?? 0));
    this.#densities.forEach((part, index) => {
      this.#showDensity(part, index, densities, [low, high]);
    });
  }

  close(): void {
    for (const { plot } of [this.#ends, ...this.#densities]) plot.close();
    this.place.replaceChildren();
  }

  #showEnds(eigenvalues: EigenResult[]): void {
    const { figure, note, plot } = this.#ends;
    figure.hidden = eigenvalues.length === 0;
    if (figure.hidden) {
      plot.show(undefined);
      return;
    }
    const there = eigenvalues.map((value, index) => ({ ...at(index, eigenvalues.length), value }));
    const isConverged = eigenvalues.every(({ converged }) => converged);
    note.textContent = isConverged ? "bars: ± residual" : "✗ not all converged; bars: ± residual";
    plot.show(endsPlot(there));
  }

  #showDensity(
    { figure, note, plot }: Part,
    index: number,
    densities: SpectralDensity[],
    range: [number, number],
  ): void {
    const value = densities[index];
    figure.hidden = !value;
    if (!value) {
      plot.show(undefined);
      return;
    }
    const { point, name } = at(index, densities.length);
    note.textContent = [name, `${integer(value.dimension)} eigenvalues`].filter(Boolean).join(", ");
    plot.show(densityPlot(value, point, range, name));
  }
}

/** One alone needs no name. */
function at(index: number, of: number): { point: Point; name: string } {
  const { point, name } = POINTS[index] ?? { point: "bent" as const, name: "" };
  return { point, name: of > 1 ? name : "" };
}

export function spectrumDrawing(place: HTMLElement, element: PlotElement<SpectrumContent>): Drawing<SpectrumContent> {
  sheet ??= sheetOf(drawings);
  element.adopt(sheet);
  return new SpectrumDrawing(place);
}
