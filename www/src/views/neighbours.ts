/** Petzka et al., appendix D.2, as a card: two samples are moved closer, and the bound of the feature robustness parts from it. */

import type { App } from "../app";
import { Plot } from "../charts/plot";
import { judged } from "../constructions";
import { html } from "../dom";
import { number, round, sentence } from "../format";
import { DELTA, EPSILONS, indexOf, neighboursFigure, neighboursPlot, ratioOf, SLIDER } from "../gallery/neighbours";
import type { NeighboursFound } from "../worker/protocol";
import { facts } from "./card";
import { takeAlong } from "./take-along";

export class Neighbours {
  readonly root: HTMLElement;
  readonly #slider = html("input", {
    type: "range",
    id: "neighbours-epsilon",
    min: SLIDER.low,
    max: SLIDER.high,
    step: SLIDER.step,
    value: SLIDER.first,
  });
  readonly #output = html("output", { for: this.#slider.id });
  readonly #body = html("div", { class: "finding", role: "status" });
  readonly #figure = html("figure", { hidden: true });
  readonly #plot: Plot;
  #found: NeighboursFound[] | null = null;

  constructor(private readonly app: App) {
    const head = html("figcaption", { class: "chart-head" }, html("span", {}, "by the distance of the samples"));
    const box = html("div", { class: "chart small", id: "neighbours-plot" });
    this.#plot = new Plot(box);
    takeAlong(head, () => {
      const at = this.#at;
      return this.#found && at ? neighboursFigure(this.#found, at) : null;
    });
    this.#figure.append(
      head,
      box,
      html(
        "ul",
        { class: "legend" },
        html("li", {}, html("span", { class: "key trained" }), "● feature robustness"),
        html("li", {}, html("span", { class: "key bent" }), "◆ its bound"),
      ),
    );
    this.root = html(
      "article",
      { class: "card wide", id: "neighbours", "aria-labelledby": "neighbours-title" },
      html("h3", { id: "neighbours-title" }, "A bound that says nothing"),
      html(
        "p",
        { class: "about-card" },
        "Two samples next to each other, (1, 0) and (1, ε). A matrix A moves the one along itself and the other across, and the loss rises by as much whatever ε is: the feature robustness. Its bound (δ²/2) ‖A‖² κ does not know that, for so short a way across takes a matrix as large as √2/ε (Petzka et al., appendix D.2).",
      ),
      html(
        "div",
        { class: "figure5-sliders" },
        html(
          "div",
          { class: "lambda from-left" },
          html("label", { for: this.#slider.id }, "ε, between the samples"),
          this.#slider,
          this.#output,
        ),
      ),
      html("div", { class: "figure5-pair" }, this.#figure, this.#body),
    );
    this.#slider.addEventListener("input", () => this.redraw());
    app.store.watch(["engine"], () => void this.#compute());
    this.redraw();
  }

  get #at(): NeighboursFound | undefined {
    return this.#found?.[indexOf(Number(this.#slider.value))];
  }

  /** All at once, a moment's work: the slider only chooses. */
  async #compute(): Promise<void> {
    if (this.#found || !this.app.store.state.engine) return;
    try {
      this.#found = await this.app.asking.neighbours(EPSILONS, DELTA);
      this.redraw();
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      this.#body.replaceChildren(html("p", { class: "note refusal" }, sentence(`It could not be computed: ${said}`)));
    }
  }

  redraw(): void {
    const epsilon = round(EPSILONS[indexOf(Number(this.#slider.value))] ?? Number.NaN, 2);
    this.#output.textContent = epsilon;
    this.#slider.setAttribute("aria-valuetext", epsilon);
    const [found, at] = [this.#found, this.#at];
    this.#figure.hidden = !found;
    if (!found || !at) return;
    const least = Math.SQRT2 / at.epsilon;
    const ratio = ratioOf(at);
    this.root.dataset.epsilon = String(at.epsilon);
    this.root.dataset.ratio = String(ratio);
    this.#plot.show(neighboursPlot(found, at));
    this.#body.replaceChildren(
      facts([
        ["the layer’s weights, δ", `(1, 1), ${DELTA}`],
        ["A takes the samples to", "(1, 0) and (0, 1)"],
        [
          "‖A‖, at least √2/ε",
          `${number(at.matrixNorm, 5)} ≥ ${number(least, 5)} ${judged(at.matrixNorm >= least, true, "less")}`,
        ],
        ["κ of the layer", number(at.kappa)],
        ["feature robustness", `${number(at.value)}${at.trusted ? "" : ", within rounding"}`],
        ["its bound, (δ²/2) ‖A‖² κ", number(at.bound)],
        ["the bound is so many times as large", number(ratio)],
      ]),
      html(
        "p",
        { class: "note" },
        "At a minimum, in f64 on the CPU, by the engine. The bound is of samples that are moved together; of samples that go ways of their own it says the less, the closer they are.",
      ),
    );
  }
}
