/** Gradient descent on networks of two or three weights: the loss as a map, the paths over it, and the losses step by step. */

import { ramp } from "../charts/palette";
import { drawPlane, PLANE, type Plane, planeDrawing } from "../charts/plane";
import { linear } from "../charts/scales";
import { legendKey, type Mark, XyChart } from "../charts/xy";
import { html } from "../dom";
import { columnsOf } from "../figures/columns";
import type { Figure } from "../figures/figure";
import { seriesKey, xyFigure } from "../figures/xy";
import { number } from "../format";
import { PLACES, type Place } from "../spaces/methods";
import { type Knobs, STEPS, TOYS, type Toy, type ToyId } from "../spaces/toy";
import { part } from "./part";
import { takeAlong } from "./take-along";

const MARKS: Record<Place, Mark> = { weights: "circle", g_space: "diamond", weight_fixing: "square" };
/** Of losses that have no highest value. */
const CEILING = 4;

/** Sliders are logarithmic between their ends, but for the fixed weight. */
const KNOBS: Record<keyof Knobs, { name: string; log: boolean; range: [number, number] }> = {
  rate: { name: "learning rate", log: true, range: [0.01, 1] },
  along: { name: "start, along its line", log: true, range: [0.4, 2.5] },
  fixed: { name: "fixed w₁", log: false, range: [0, 10] },
};

export class ToysView {
  readonly element: HTMLElement;
  readonly #map = html("div", { id: "toy-map" });
  readonly #losses = html("div", { id: "toy-losses", class: "chart" });
  readonly #about = html("p", { class: "note" });
  readonly #formula = html("p", { class: "formula" });
  readonly #chart = new XyChart(this.#losses);
  readonly #legend = html("ul", { class: "legend" });
  readonly #sliders = new Map<keyof Knobs, { row: HTMLElement; slider: HTMLInputElement; output: HTMLOutputElement }>();
  #toy: ToyId = "product";
  #knobs: Knobs = { rate: 0.2, along: 1, fixed: 1 };

