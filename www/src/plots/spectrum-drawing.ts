/** Draws what `<isoflat-spectrum>` is given: the ends with how far to trust them, and densities. */

import type { EigenResult } from "isoflat";
import { Plot } from "../charts/plot";
import { densityPlot, endsPlot, extent, rangeOf } from "../charts/spectrum";
import { html } from "../dom";
import { integer, number } from "../format";
import drawings from "../style/drawings.css?inline";
import type { Point } from "../worker/protocol";
import { type Drawing, type PlotElement, sheetOf } from "./element";
import type { SpectrumContent } from "./spectrum";

let sheet: CSSStyleSheet | undefined;

const POINTS: { point: Point; sign: string }[] = [
  { point: "trained", sign: "●" },
  { point: "bent", sign: "◆" },
];

interface Part {
  figure: HTMLElement;
  title: HTMLElement;
  note: HTMLElement;
  plot: Plot;
}

/** `slot`: where the page can put what belongs to the figure. */
function part(slot: string, ...below: HTMLElement[]): Part {
  const [title, note] = [html("span"), html("span", { class: "range" })];
  const chart = html("div", { class: "chart" });
  const caption = html("figcaption", {}, title, note, html("slot", { name: slot }));
  const figure = html("figure", { hidden: true, class: slot }, caption, chart, ...below);
  return { figure, title, note, plot: new Plot(chart) };
}

class SpectrumDrawing implements Drawing<SpectrumContent> {
  readonly #trust = html("div", { class: "trust" });
  readonly #ends = part("ends", this.#trust);
  readonly #densities = POINTS.map((_, index) => part(`density-${index + 1}`));

  constructor(private readonly place: HTMLElement) {
    const figures = [this.#ends, ...this.#densities].map(({ figure }) => figure);
    place.replaceChildren(html("div", { class: "spectrum" }, ...figures));
  }

  show(content: SpectrumContent): void {
    this.#showEnds(content);
    this.#densities.forEach((part, index) => {
      this.#showDensity(part, index, content);
    });
  }

  close(): void {
    for (const { plot } of [this.#ends, ...this.#densities]) plot.close();
    this.place.replaceChildren();
  }

  #showEnds({ eigenvalues, names, isSemidefinite }: SpectrumContent): void {
    const { figure, title, note, plot } = this.#ends;
    figure.hidden = eigenvalues.length === 0;
    if (figure.hidden) {
      plot.show(undefined);
      return;
    }
    const there = eigenvalues.map((value, index) => ({ ...at(index, eigenvalues.length, names), value }));
    title.replaceChildren("Ends of the spectrum");
    note.replaceChildren("bars: ± residual");
    this.#trust.replaceChildren(
      ...there.map(({ value, said, point }) =>
        html(
          "p",
          { class: "note" },
          said && html("span", { class: point }, said),
          `${said && ": "}${trust(value, isSemidefinite)}`,
        ),
      ),
    );
    plot.show(endsPlot(there, isSemidefinite));
  }

  #showDensity({ figure, title, note, plot }: Part, index: number, content: SpectrumContent): void {
    const { densities, names, hasOwnAxes } = content;
    const value = densities[index];
    figure.hidden = !value;
    if (!value) {
      plot.show(undefined);
      return;
    }
    const { point, name, said } = at(index, densities.length, names);
    title.replaceChildren(said ? "Density, " : "Density", said && html("span", { class: point }, said));
    note.replaceChildren(`${integer(value.dimension)} eigenvalues`);
    plot.show(densityPlot(value, point, rangeOf(hasOwnAxes ? [value] : densities), name));
  }
}

/** One alone needs no name. */
function at(index: number, of: number, names: readonly [string, string]): { point: Point; name: string; said: string } {
  const { point, sign } = POINTS[index] ?? { point: "bent" as const, sign: "" };
  const name = of > 1 ? (names[index] ?? "") : "";
  return { point, name, said: name && `${sign} ${name}` };
}

function trust(result: EigenResult, isSemidefinite: boolean): string {
  const { products, converged, verified, top, bottom } = result;
  const worst = Math.max(...[...top, ...bottom].map(({ residual }) => residual));
  return [
    extent(result, isSemidefinite),
    `${integer(products)} products`,
    converged ? "all converged" : "✗ not all converged",
    verified === undefined
      ? ""
      : verified
        ? "verified: none was missed, by all that a random vector tells"
        : "not verified: some may be missing",
    `residuals up to ${number(worst, 1)}`,
  ]
    .filter(Boolean)
    .join("; ");
}

export function spectrumDrawing(place: HTMLElement, element: PlotElement<SpectrumContent>): Drawing<SpectrumContent> {
  sheet ??= sheetOf(drawings);
  element.adopt(sheet);
  return new SpectrumDrawing(place);
}
