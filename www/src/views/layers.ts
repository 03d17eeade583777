/** Petzka's κ, κ_τ and relative flatness of every layer, and ρ of every neuron, as trained and bent. */

import type { PetzkaReport } from "isoflat";
import type { App } from "../app";
import { drawPixels } from "../charts/pixels";
import { bars, dots, Plot } from "../charts/plot";
import { linear, log } from "../charts/scales";
import { find, html } from "../dom";
import { number } from "../format";
import type { PerPoint } from "../store";
import type { Point } from "../worker/protocol";
import { numbers } from "./numbers";

const POINTS: Point[] = ["trained", "bent"];
const NAMES: Record<Point, string> = { trained: "● as trained", bent: "◆ bent" };
/** MNIST’s images, whose pixels are what comes into the first layer. */
const IMAGE_SIDE = 28;
/** Neurons of ρ = 0, which never fire, lie so far below the largest. */
const FLOOR = 1e-8;
/** More neurons than this are drawn smaller. */
const CROWD = 150;

type Values = (report: PetzkaReport) => number[];
const CHARTS: { title: string; about: string; values: Values }[] = [
  {
    title: "κ",
    about: "‖W‖² times the layer’s largest curvature",
    values: ({ kappa }) => kappa.map(({ value }) => value),
  },
  { title: "κ_τ", about: "‖W‖² times its total curvature", values: ({ kappaTrace }) => kappaTrace },
  {
    title: "relative flatness",
    about: "the same with every pair of rows weighed by their product",
    values: ({ relativeFlatness }) => relativeFlatness,
  },
];

export class LayersView {
  readonly #plots: Plot[];
  readonly #rho: Plot;
  readonly #choice = html("select", { id: "rho-layer" });
  readonly #strip = html("div", { class: "chart small", id: "rho-plot" });
  readonly #images = html("div", { class: "pixel-maps", id: "rho-images", hidden: true });
  readonly #said = html("p", { class: "note", id: "rho-note" });
  readonly #numbers = html("div");
  readonly #canvases: Record<Point, HTMLCanvasElement> = { trained: html("canvas"), bent: html("canvas") };

  constructor(private readonly app: App) {
    const boxes = CHARTS.map(() => html("div", { class: "chart small" }));
    this.#plots = boxes.map((box) => new Plot(box));
    this.#rho = new Plot(this.#strip);
    const figures = CHARTS.map(({ title, about }, index) =>
      html("figure", {}, html("figcaption", {}, html("strong", {}, title), ` ${about}`), boxes[index]),
    );
    for (const point of POINTS) {
      this.#images.append(
        html("figure", { "data-of": point }, this.#canvases[point], html("figcaption", { class: point }, NAMES[point])),
      );
    }
    find("div", "layers").append(
      html("div", { class: "heading" }, html("h3", { id: "layers-title" }, "Layer by layer, neuron by neuron")),
      html(
        "p",
        { class: "note" },
        "Where in the network the curvature sits (Petzka et al.). Rescaling whole layers must leave every bar where it is; rescaling single neurons moves bars, but not the ρ of a neuron.",
      ),
      html("div", { class: "triple", id: "layer-bars" }, ...figures),
      html(
        "div",
        { class: "row wrap" },
        html("label", { class: "inline" }, "ρ of the neurons that feed ", this.#choice),
      ),
      html("div", { class: "rho" }, this.#images, this.#strip),
      this.#said,
      this.#numbers,
    );
    this.#choice.addEventListener("change", () => this.#drawRho());
    app.store.watch(["model"], () => this.#fillChoice());
    app.store.watch(["layers", "model"], () => this.redraw());
  }

  /** Again, in the colours of the theme. */
  redraw(): void {
    const { layers } = this.app.store.state;
    find("div", "layers").hidden = !layers.trained;
    CHARTS.forEach(({ title, values }, index) => {
      this.#plots[index]?.show(layers.trained ? barChart(layers, title, values) : undefined);
    });
    this.#drawRho();
    this.#numbers.replaceChildren(layers.trained ? table(layers) : "");
  }

  #fillChoice(): void {
    const names = this.app.store.state.model?.layers ?? [];
    this.#choice.replaceChildren(
      ...names.map((name, index) => html("option", { value: index }, `layer ${index + 1} · ${name}`)),
    );
  }

  #drawRho(): void {
    const { layers, model } = this.app.store.state;
    const layer = Number(this.#choice.value);
    const of = (point: Point) => layers[point]?.rho[layer];
    const trained = of("trained");
    if (!trained) {
      this.#rho.show(undefined);
      return;
    }
    const bent = of("bent");
    const high = Math.max(...trained, ...(bent ?? []));
    const image = layer === 0 && model?.data === "MNIST" && trained.length === IMAGE_SIDE ** 2;
    this.#images.hidden = !image;
    if (image) {
      for (const point of POINTS) {
        const values = of(point);
        const canvas = this.#canvases[point];
        canvas.parentElement?.toggleAttribute("hidden", !values);
        if (values) drawPixels(canvas, values, IMAGE_SIDE, high, `ρ of each pixel, ${point}: 0 to ${number(high)}`);
      }
    }
    const low = high * FLOOR;
    const crowded = trained.length > CROWD;
    const sorted = (values: Float64Array) => [...values].sort((a, b) => b - a).map((value) => Math.max(value, low));
    const ranks = (values: Float64Array) => Array.from(values, (_, index) => index + 1);
    this.#rho.show({
      x: linear(0, trained.length + 1),
      y: log(low > 0 ? low : 1, high > 0 ? high * 2 : 10, 5),
      xLabel: "neurons, largest ρ first",
      yLabel: "ρ",
      label: `ρ of ${trained.length} neurons, from ${number(high)} down`,
      left: 58,
      marks: (frame) => [
        dots(frame, ranks(trained), sorted(trained), "trained hollow", crowded ? 2.8 : 3.4),
        bent ? dots(frame, ranks(bent), sorted(bent), crowded ? "bent bare" : "bent", crowded ? 1.2 : 1.9) : null,
      ],
    });
    const silent = trained.filter((value) => value <= low).length;
    this.#said.textContent =
      `ρ is the curvature along the weights that leave a neuron, at their own length: how much the loss feels if it fires a little more. ` +
      `${trained.length} ${layer === 0 ? "inputs" : "neurons"}${silent > 0 ? `, ${silent} of them without any effect` : ""}; largest ${number(high)}.`;
  }
}

function barChart(layers: PerPoint<PetzkaReport>, title: string, values: Values) {
  const there = POINTS.flatMap((point) => {
    const report = layers[point];
    return report ? [{ point, values: values(report) }] : [];
  });
  const high = Math.max(...there.flatMap(({ values }) => values), 1e-300);
  const low = Math.min(0, ...there.flatMap(({ values }) => values));
  const count = there[0]?.values.length ?? 0;
  const x = linear(0.4, count + 0.6);
  return {
    x: { ...x, ticks: Array.from({ length: count }, (_, index) => ({ value: index + 1, label: String(index + 1) })) },
    y: linear(low, high * 1.15, 4),
    xLabel: "layer",
    yLabel: "",
    label: `${title}: ${there.map(({ point, values }) => `${point} ${values.map((value) => number(value)).join(", ")}`).join("; ")}`,
    left: 56,
    marks: (frame: Parameters<typeof bars>[0]) =>
      there.map(({ point, values }, index) => bars(frame, values, point, index, there.length, number)),
  };
}

function table(layers: PerPoint<PetzkaReport>): HTMLElement {
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
  );
}
