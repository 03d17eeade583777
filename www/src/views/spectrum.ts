/** An operator's spectrum at both points: its ends with their residuals, and its density. */

import type { EigenResult, OperatorDescription, SpectralDensity, WholeOperatorName } from "isoflat";
import type { App } from "../app";
import { band, curve, dots, errorBars, Plot, type PlotOptions } from "../charts/plot";
import { linear, log, symlog } from "../charts/scales";
import { find, html } from "../dom";
import { disable } from "../focus";
import { integer, number } from "../format";
import type { PerPoint } from "../store";
import type { Point, SpectrumChoice } from "../worker/protocol";
import { numbers } from "./numbers";

const POINTS: Point[] = ["trained", "bent"];
const NAMES: Record<Point, string> = { trained: "● as trained", bent: "◆ bent" };

/** What an operator is relative to. */
const GROUPS: [label: string, metric: OperatorDescription["metric"]][] = [
  ["In the weights as they are", null],
  ["Relative to each layer", "layerwise"],
  ["Relative to each weight", "nodewise"],
];

/** Probes and steps of the density. */
const QUALITIES: [value: string, label: string][] = [
  ["4 60", "quick: 4 probes × 60 steps"],
  ["10 100", "fine: 10 probes × 100 steps"],
];

export class SpectrumView {
  readonly #operator = html("select", { id: "operator" });
  readonly #part = html("select", { id: "operator-part" });
  readonly #quality = html(
    "select",
    { id: "density-quality" },
    ...QUALITIES.map(([value, label]) => html("option", { value }, label)),
  );
  readonly #axis = html("input", { type: "checkbox", id: "own-axes" });
  readonly #button = html("button", { type: "button", id: "spectrum-button" }, "Compute the spectrum");
  readonly #ends = html("div", { class: "chart", id: "spectrum-ends", hidden: true });
  readonly #said = html("div", { id: "spectrum-said" });
  readonly #tables = html("div");
  readonly #endsPlot = new Plot(this.#ends);
  readonly #figures: Record<Point, HTMLElement>;
  readonly #plots: Record<Point, Plot>;

  constructor(private readonly app: App) {
    const boxes = { trained: html("div", { class: "chart" }), bent: html("div", { class: "chart" }) };
    this.#plots = { trained: new Plot(boxes.trained), bent: new Plot(boxes.bent) };
    const figure = (point: Point) =>
      html(
        "figure",
        { "data-of": point, hidden: true },
        html(
          "figcaption",
          {},
          html("span", { class: `point ${point}` }, NAMES[point]),
          html("span", { class: "range" }),
        ),
        boxes[point],
      );
    this.#figures = { trained: figure("trained"), bent: figure("bent") };
    const field = (label: string, select: HTMLElement) => html("label", {}, label, select);
    find("div", "spectrum").append(
      html("div", { class: "heading" }, html("h3", { id: "spectrum-title" }, "The spectrum"), this.#button),
      html(
        "p",
        { class: "note" },
        "The eigenvalues of the curvature: in how many directions, and how strongly, the loss bends. A few are large, nearly all are near 0, and some may be negative. An operator that respects the symmetries has the same spectrum before and after the bend.",
      ),
      html(
        "div",
        { class: "fields" },
        field("Operator", this.#operator),
        field("On", this.#part),
        field("Density", this.#quality),
      ),
      html("p", { id: "spectrum-estimate", class: "note estimate" }),
      this.#ends,
      this.#said,
      html("div", { class: "densities" }, this.#figures.trained, this.#figures.bent),
      html(
        "label",
        { class: "check", id: "own-axes-field", hidden: true },
        this.#axis,
        " each density on its own axis",
      ),
      this.#tables,
    );
    for (const select of [this.#operator, this.#part, this.#quality]) {
      select.addEventListener("change", () => app.setSpectrum(this.#choice()));
    }
    this.#axis.addEventListener("change", () => this.#drawDensities());
    this.#button.addEventListener("click", () => void app.computeSpectrum());
    app.store.watch(["operators"], () => this.#fillOperators());
    app.store.watch(["model"], () => this.#fillParts());
    app.store.watch(["ready", "task"], () => {
      const { ready, task } = app.store.state;
      disable(this.#button, !ready || ["training", "starting", "spectrum"].includes(task));
    });
    app.store.watch(["spectra"], () => this.#drawEnds());
    app.store.watch(["densities"], () => this.#drawDensities());
    app.store.watch(["spectra", "densities"], () => this.#showNumbers());
  }

  #fillOperators(): void {
    const { operators } = this.app.store.state;
    this.#operator.replaceChildren(
      ...GROUPS.map(([label, metric]) => {
        const listed = operators.filter((operator) => operator.metric === metric);
        return html("optgroup", { label }, ...listed.map(({ name, title }) => html("option", { value: name }, title)));
      }),
    );
    if (operators.length > 0) this.#operator.value = this.app.store.state.spectrumChoice.operator;
  }

  #choice(): SpectrumChoice {
    const [probes = 4, steps = 60] = this.#quality.value.split(" ").map(Number);
    return {
      operator: (this.#operator.value || this.app.store.state.spectrumChoice.operator) as WholeOperatorName,
      part: this.#part.value as SpectrumChoice["part"],
      probes,
      steps,
    };
  }

  #fillParts(): void {
    const names = this.app.store.state.model?.layers ?? [];
    const before = this.#part.value;
    this.#part.replaceChildren(
      html("option", { value: "all" }, "all parameters"),
      html("option", { value: "weights" }, "all weights, no biases"),
      ...names.map((name, index) => html("option", { value: `layer_${index + 1}` }, `W${index + 1} · ${name}`)),
    );
    this.#part.value = before;
    if (this.#part.value === "") this.#part.value = "all";
    const choice = this.#choice();
    if (JSON.stringify(choice) !== JSON.stringify(this.app.store.state.spectrumChoice)) this.app.setSpectrum(choice);
  }

  #drawEnds(): void {
    const { spectra } = this.app.store.state;
    const there = present(spectra);
    this.#ends.hidden = there.length === 0;
    this.#endsPlot.show(there.length > 0 ? endsChart(there) : undefined);
    this.#said.replaceChildren(
      ...there.map(({ point, value }) =>
        html(
          "p",
          { class: "note", "data-of": point },
          html("span", { class: point }, NAMES[point]),
          `: ${trust(value)}`,
        ),
      ),
    );
  }

  #drawDensities(): void {
    const there = present(this.app.store.state.densities);
    const field = this.#axis.parentElement;
    if (field) field.hidden = there.length < 2;
    const range = (of: { value: SpectralDensity }[]): [number, number] => [
      Math.min(...of.map(({ value }) => value.grid[0] ?? 0)),
      Math.max(...of.map(({ value }) => value.grid.at(-1) ?? 0)),
    ];
    for (const point of POINTS) {
      const own = there.find((other) => other.point === point);
      const figure = this.#figures[point];
      figure.hidden = !own;
      if (!own) {
        this.#plots[point].show(undefined);
        continue;
      }
      const { grid, density, dimension } = own.value;
      figure.dataset.integral = String(integral(grid, density));
      const note = figure.querySelector(".range");
      if (note) note.textContent = `${integer(dimension)} eigenvalues`;
      this.#plots[point].show(densityChart(own.value, point, range(this.#axis.checked ? [own] : there)));
    }
  }

  #showNumbers(): void {
    const { spectra, densities } = this.app.store.state;
    const rows = present(spectra).flatMap(({ point, value }) => {
      const row = (name: string) => (pair: EigenResult["top"][number], index: number) => [
        `${NAMES[point]}, ${name} ${index + 1}`,
        number(pair.value, 7),
        number(pair.residual, 1),
        pair.converged ? "yes" : "no",
      ];
      return [...value.top.map(row("largest")), ...value.bottom.map(row("smallest"))];
    });
    const moments = present(densities).flatMap(({ point, value }) =>
      value.moments.map(({ order, value: moment, standardError }) => [
        `${NAMES[point]}, mean of λ${["", "", "²", "³", "⁴"][order] ?? `^${order}`}`,
        number(moment, 5),
        number(standardError, 1),
        `${integer(value.probes)} × ${integer(value.steps)}`,
      ]),
    );
    this.#tables.replaceChildren(
      rows.length > 0 ? numbers("Eigenvalues in numbers", ["eigenvalue", "value", "residual", "converged"], rows) : "",
      moments.length > 0
        ? numbers("Moments of the density", ["moment", "value", "standard error", "probes × steps"], moments)
        : "",
    );
  }
}

function present<T>(values: PerPoint<T>): { point: Point; value: T }[] {
  return POINTS.flatMap((point) => {
    const value = values[point];
    return value === undefined ? [] : [{ point, value }];
  });
}

/** By the trapezoidal rule; 1 but for what lies beyond the grid. */
function integral(grid: number[], density: number[]): number {
  let sum = 0;
  for (let i = 1; i < grid.length; i++) {
    sum += (((density[i] ?? 0) + (density[i - 1] ?? 0)) / 2) * ((grid[i] ?? 0) - (grid[i - 1] ?? 0));
  }
  return sum;
}

function trust({ products, converged, verified, top, bottom }: EigenResult): string {
  const worst = Math.max(...[...top, ...bottom].map(({ residual }) => residual));
  return [
    extent(top, bottom),
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

const extent = (top: EigenResult["top"], bottom: EigenResult["bottom"]): string => {
  const high = number(top[0]?.value ?? Number.NaN);
  return bottom[0] ? `λ from ${number(bottom[0].value)} to ${high}` : `λ up to ${high}, and never below 0`;
};

/** The largest on the left, the smallest on the right, as trained and bent side by side. */
function endsChart(there: { point: Point; value: EigenResult }[]): PlotOptions {
  const tops = Math.max(...there.map(({ value }) => value.top.length));
  const bottoms = Math.max(...there.map(({ value }) => value.bottom.length));
  const last = bottoms > 0 ? tops + 1 + bottoms : tops;
  const series = there.map(({ point, value }, index) => {
    const shift = there.length > 1 ? (index - 0.5) * 0.3 : 0;
    const pairs = [
      ...value.top.map((pair, at) => ({ x: at + 1 + shift, pair })),
      ...value.bottom.map((pair, at) => ({ x: last - at + shift, pair })),
    ];
    return { point, xs: pairs.map(({ x }) => x), pairs: pairs.map(({ pair }) => pair) };
  });
  const values = series.flatMap(({ pairs }) => pairs.map(({ value }) => value));
  const size = Math.max(...values.map(Math.abs)) || 1;
  // Three decades below the smallest point’s largest.
  const unit =
    Math.min(...series.map(({ pairs }) => Math.max(...pairs.map(({ value }) => Math.abs(value))) || size)) / 1e3;
  return {
    x: {
      ...linear(0.3, last + 0.7),
      ticks: [
        { value: 1, label: "largest" },
        { value: tops, label: `${tops}th` },
        ...(bottoms > 0
          ? [
              { value: tops + 2, label: `${bottoms}th smallest` },
              { value: last, label: "smallest" },
            ]
          : []),
      ],
    },
    y: symlog(Math.min(0, ...values) * 1.6 - unit, Math.max(0, ...values) * 1.6 + unit, unit),
    xLabel: "eigenvalues",
    yLabel: "λ",
    label: `Ends of the spectrum: ${there.map(({ point, value }) => `${point} ${extent(value.top, value.bottom)}`).join("; ")}`,
    left: 62,
    marks: (frame) =>
      series.flatMap(({ point, xs, pairs }) => [
        errorBars(
          frame,
          xs,
          pairs.map(({ value }) => value),
          pairs.map(({ residual }) => residual),
          point,
        ),
        dots(
          frame,
          xs,
          pairs.map(({ value }) => value),
          point,
          3.8,
        ),
      ]),
  };
}

function densityChart(value: SpectralDensity, point: Point, [low, high]: [number, number]): PlotOptions {
  const { grid, density, densityError, dimension, width } = value;
  // A single eigenvalue, broadened, is this high.
  const one = 1 / (dimension * width * Math.sqrt(2 * Math.PI));
  const floor = one / 20;
  const clip = (x: number) => Math.max(x, floor);
  const top = Math.max(...density) * 3;
  const error = (index: number) => 2 * (densityError[index] ?? 0);
  return {
    x: linear(low, high, 5),
    y: log(floor, top),
    xLabel: "λ",
    yLabel: "density",
    label: `Density of the spectrum, ${point}: highest ${number(Math.max(...density))}`,
    left: 60,
    marks: (frame) => [
      band(
        frame,
        grid,
        density.map((x, index) => clip(x - error(index))),
        density.map((x, index) => clip(x + error(index))),
        point,
      ),
      curve(frame, grid, density.map(clip), `${point} plain`),
    ],
  };
}
