/** Petzka's κ, κ_τ and relative flatness of every layer, and ρ of every neuron, as trained and bent. */

import type { PetzkaReport } from "isoflat";
import { html, render } from "lit-html";
import type { App } from "../app";
import { highestRho, isSilent, LAYER_MEASURES, layerBars, rhoPlot } from "../charts/layers";
import { drawPixels } from "../charts/pixels";
import { Plot } from "../charts/plot";
import { html as element } from "../dom";
import { barsFigure, layersFigure, pixelsFigure, rhoFigure, rhoOf } from "../figures/layers";
import { number } from "../format";
import type { PerPoint } from "../store";
import type { Point } from "../worker/protocol";
import { measureMark } from "./measure-note";
import { Neighbours } from "./neighbours";
import { numbers } from "./numbers";
import { place } from "./place";
import { takeAlong } from "./take-along";

const POINTS: Point[] = ["trained", "bent"];
const NAMES: Record<Point, string> = { trained: "● as trained", bent: "◆ bent" };
/** MNIST’s images, whose pixels are what comes into the first layer. */
const IMAGE_SIDE = 28;

export class LayersView {
  readonly #plots: Plot[];
  readonly #rho: Plot;
  readonly #choice = element("select", { id: "rho-layer" });
  readonly #strip = element("div", { class: "chart small", id: "rho-plot" });
  readonly #images = element("div", { class: "pixel-maps", id: "rho-images", hidden: true });
  readonly #said = element("p", { class: "note", id: "rho-note" });
  readonly #numbers = element("div");
  readonly #canvases: Record<Point, HTMLCanvasElement> = { trained: element("canvas"), bent: element("canvas") };

  readonly #content = element("div", { id: "layers" });
  /** Of no network on the stage: it is there whatever that is. */
  readonly #neighbours: Neighbours;

  constructor(private readonly app: App) {
    this.#neighbours = new Neighbours(app);
    const boxes = LAYER_MEASURES.map(() => element("div", { class: "chart small" }));
    this.#plots = boxes.map((box) => new Plot(box));
    this.#rho = new Plot(this.#strip);
    const figures = LAYER_MEASURES.map((measure, index) => {
      const words = element(
        "figcaption",
        {},
        element(
          "span",
          {},
          element("strong", {}, measure.title),
          measureMark(measure.key, measure.title),
          ` ${measure.about}`,
        ),
      );
      takeAlong(words, () => barsFigure(app.store.state, measure));
      return element("figure", {}, words, boxes[index]);
    });
    for (const point of POINTS) {
      const words = element("figcaption", { class: point }, NAMES[point]);
      takeAlong(words, () => pixelsFigure(app.store.state, point, this.#layer, IMAGE_SIDE));
      this.#images.append(element("figure", { "data-of": point }, this.#canvases[point], words));
    }
    const head = element(
      "div",
      { class: "chart-head" },
      element(
        "span",
        { class: "row" },
        element("label", { class: "inline" }, "ρ of the neurons that feed ", this.#choice),
        measureMark("petzka.rho_sum", "ρ"),
      ),
    );
    takeAlong(head, () => rhoFigure(app.store.state, this.#layer));
    render(
      html`<div class="heading"><h3 id="layers-title">Layer by layer, neuron by neuron</h3></div>
        <p class="note">
          Where in the network the curvature sits (Petzka et al.). Rescaling whole layers must leave every bar where it
          is; rescaling single neurons moves bars, but not the ρ of a neuron.
        </p>
        <div class="triple" id="layer-bars">${figures}</div>
        ${head}
        <div class="rho">${this.#images} ${this.#strip}</div>
        ${this.#said} ${this.#numbers}`,
      this.#content,
    );
    render(
      html`<div class="side">
          <h2 id="layers-tab-title">Layers and neurons</h2>
          <p class="story">
            Petzka’s measures are of one layer, or of one neuron: curvature times the size of the weights.
          </p>
        </div>
        <div class="display">${this.#content}</div>
        <div class="cards">${this.#neighbours.root}</div>`,
      place("layers"),
    );
    this.#choice.addEventListener("change", () => this.#drawRho());
    app.store.watch(["model"], () => this.#fillChoice());
    app.store.watch(["layers", "model"], () => this.redraw());
  }

  /** Again, in the colours of the theme. */
  redraw(): void {
    const { layers } = this.app.store.state;
    this.#content.hidden = !layers.trained;
    LAYER_MEASURES.forEach((measure, index) => {
      this.#plots[index]?.show(layers.trained ? layerBars(layers, measure) : undefined);
    });
    this.#drawRho();
    this.#numbers.replaceChildren(layers.trained ? this.#table(layers) : "");
    this.#neighbours.redraw();
  }

  #fillChoice(): void {
    const names = (this.app.store.state.model?.layers ?? []).map((name, index) => `layer ${index + 1} · ${name}`);
    const there = [...this.#choice.options].map(({ text }) => text);
    if (String(names) === String(there)) return;
    this.#choice.replaceChildren(...names.map((name, index) => element("option", { value: index }, name)));
  }

  get #layer(): number {
    return Number(this.#choice.value);
  }

  #drawRho(): void {
    const layer = this.#layer;
    const rho = rhoOf(this.app.store.state, layer);
    const { trained } = rho;
    this.#rho.show(rhoPlot(rho));
    if (!trained) return;
    const high = highestRho(rho);
    const image = layer === 0 && this.app.store.state.model?.data === "MNIST" && trained.length === IMAGE_SIDE ** 2;
    this.#images.hidden = !image;
    if (image) {
      for (const point of POINTS) {
        const values = rho[point];
        const canvas = this.#canvases[point];
        canvas.parentElement?.toggleAttribute("hidden", !values);
        if (values) drawPixels(canvas, values, IMAGE_SIDE, high, `ρ of each pixel, ${point}: 0 to ${number(high)}`);
      }
    }
    const silent = trained.filter((value) => isSilent(value, high)).length;
    this.#said.textContent =
      `ρ is the curvature along the weights that leave a neuron, at their own length: how much the loss feels if it fires a little more. ` +
      `${trained.length} ${layer === 0 ? "inputs" : "neurons"}${silent > 0 ? `, ${silent} of them without any effect` : ""}; largest ${number(high)}.`;
  }

  #table(layers: PerPoint<PetzkaReport>): HTMLElement {
    const rows = POINTS.flatMap((point) => {
      const report = layers[point];
      return (report?.kappa ?? []).map(({ value, residual, converged }, layer) => {
        const rho = [...(report?.rho[layer] ?? [])];
        return [
          `layer ${layer + 1}, ${NAMES[point]}`,
          `${number(value, 5)} ± ${number(residual, 1)}${converged ? "" : ", not converged"}`,
          number(report?.kappaTrace[layer] ?? Number.NaN, 5),
          number(report?.relativeFlatness[layer] ?? Number.NaN, 5),
          number(Math.max(...rho), 5),
          number(
            rho.reduce((sum, value) => sum + value, 0),
            5,
          ),
        ];
      });
    });
    return numbers(
      "Numbers, layer by layer",
      ["", "κ ± residual", "κ_τ", "relative flatness", "largest ρ", "sum of ρ"],
      rows,
      () => layersFigure(this.app.store.state),
    );
  }
}
