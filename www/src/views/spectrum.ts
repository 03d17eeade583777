/** An operator's spectrum at both points: its ends with their residuals, and its density. */

import type { EigenResult, OperatorDescription, WholeOperatorName } from "isoflat";
import { html, render } from "lit-html";
import type { App } from "../app";
import { rangeOf } from "../charts/spectrum";
import { html as element } from "../dom";
import { densityFigure, endsFigure, isSemidefinite, momentsFigure } from "../figures/spectrum";
import { disable } from "../focus";
import { integer, number } from "../format";
import { IsoflatSpectrum } from "../plots/spectrum";
import { oneOrTwo, type PerPoint } from "../store";
import type { Point, SpectrumChoice } from "../worker/protocol";
import { watchIn } from "./closed";
import { estimateView } from "./estimate";
import { numbers } from "./numbers";
import { place, within } from "./place";
import { takeAlong } from "./take-along";

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
  readonly #operator = element("select", { id: "operator" });
  readonly #part = element("select", { id: "operator-part" });
  readonly #quality = element(
    "select",
    { id: "density-quality" },
    ...QUALITIES.map(([value, label]) => element("option", { value }, label)),
  );
  readonly #axis = element("input", { type: "checkbox", id: "own-axes" });
  readonly #axisField = element(
    "label",
    { class: "check", id: "own-axes-field", hidden: true },
    this.#axis,
    " each density on its own axis",
  );
  readonly #button = element("button", { type: "button", id: "spectrum-button" }, "Compute the spectrum");
  readonly #spectrum = new IsoflatSpectrum();
  readonly #tables = element("div");

  constructor(private readonly app: App) {
    this.#spectrum.names = ["as trained", "bent"];
    const figures = {
      ends: () => endsFigure(app.store.state),
      "density-1": () => densityFigure(app.store.state, "trained", this.#rangeOf("trained")),
      "density-2": () => densityFigure(app.store.state, "bent", this.#rangeOf("bent")),
    };
    for (const [slot, figure] of Object.entries(figures)) {
      const place = element("span", { slot });
      takeAlong(place, figure);
      this.#spectrum.append(place);
    }
    this.#render();
    estimateView(app, "spectrum", within(place("spectrum"))("p", "spectrum-estimate"));
    for (const select of [this.#operator, this.#part, this.#quality]) {
      select.addEventListener("change", () => app.asking.setSpectrum(this.#choice()));
    }
    this.#axis.addEventListener("change", () => {
      this.#spectrum.ownAxes = this.#axis.checked;
    });
    this.#button.addEventListener("click", () => void app.asking.computeSpectrum());
    const part = place("spectrum");
    app.store.watch(["operators"], () => this.#fillOperators());
    app.store.watch(["model"], () => this.#fillParts());
    app.store.watch(["spectrumChoice"], () => this.#write());
    app.store.watch(["ready", "task"], () => {
      const { ready, task } = app.store.state;
      disable(this.#button, !ready || ["training", "starting", "spectrum"].includes(task));
    });
    watchIn(part, app, ["spectra", "densities"], () => this.#show());
  }

  #render(): void {
    render(
      html`<div class="side">
          <h2 id="spectrum-tab-title">Spectrum</h2>
          <p class="story">All the curvatures at once: how many directions are steep, and how many are flat.</p>
        </div>
        <div class="display">
          <div id="spectrum">
            <div class="heading">
              <h3 id="spectrum-title">The spectrum</h3>
              ${this.#button}
            </div>
            <p class="note">
              The eigenvalues of the curvature: in how many directions, and how strongly, the loss bends. A few are large,
              nearly all are near 0, and some may be negative. An operator that respects the symmetries has the same
              spectrum before and after the bend.
            </p>
            <div class="fields of-words">
              <label>Operator${this.#operator}</label>
              <label>On${this.#part}</label>
              <label>Density${this.#quality}</label>
            </div>
            <p id="spectrum-estimate" class="note estimate"></p>
            ${this.#spectrum} ${this.#axisField} ${this.#tables}
          </div>
        </div>`,
      place("spectrum"),
    );
  }

  #fillOperators(): void {
    const { operators } = this.app.store.state;
    this.#operator.replaceChildren(
      ...GROUPS.map(([label, metric]) => {
        const listed = operators.filter((operator) => operator.metric === metric);
        return element(
          "optgroup",
          { label },
          ...listed.map(({ name, title }) => element("option", { value: name }, title)),
        );
      }),
    );
    if (operators.length > 0) this.#write();
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
    this.#part.replaceChildren(
      element("option", { value: "all" }, "all parameters"),
      element("option", { value: "weights" }, "all weights, no biases"),
      ...names.map((name, index) => element("option", { value: `layer_${index + 1}` }, `W${index + 1} · ${name}`)),
    );
    this.#write();
    // A layer that this network has not.
    if (this.#part.value !== this.app.store.state.spectrumChoice.part) this.app.asking.setSpectrum(this.#choice());
  }

  /** A reload, Undo or an address may have chosen. */
  #write(): void {
    const { operator, part, probes, steps } = this.app.store.state.spectrumChoice;
    this.#operator.value = operator;
    this.#part.value = part;
    if (this.#part.value === "") this.#part.value = "all";
    const quality = `${probes} ${steps}`;
    this.#quality.value = quality;
    if (this.#quality.value === quality) return;
    // As somebody else has typed it into an address.
    this.#quality.append(element("option", { value: quality }, `${probes} probes × ${steps} steps`));
    this.#quality.value = quality;
  }

  #show(): void {
    const { spectra, densities } = this.app.store.state;
    this.#spectrum.hidden = !spectra.trained && !densities.trained;
    this.#spectrum.eigenvalues = oneOrTwo(spectra);
    this.#spectrum.isSemidefinite = isSemidefinite(spectra);
    this.#spectrum.density = oneOrTwo(densities);
    this.#axisField.hidden = present(densities).length < 2;
    this.#showNumbers();
  }

  /** Of the axis: both points', or its own. */
  #rangeOf(point: Point): [number, number] {
    const there = present(this.app.store.state.densities);
    return rangeOf(there.filter((other) => !this.#axis.checked || other.point === point).map(({ value }) => value));
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
        ? numbers("Moments of the density", ["moment", "value", "standard error", "probes × steps"], moments, () =>
            momentsFigure(this.app.store.state),
          )
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
