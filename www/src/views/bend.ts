/** Under *More*: a slider for each layer's factor, random factors and orders of units. */

import type { FreeTensor } from "isoflat";
import type { App } from "../app";
import { LAYER_DECADES as DECADES, noBend, refusalToRescale } from "../bends";
import { LineChart } from "../charts/line";
import { find, html } from "../dom";
import { disable } from "../focus";
import { number, round } from "../format";
import { type Bend, transformationOf } from "../store";
import { factorsOf, powersOf } from "../transformations";

export class BendView {
  #sliders: HTMLInputElement[] = [];
  #values: HTMLOutputElement[] = [];
  /** Of a graph, its tensors' factors in powers of ten. */
  #powers: number[] = [];
  #seed = 1;
  readonly #box = find("div", "cut");
  readonly #cut = new LineChart(this.#box);

  constructor(private readonly app: App) {
    const range = find("input", "nodewise-range");
    const nodewise = find("input", "nodewise");
    const permute = find("input", "permute");
    nodewise.addEventListener("change", () => this.#setNodewise());
    range.addEventListener("change", () => this.#setNodewise());
    find("button", "nodewise-draw").addEventListener("click", () => {
      nodewise.checked = true;
      this.#seed++;
      this.#setNodewise();
    });
    permute.addEventListener("change", () => this.#setPermutation());
    find("button", "permute-draw").addEventListener("click", () => {
      permute.checked = true;
      this.#seed++;
      this.#setPermutation();
    });
    find("button", "bend-reset").addEventListener("click", () => app.twin.setBend(noBend(this.#bend.lambda.length)));
    app.store.watch(["model"], () => this.#buildSliders());
    app.store.watch(["bend", "sharpness"], () => this.#showBend());
    app.store.watch(["model", "ready", "task", "engine"], () => this.#showAvailability());
    app.store.watch(["lines"], () => this.redraw());
  }

  /** Not in a closed part: it is drawn when that is opened. */
  redraw(): void {
    if (this.#box.clientWidth > 0) this.#cut.show(this.app.store.state.lines, "log");
  }

  get #bend(): Bend {
    return this.app.store.state.bend;
  }

  #buildSliders(): void {
    const { model } = this.app.store.state;
    this.#sliders = [];
    this.#values = [];
    const rows = this.#names().map((name, index) => {
      const id = `lambda-${index + 1}`;
      const slider = html("input", {
        type: "range",
        id,
        min: -DECADES,
        max: DECADES,
        step: 0.01,
        value: 0,
        disabled: !model?.tensors && (model?.layers.length ?? 0) < 2,
      });
      const value = html("output", { for: id }, "1");
      slider.addEventListener("input", () => {
        if (model?.tensors) this.#rescale(model.tensors, index, Number(slider.value));
        else this.#move(index, Number(slider.value));
      });
      slider.addEventListener("change", () => this.app.twin.release());
      this.#sliders.push(slider);
      this.#values.push(value);
      const label = html(
        "label",
        { for: id },
        model?.tensors ? "μ" : "λ",
        html("sub", {}, String(index + 1)),
        html("small", {}, ...inLines(name)),
      );
      return html("div", { class: "lambda" }, label, slider, value);
    });
    const place = find("div", "lambdas");
    place.classList.toggle(
      "lambdas-long",
      this.#names().some((name) => name.includes(", ")),
    );
    place.classList.toggle("lambdas-many", rows.length > 12);
    place.replaceChildren(...rows);
    this.#showBend();
  }

  /** What the sliders are of: layers, or in a graph what the layers write. */
  #names(): string[] {
    const { model } = this.app.store.state;
    const written = ({ writers }: FreeTensor) => {
      const first = writers.slice(0, 3).map((layer) => `W${layer + 1}`);
      return `behind ${first.join(" ")}${writers.length > 3 ? " …" : ""}`;
    };
    return model?.tensors?.map(written) ?? model?.layers ?? [];
  }

  /** One tensor’s factor: the layers that write it and those that read it make up for each other. */
  #rescale(tensors: FreeTensor[], tensor: number, power: number): void {
    this.#powers[tensor] = power;
    this.app.twin.setBend({ ...this.#bend, lambda: factorsOf(tensors, this.#powers, this.#bend.lambda.length) });
  }

  /** Moves one factor and divides the others evenly, in logarithms, so that their sum stays 0. */
  #move(layer: number, wanted: number): void {
    const logs = this.#bend.lambda.map(Math.log10);
    const others = logs.length - 1;
    if (others < 1) return;
    const before = logs[layer] ?? 0;
    const rest = logs.filter((_, index) => index !== layer);
    // No other factor may leave its slider.
    const up = before + others * (Math.min(...rest) + DECADES);
    const down = before - others * (DECADES - Math.max(...rest));
    const to = Math.min(Math.max(wanted, down), up);
    const lambda = logs.map((log, index) => 10 ** (index === layer ? to : log - (to - before) / others));
    this.app.twin.setBend({ ...this.#bend, lambda });
  }

  #setNodewise(): void {
    const range = find("input", "nodewise-range");
    const wanted = Math.min(Math.max(Number(range.value) || 10, 1.1), 1000);
    range.value = String(wanted);
    const on = find("input", "nodewise").checked;
    this.app.twin.setBend({ ...this.#bend, nodewise: on ? { seed: this.#seed, range: wanted } : null });
  }

  #setPermutation(): void {
    const on = find("input", "permute").checked;
    this.app.twin.setBend({ ...this.#bend, permutation: on ? { seed: this.#seed } : null });
  }

  #showBend(): void {
    const { lambda, nodewise, permutation } = this.#bend;
    const { model } = this.app.store.state;
    if (model?.tensors) this.#powers = powersOf(model.tensors, lambda);
    const shown = model?.tensors ? this.#powers.map((power) => 10 ** power) : lambda;
    shown.forEach((factor, index) => {
      const slider = this.#sliders[index];
      const value = this.#values[index];
      if (!slider || !value) return;
      const log = Math.log10(factor);
      if (Math.abs(Number(slider.value) - log) > 0.006) slider.value = String(log);
      slider.setAttribute("aria-valuetext", `times ${number(factor)}`);
      slider.style.setProperty("--at", String((log + DECADES) / (2 * DECADES)));
      value.textContent = number(factor);
    });
    const product = lambda.reduce((product, factor) => product * factor, 1);
    find("p", "lambda-product").textContent = model?.tensors
      ? "A tensor’s writers × μ, its readers ÷ μ: where ways meet, they agree."
      : lambda.length > 1
        ? `${lambda.map((_, index) => `λ${subscript(index + 1)}`).join(" · ")} = ${round(Number(product.toPrecision(6)))}`
        : "";
    find("input", "nodewise").checked = nodewise !== null;
    find("input", "permute").checked = permutation !== null;
    // The slider may stand elsewhere while nothing is bent: where the sharpest layer is still looked for, or there is none.
    const isAtRest = transformationOf(this.#bend) === null && this.app.store.state.sharpness.decades === 0;
    disable(find("button", "bend-reset"), isAtRest);
  }

  #showAvailability(): void {
    const { model, ready, task, engine } = this.app.store.state;
    const why = model && refusalToRescale(model);
    const refused = why !== null;
    find("fieldset", "bend-controls").disabled = !ready || refused || task === "training" || !engine;
    const refusal = find("p", "bend-refusal");
    refusal.hidden = !refused;
    refusal.textContent = why ?? "";
  }
}

const subscript = (index: number): string => [...String(index)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]).join("");

/** `conv 5×5, 10 → 20 channels` breaks at its comma. */
function inLines(name: string): (string | HTMLElement)[] {
  const [first = "", ...rest] = name.split(", ");
  return rest.length === 0 ? [first] : [`${first},`, html("span", {}, ` ${rest.join(", ")}`)];
}
