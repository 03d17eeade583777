/** Gradient descent on networks of two or three weights: the loss as a map, the paths over it, and the losses step by step. */

import { html, nothing, type TemplateResult } from "lit-html";
import { ramp } from "../charts/palette";
import { drawPlane, PLANE, type Plane, planeDrawing } from "../charts/plane";
import { linear } from "../charts/scales";
import { legendKey, type Mark, XyChart } from "../charts/xy";
import { columnsOf } from "../figures/columns";
import type { Figure } from "../figures/figure";
import { seriesKey, xyFigure } from "../figures/xy";
import { number } from "../format";
import { PLACES, type Place } from "../spaces/methods";
import { type Knobs, STEPS, TOYS, type Toy, type ToyId } from "../spaces/toy";
import { withOrdinaryDigits } from "../subscripts";
import { renderPart } from "./part";
import { within } from "./place";
import { subscripted } from "./subscripted";
import { takenAlong } from "./take-along";

const MARKS: Record<Place, Mark> = { weights: "circle", g_space: "diamond", weight_fixing: "square" };
const WAYS: Record<Place, string> = {
  weights: "on the weights",
  g_space: "in the G-space",
  weight_fixing: "with a weight fixed",
};
/** The longest arrow, in weights. */
const LONGEST = 1.2;
/** Of losses that have no highest value. */
const CEILING = 4;

/** Sliders are logarithmic between their ends, but for the fixed weight. */
const KNOBS: Record<keyof Knobs, { name: string; log: boolean; range: [number, number] }> = {
  rate: { name: "learning rate", log: true, range: [0.01, 1] },
  along: { name: "start, along its line", log: true, range: [0.4, 2.5] },
  fixed: { name: "fixed w₁", log: false, range: [0, 10] },
};

const ARROWS = "arrows: minus the gradient, along the line on which all points are the start’s function";

/** That line, and arrows as long as gradients there are, the longest as long as may be. */
function alongTheLine({ sameFunction }: Toy): Pick<Plane, "line" | "arrows"> {
  if (!sameFunction) return { line: [], arrows: [] };
  const { line, downhill } = sameFunction;
  const scale = LONGEST / Math.max(...downhill.map(({ minusGradient }) => Math.hypot(...minusGradient)));
  const arrows = downhill.map(({ at, minusGradient: [dx, dy] }) => ({
    from: at,
    to: [at[0] + scale * dx, at[1] + scale * dy] as [number, number],
  }));
  return { line, arrows };
}

export class ToysView {
  readonly #find: ReturnType<typeof within>;
  readonly #chart: XyChart;
  #toy: ToyId = "product";
  #knobs: Knobs = { rate: 0.2, along: 1, fixed: 1 };

  constructor(private readonly section: HTMLElement) {
    this.#find = within(section);
    this.#render();
    this.#chart = new XyChart(this.#find("div", "toy-losses"));
    this.#choose(this.#toy);
  }

  #render(): void {
    const { about, formula }: Toy = TOYS[this.#toy];
    renderPart(this.section, {
      title: "Why a rescaling changes the way",
      note: "The smallest networks that have the symmetry, with one input of 1 and positive weights.",
      content: html`
        <fieldset class="field">
          <legend class="visually-hidden">Network</legend>
          <div class="segments experiments">
            ${(Object.keys(TOYS) as ToyId[]).map(
              (id) =>
                html`<label
                  ><input type="radio" name="toy" value=${id} .checked=${id === this.#toy} @change=${() => this.#choose(id)} /><span
                    >${TOYS[id].title}</span
                  ></label
                >`,
            )}
          </div>
        </fieldset>
        <div class="space-columns">
          <div class="controls">
            <p class="formula">${subscripted(formula)}</p>
            <p class="note">${subscripted(about)}</p>
            ${(Object.keys(KNOBS) as (keyof Knobs)[]).map((knob) => this.#row(knob))}
          </div>
          <div class="space-charts">
            <div class="space-pair">
              <figure>
                <figcaption class="chart-head" ${takenAlong(() => this.#mapFigure())}><span>The loss, and the ways down</span></figcaption>
                <div id="toy-map"></div>
              </figure>
              <figure>
                <figcaption class="chart-head" ${takenAlong(() => this.#lossesFigure())}><span>Loss after each step</span></figcaption>
                <div id="toy-losses" class="chart"></div>
              </figure>
            </div>
            <ul class="legend">
              ${(TOYS[this.#toy] as Toy)
                .descents(this.#knobs)
                .map(
                  ({ place }) =>
                    html`<li>${legendKey({ kind: `space-${place}`, mark: MARKS[place] })}${WAYS[place]}</li>`,
                )}
              ${(TOYS[this.#toy] as Toy).sameFunction ? html`<li class="text">${ARROWS}</li>` : nothing}
            </ul>
          </div>
        </div>`,
    });
  }

  #row(knob: keyof Knobs): TemplateResult {
    const id = `toy-${knob}`;
    const { knobs }: Toy = TOYS[this.#toy];
    const text = this.#said(knob);
    return html`<div class="knob" ?hidden=${knob !== "rate" && !knobs.includes(knob)}>
      <label for=${id}>${KNOBS[knob].name}</label>
      <input type="range" id=${id} min="0" max="1" step="0.005" aria-valuetext=${text} @input=${() => this.#moved(knob)} />
      <output for=${id}>${text}</output>
    </div>`;
  }

  #said(knob: keyof Knobs): string {
    const text = number(this.#knobs[knob], 2);
    return knob === "along" ? `× ${text}` : text;
  }

  redraw(): void {
    const toy: Toy = TOYS[this.#toy];
    const descents = toy.descents(this.#knobs);
    const sine = this.#toy !== "dinh";
    drawPlane(this.#find("div", "toy-map"), this.#plane());
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
      ...alongTheLine(toy),
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
          ["series", "step", first, second, "loss"].map((name) => withOrdinaryDigits(name)),
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

  #moved(knob: keyof Knobs): void {
    const { log } = KNOBS[knob];
    const [low, high] = this.#range(knob);
    const share = Number(this.#find("input", `toy-${knob}`).value);
    const value = log ? low * (high / low) ** share : low + share * (high - low);
    this.#knobs = { ...this.#knobs, [knob]: Number(value.toPrecision(3)) };
    this.#showKnobs();
    this.redraw();
  }

  #choose(id: ToyId): void {
    this.#toy = id;
    const [low, high] = this.#range("rate");
    this.#knobs = { ...this.#knobs, rate: Number(Math.min(Math.max(this.#knobs.rate, low), high).toPrecision(3)) };
    this.#showKnobs();
    this.redraw();
  }

  #range(knob: keyof Knobs): readonly [number, number] {
    return knob === "rate" ? TOYS[this.#toy].rates : KNOBS[knob].range;
  }

  #showKnobs(): void {
    this.#render();
    for (const knob of Object.keys(KNOBS) as (keyof Knobs)[]) {
      const slider = this.#find("input", `toy-${knob}`);
      const [low, high] = this.#range(knob);
      const value = this.#knobs[knob];
      const share = KNOBS[knob].log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
      // One that is being moved stays under the finger.
      if (Math.abs(Number(slider.value) - share) > 0.004) slider.value = String(share);
    }
  }
}
