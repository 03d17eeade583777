/**
 * Figure 5 of Dinh et al. 2017: the same loss in other coordinates, η = (|θ − θ̂|² + b)^a (θ − θ̂). One loss with four equal minima, and
 * what the engine says that the map of its axis makes of them.
 */

import type { PowerPoint } from "isoflat";
import type { App } from "../app";
import { band, curve, dots, Plot, type PlotOptions } from "../charts/plot";
import { linear } from "../charts/scales";
import { html, svg } from "../dom";
import type { Figure } from "../figures/figure";
import { plotted } from "../figures/plots";
import { number, sentence } from "../format";
import { Latest } from "../latest";
import type { LossPoint, PowerChoice } from "../worker/protocol";
import { takeAlong } from "./take-along";

const [LOW, HIGH] = [0, 4];
const MINIMA = [0.5, 1.5, 2.5, 3.5];
const POINTS = 401;
/** Every so many of them are drawn, a regular grid of θ, to show where it goes. */
const GRID = 10;
/** An engine that is not busy answers within a fraction of this: only later is it said that an answer is to come. */
const PATIENCE_MS = 150;

/** Four minima, all alike. */
const loss = (theta: number): number => (1 + Math.cos(2 * Math.PI * theta)) / 2;
/** With its first two derivatives. */
const lossAt = (theta: number): LossPoint => [
  theta,
  loss(theta),
  -Math.PI * Math.sin(2 * Math.PI * theta),
  -2 * Math.PI ** 2 * Math.cos(2 * Math.PI * theta),
];
/** L″ at each of them. */
const CURVATURE = 2 * Math.PI ** 2;

/** The minima are among them. */
const LOSS = Array.from({ length: POINTS }, (_, index) => lossAt(LOW + ((HIGH - LOW) * index) / (POINTS - 1)));

/** What the engine has said, and of which map. */
interface Answer {
  map: PowerChoice;
  points: PowerPoint[];
}

