/**
 * Figure 5 of Dinh et al. 2017: the same loss in other coordinates, η = (|θ − θ̂|² + b)^a (θ − θ̂). A drawing: one loss with four
 * equal minima, and what the map of its axis makes of them.
 */

import { band, curve, dots, Plot, type PlotOptions } from "../charts/plot";
import { linear } from "../charts/scales";
import { html, svg } from "../dom";
import type { Figure } from "../figures/figure";
import { plotted } from "../figures/plots";
import { number } from "../format";
import { takeAlong } from "./take-along";

const [LOW, HIGH] = [0, 4];
const MINIMA = [0.5, 1.5, 2.5, 3.5];
const POINTS = 401;
/** A regular grid of θ, drawn to show where it goes. */
const GRID = 41;

/** Four minima, all alike. */
const loss = (theta: number): number => (1 + Math.cos(2 * Math.PI * theta)) / 2;
/** L″ at each of them. */
const CURVATURE = 2 * Math.PI ** 2;

interface PowerMap {
  center: number;
  a: number;
  b: number;
}

export function eta({ center, a, b }: PowerMap, theta: number): number {
  const d = theta - center;
  return d === 0 ? 0 : (d * d + b) ** a * d;
}

/** dη/dθ = q^(a−1) ((1 + 2a) d² + b), with q = d² + b. */
export function slope({ center, a, b }: PowerMap, theta: number): number {
  const d = theta - center;
  const q = d * d + b;
  return q === 0 ? (a > 0 ? 0 : a < 0 ? Number.POSITIVE_INFINITY : 1) : q ** (a - 1) * ((1 + 2 * a) * d * d + b);
}

const range = (count: number): number[] =>
  Array.from({ length: count }, (_, index) => LOW + ((HIGH - LOW) * index) / (count - 1));

export class Figure5 {
  readonly root: HTMLElement;
  readonly #map: PowerMap = { center: 1.5, a: 0.7, b: 0.02 };
  readonly #before: Plot;
  readonly #after: Plot;
  readonly #said = html("p", { class: "note", role: "status", id: "figure5-said" });

  constructor() {
    const [before, after] = ["as written in θ", "the same loss in η"].map((title) =>
      html(
        "figure",
        {},
        html("figcaption", { class: "chart-head" }, html("span", {}, title)),
        html("div", { class: "chart small" }),
      ),
    ) as [HTMLElement, HTMLElement];
    takeAlong(before.querySelector("figcaption"), () => this.#figure("theta"));
    takeAlong(after.querySelector("figcaption"), () => this.#figure("eta"));
    const sliders = html(
      "div",
      { class: "figure5-sliders" },
      this.#slider("center", "θ̂, where it acts", LOW, HIGH, 0.01),
      this.#slider("a", "a: above 0 sharpens, below 0 flattens", -0.45, 1.5, 0.01),
      this.#slider("b", "b, how gently", 0, 0.5, 0.005),
    );
    this.root = html(
      "article",
      { class: "card wide", id: "figure5", "aria-labelledby": "figure5-title" },
      html("h3", { id: "figure5-title" }, "Other coordinates, another sharpness"),
      html(
        "p",
        { class: "about-card" },
        "Even the axis can be chosen. Writing the same loss in η = (|θ − θ̂|² + b)ᵃ (θ − θ̂) stretches or squeezes it around θ̂: the minima stay as deep and as many, and one becomes as flat or as sharp as one likes (section 5.1, Figure 5).",
      ),
      sliders,
      html("div", { class: "figure5-pair" }, before, after),
      this.#said,
    );
    this.#before = new Plot(before.querySelector("div") as HTMLDivElement);
    this.#after = new Plot(after.querySelector("div") as HTMLDivElement);
    this.#draw();
  }

  #slider(key: keyof PowerMap, name: string, min: number, max: number, step: number): HTMLElement {
    const input = html("input", { type: "range", id: `figure5-${key}`, min, max, step, value: this.#map[key] });
    const output = html("output", { for: input.id }, number(this.#map[key], 2));
    input.addEventListener("input", () => {
      this.#map[key] = Number(input.value);
      output.textContent = number(this.#map[key], 2);
      this.#draw();
    });
    return html("div", { class: "lambda from-left" }, html("label", { for: input.id }, name), input, output);
  }

  #draw(): void {
    const map = this.#map;
    const nearest = nearestTo(map);
    const steep = slope(map, nearest);
    const curvature = CURVATURE / steep ** 2;
    this.#before.show(plotOf(map, "theta"));
    this.#after.show(plotOf(map, "eta"));
    this.root.dataset.curvature = String(curvature);
    const word = curvature < CURVATURE * 0.95 ? "flatter" : curvature > CURVATURE * 1.05 ? "sharper" : "about as sharp";
    this.#said.textContent =
      `The minimum next to θ̂ is the shaded one. Its curvature is ${number(CURVATURE)} in θ and ${Number.isFinite(curvature) ? number(curvature) : "without bound"} in η: ${word}. ` +
      "The dots are a regular grid of θ; the line is θ̂.";
  }

  #figure(axis: Axis): Figure {
    const map = { ...this.#map };
    const thetas = range(POINTS);
    return {
      name: `dinh-figure-5-${axis}`,
      title: axis === "theta" ? "One loss with four equal minima, over θ" : "The same loss over η",
      caption: `After Dinh et al. 2017, Figure 5: η = (|θ − θ̂|² + b)^a (θ − θ̂) with θ̂ = ${map.center}, a = ${map.a}, b = ${map.b}; the dots are a regular grid of θ, the line is θ̂, and the minimum next to it is shaded.`,
      columns: () => [
        { name: "theta", values: thetas },
        { name: "eta", values: thetas.map((theta) => eta(map, theta)) },
        { name: "loss", values: thetas.map(loss) },
      ],
      drawing: plotted(plotOf(map, axis)),
    };
  }
}

type Axis = "theta" | "eta";

const nearestTo = ({ center }: PowerMap): number =>
  MINIMA.reduce((best, minimum) => (Math.abs(minimum - center) < Math.abs(best - center) ? minimum : best));

function plotOf(map: PowerMap, axis: Axis): PlotOptions {
  const [name, kind, center] = axis === "theta" ? ["θ", "trained", map.center] : ["η", "bent", 0];
  const place = (theta: number): number => (axis === "theta" ? theta : eta(map, theta));
  const thetas = range(POINTS);
  const grid = range(GRID);
  const [low, high] = [place(LOW), place(HIGH)];
  const room = (high - low) * 0.02;
  const nearest = nearestTo(map);
  const near = thetas.filter((theta) => Math.abs(theta - nearest) <= 0.25);
  return {
    x: linear(low - room, high + room, 5),
    y: linear(0, 1.08, 4),
    xLabel: name,
    yLabel: "loss",
    left: 44,
    label: `The loss over ${name}, with a vertical line at ${number(center)}`,
    marks: (frame) => [
      band(
        frame,
        near.map(place),
        near.map(() => 0),
        near.map(loss),
        kind,
      ),
      svg("line", { class: "here", x1: frame.x(center), x2: frame.x(center), y1: frame.top, y2: frame.bottom }),
      curve(frame, thetas.map(place), thetas.map(loss), kind),
      dots(frame, grid.map(place), grid.map(loss), kind, 2.6),
    ],
  };
}