  constructor() {
    const labels = (Object.keys(TOYS) as ToyId[]).map((id) => {
      const input = html("input", { type: "radio", name: "toy", value: id, checked: id === this.#toy });
      input.addEventListener("change", () => this.#choose(id));
      return html("label", {}, input, html("span", {}, TOYS[id].title));
    });
    const rows = (Object.keys(KNOBS) as (keyof Knobs)[]).map((knob) => this.#row(knob));
    this.element = part(
      "toys",
      "Why a rescaling changes the way",
      [],
      "The smallest networks that have the symmetry, with one input of 1 and positive weights.",
      html(
        "fieldset",
        { class: "field" },
        html("legend", { class: "visually-hidden" }, "Network"),
        html("div", { class: "segments experiments" }, ...labels),
      ),
      html(
        "div",
        { class: "space-columns" },
        html("div", { class: "controls" }, this.#formula, this.#about, ...rows),
        html(
          "div",
          { class: "space-charts" },
          html(
            "div",
            { class: "space-pair" },
            html(
              "figure",
              {},
              words("The loss, and the ways down", () => this.#mapFigure()),
              this.#map,
            ),
            html(
              "figure",
              {},
              words("Loss after each step", () => this.#lossesFigure()),
              this.#losses,
            ),
          ),
          this.#legend,
        ),
      ),
    );
    this.#choose("product");
  }

  redraw(): void {
    const toy: Toy = TOYS[this.#toy];
    const descents = toy.descents(this.#knobs);
    const sine = this.#toy !== "dinh";
    drawPlane(this.#map, this.#plane());
    this.#chart.show(
      descents.map(({ place, steps }) => ({
        name: PLACES[place],
        kind: `space-${place}`,
        mark: MARKS[place],
        points: steps.map(({ loss }, step) => ({
          x: step,
          y: loss,
          title: `${PLACES[place]}, step ${step}: ${number(loss)}`,
        })),
      })),
      {
        x: linear(0, STEPS * 1.02),
        y: sine ? linear(-1.05, 1.05) : linear(-0.1, CEILING),
        xLabel: "step",
        yLabel: "loss",
        label: `Loss after each step; after the last: ${descents.map(({ place, steps }) => `${PLACES[place]} ${number(steps.at(-1)?.loss ?? Number.NaN)}`).join(", ")}`,
      },
    );
    this.#legend.replaceChildren(
      ...descents.map(({ place }) =>
        html(
          "li",
          {},
          legendKey({ kind: `space-${place}`, mark: MARKS[place] }),
          place === "weights" ? "on the weights" : place === "g_space" ? "in the G-space" : "with a weight fixed",
        ),
      ),
    );
  }

  #plane(): Plane {
    const toy: Toy = TOYS[this.#toy];
    const descents = toy.descents(this.#knobs);
    const sine = this.#toy !== "dinh";
    return {
      axes: toy.axes,
      range: toy.range,
      of: (x, y) => toy.loss(x, y, this.#knobs),
      ceiling: sine ? 1 : CEILING,
      paths: descents.flatMap(({ place, steps }) => {
        const points = steps.flatMap(({ at }) => (at ? [at] : []));
        return points.length > 0 ? [{ kind: `space-${place}`, mark: MARKS[place], points }] : [];
      }),
      label: `${toy.formula}: level bands of the loss over ${toy.axes.join(" and ")}, with the paths of ${STEPS} steps`,
    };
  }

  #caption(): string {
    const { formula, knobs }: Toy = TOYS[this.#toy];
    const said = knobs.map((knob) => `${KNOBS[knob].name} ${this.#knobs[knob]}`);
    return `${formula}; learning rate ${this.#knobs.rate}${said.map((text) => `; ${text}`).join("")}; ${STEPS} steps of gradient descent.`;
  }

  #keys() {
    const descents = (TOYS[this.#toy] as Toy).descents(this.#knobs);
    return descents.map(({ place }) => seriesKey(PLACES[place], { kind: `space-${place}`, mark: MARKS[place] }));
  }

  #mapFigure(): Figure {
    const toy: Toy = TOYS[this.#toy];
    const [first, second] = toy.axes;
    return {
      name: `toy-${this.#toy}-map`,
      title: "The loss of a small network, and the ways down",
      caption: this.#caption(),
      columns: () =>
        columnsOf(
          ["series", "step", first, second, "loss"].map((name) =>
            name.replace(/[₀-₉]/gu, (digit) => String("₀₁₂₃₄₅₆₇₈₉".indexOf(digit))),
          ),
          toy
            .descents(this.#knobs)
            .flatMap(({ place, steps }) =>
              steps.map(({ at, loss }, step) => [PLACES[place], step, at?.[0], at?.[1], loss]),
            ),
        ),
      drawing: {
        ...PLANE,
        draw: () => planeDrawing(this.#plane(), "taken-toy", ramp("light")),
        keys: this.#keys(),
      },
    };
  }

  #lossesFigure(): Figure | null {
    return xyFigure(this.#chart.shown, {
      name: `toy-${this.#toy}-losses`,
      title: "Loss after each step of gradient descent",
      caption: this.#caption(),
      x: "step",
      y: "loss",
      keys: this.#keys(),
    });
  }

  #row(knob: keyof Knobs): HTMLElement {
    const id = `toy-${knob}`;
    const slider = html("input", { type: "range", id, min: 0, max: 1, step: 0.005 });
    const output = html("output", { for: id });
    const row = html("div", { class: "knob" }, html("label", { for: id }, KNOBS[knob].name), slider, output);
    this.#sliders.set(knob, { row, slider, output });
    slider.addEventListener("input", () => {
      const { log } = KNOBS[knob];
      const [low, high] = this.#range(knob);
      const share = Number(slider.value);
      const value = log ? low * (high / low) ** share : low + share * (high - low);
      this.#knobs = { ...this.#knobs, [knob]: Number(value.toPrecision(3)) };
      this.#showKnobs();
      this.redraw();
    });
    return row;
  }

  #choose(id: ToyId): void {
    this.#toy = id;
    const { about, formula, knobs }: Toy = TOYS[id];
    const [low, high] = this.#range("rate");
    this.#knobs = { ...this.#knobs, rate: Number(Math.min(Math.max(this.#knobs.rate, low), high).toPrecision(3)) };
    this.#about.replaceChildren(about);
    this.#formula.replaceChildren(formula);
    for (const [knob, { row }] of this.#sliders) row.hidden = knob !== "rate" && !knobs.includes(knob);
    this.#showKnobs();
    this.redraw();
  }

  #range(knob: keyof Knobs): readonly [number, number] {
    return knob === "rate" ? TOYS[this.#toy].rates : KNOBS[knob].range;
  }

  #showKnobs(): void {
    for (const [knob, { slider, output }] of this.#sliders) {
      const [low, high] = this.#range(knob);
      const value = this.#knobs[knob];
      const share = KNOBS[knob].log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
      if (Math.abs(Number(slider.value) - share) > 0.004) slider.value = String(share);
      const text = knob === "along" ? `× ${number(value, 2)}` : number(value, 2);
      slider.setAttribute("aria-valuetext", text);
      output.textContent = text;
    }
  }
}

function words(text: string, describe: () => Figure | null): HTMLElement {
  const caption = html("figcaption", { class: "chart-head" }, html("span", {}, text));
  takeAlong(caption, describe);
  return caption;
}