export class Figure5 {
  readonly root: HTMLElement;
  readonly #map: PowerChoice = { center: 1.5, a: 0.7, b: 0.02 };
  readonly #before: Plot;
  readonly #after: Plot;
  readonly #said = html("p", { class: "note", role: "status", id: "figure5-said" }, "The engine is on its way…");
  readonly #latest: Latest<PowerChoice, PowerPoint[]>;
  #answer: Answer | null = null;
  #hasFailed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly app: App) {
    this.#latest = new Latest((map) => app.asking.powerMap(map, LOSS), {
      answered: (map, points) => this.#show({ map, points }),
      failed: (error) => this.#fail(error),
    });
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
  }

  /** When there is an engine; and anew when there is another one, where the one before was lost on the way. */
  begin(): void {
    this.app.store.watch(["engine"], () => {
      if (this.app.store.state.engine && (!this.#answer || this.#hasFailed)) this.#ask();
    });
  }

  #slider(key: keyof PowerChoice, name: string, min: number, max: number, step: number): HTMLElement {
    const input = html("input", { type: "range", id: `figure5-${key}`, min, max, step, value: this.#map[key] });
    const output = html("output", { for: input.id }, number(this.#map[key], 2));
    input.addEventListener("input", () => {
      this.#map[key] = Number(input.value);
      output.textContent = number(this.#map[key], 2);
      if (this.app.store.state.engine) this.#ask();
    });
    return html("div", { class: "lambda from-left" }, html("label", { for: input.id }, name), input, output);
  }

  #ask(): void {
    this.root.setAttribute("aria-busy", "true");
    this.#timer ??= setTimeout(() => this.#wait(), PATIENCE_MS);
    this.#latest.wants({ ...this.#map });
  }

  /** What is drawn is of other settings for longer than one would take for the same moment. */
  #wait(): void {
    this.root.dataset.waiting = "";
    if (this.#answer) this.#said.textContent = "The engine is busy. What is drawn is of the settings before.";
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.root.removeAttribute("aria-busy");
    delete this.root.dataset.waiting;
  }

  #fail(error: unknown): void {
    this.#rest();
    this.#hasFailed = true;
    this.root.dataset.waiting = "";
    this.#said.textContent = `The engine gave no answer: ${sentence(error instanceof Error ? error.message : String(error))} What is drawn, if anything is, is of the settings before.`;
  }

  /** While another answer is to come, this one is drawn too: whoever drags sees it move. */
  #show(answer: Answer): void {
    this.#answer = answer;
    this.#hasFailed = false;
    if (!this.#latest.isWaiting) this.#rest();
    const { map } = answer;
    this.#before.show(plotOf(answer, "theta"));
    this.#after.show(plotOf(answer, "eta"));
    this.root.dataset.of = [map.center, map.a, map.b].join(" ");
    const nearest = nearestTo(map);
    const curvature = answer.points.find(({ theta }) => theta === nearest)?.curvature;
    this.root.dataset.curvature = String(curvature ?? "none");
    if (this.#latest.isWaiting) return;
    const said =
      curvature === undefined
        ? `The map is singular there (b = 0 at θ̂), so that it has none in η, and ${number(CURVATURE)} in θ.`
        : `Its curvature is ${number(CURVATURE)} in θ and ${number(curvature)} in η: ${wordOf(curvature)}.`;
    this.#said.textContent = `The minimum next to θ̂ is the shaded one. ${said} The dots are a regular grid of θ; the line is θ̂.`;
  }

  #figure(axis: Axis): Figure | null {
    const answer = this.#answer;
    if (!answer) return null;
    const { map, points } = answer;
    return {
      name: `dinh-figure-5-${axis}`,
      title: axis === "theta" ? "One loss with four equal minima, over θ" : "The same loss over η",
      caption: `After Dinh et al. 2017, Figure 5: η = (|θ − θ̂|² + b)^a (θ − θ̂) with θ̂ = ${map.center}, a = ${map.a}, b = ${map.b}; the dots are a regular grid of θ, the line is θ̂, and the minimum next to it is shaded.`,
      columns: () => [
        { name: "theta", values: points.map(({ theta }) => theta) },
        { name: "eta", values: points.map(({ eta }) => eta) },
        { name: "loss", values: points.map(({ loss }) => loss) },
        { name: "curvature_in_eta", values: points.map(({ curvature }) => curvature ?? null) },
      ],
      drawing: plotted(plotOf(answer, axis)),
    };
  }
}

const wordOf = (curvature: number): string =>
  curvature < CURVATURE * 0.95 ? "flatter" : curvature > CURVATURE * 1.05 ? "sharper" : "about as sharp";

type Axis = "theta" | "eta";

const nearestTo = ({ center }: PowerChoice): number =>
  MINIMA.reduce((best, minimum) => (Math.abs(minimum - center) < Math.abs(best - center) ? minimum : best));

function plotOf({ map, points }: Answer, axis: Axis): PlotOptions {
  const [name, kind, center] = axis === "theta" ? ["θ", "trained", map.center] : ["η", "bent", 0];
  const places = points.map((point) => point[axis]);
  const losses = points.map(({ loss }) => loss);
  const [low, high] = [places[0] ?? LOW, places.at(-1) ?? HIGH];
  const room = (high - low) * 0.02;
  const nearest = nearestTo(map);
  const near = points.flatMap(({ theta }, index) => (Math.abs(theta - nearest) <= 0.25 ? [index] : []));
  const grid = points.flatMap((_, index) => (index % GRID === 0 ? [index] : []));
  const at = (values: number[], indices: number[]) => indices.map((index) => values[index] ?? Number.NaN);
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
        at(places, near),
        near.map(() => 0),
        at(losses, near),
        kind,
      ),
      svg("line", { class: "here", x1: frame.x(center), x2: frame.x(center), y1: frame.top, y2: frame.bottom }),
      curve(frame, places, losses, kind),
      dots(frame, at(places, grid), at(losses, grid), kind, 2.6),
    ],
  };
}
