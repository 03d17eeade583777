/** Under *More*: a slider for each layer's factor, random factors and orders of units. */

import type { FreeTensor } from "isoflat";
import { render, html as template } from "lit-html";
import type { App } from "../app";
import { LAYER_DECADES as DECADES } from "../bends";
import { LineChart } from "../charts/line";
import { html } from "../dom";
import { number, round } from "../format";
import type { Bend } from "../store";
import { factorsOf, powersOf, UNIT_RANGE } from "../transformations";
import type { FlattestBend } from "../worker/protocol";
import { watchIn } from "./closed";
import { clearFault, numberIn } from "./fields";
import { place, within } from "./place";

const RANGE = { name: "The largest factor of a unit" };

const markup = template`
  <fieldset>
    <legend class="visually-hidden">Factor of each layer; their product stays 1</legend>
    <div id="lambdas"></div>
  </fieldset>
  <p id="lambda-product" class="note faint"></p>
  <div class="row flattest">
    <button id="flattest" type="button">Flattest</button>
    <p id="flattest-note" class="note faint" role="status"></p>
  </div>
  <div class="toggles">
    <div class="toggle">
      <label class="check"><input id="nodewise" type="checkbox"> every hidden unit by its own random factor</label>
      <div class="row">
        <label class="inline">up to ×
          <input id="nodewise-range" type="number" min=${UNIT_RANGE[0]} max=${UNIT_RANGE[1]} step="any" value="10" aria-label="Largest factor of a unit"></label>
        <button id="nodewise-draw" type="button">Draw anew</button>
      </div>
    </div>
    <div class="toggle">
      <label class="check"><input id="permute" type="checkbox"> hidden units in another order</label>
      <div class="row"><button id="permute-draw" type="button">Shuffle</button></div>
    </div>
  </div>`;

/** Once, and then the elements in it are the view's. */
function rendered() {
  const box = place("more");
  render(markup, box);
  const own = within(box);
  return {
    lambdas: own("div", "lambdas"),
    product: own("p", "lambda-product"),
    flattest: own("button", "flattest"),
    flattestNote: own("p", "flattest-note"),
    nodewise: own("input", "nodewise"),
    range: own("input", "nodewise-range"),
    drawNodewise: own("button", "nodewise-draw"),
    permute: own("input", "permute"),
    drawPermutation: own("button", "permute-draw"),
  };
}

export class BendView {
  #sliders: HTMLInputElement[] = [];
  #values: HTMLOutputElement[] = [];
  /** Of a graph, its tensors' factors in powers of ten. */
  #powers: number[] = [];
  #seed = 1;
  /** Where the twin is, if the button has put it there. */
  #flattest: FlattestBend | null = null;
  readonly #elements = rendered();
  readonly #cut: LineChart;

  /** `box`: where the loss is drawn along the first direction. */
  constructor(
    private readonly app: App,
    private readonly box: HTMLElement,
  ) {
    this.#cut = new LineChart(box);
    const { range, nodewise, permute, drawNodewise, drawPermutation, flattest } = this.#elements;
    flattest.addEventListener("click", () => void this.#setFlattest());
    nodewise.addEventListener("change", () => this.#setNodewise());
    range.addEventListener("change", () => this.#setNodewise());
    drawNodewise.addEventListener("click", () => {
      nodewise.checked = true;
      this.#seed++;
      this.#setNodewise();
    });
    permute.addEventListener("change", () => this.#setPermutation());
    drawPermutation.addEventListener("click", () => {
      permute.checked = true;
      this.#seed++;
      this.#setPermutation();
    });
    // A network that is shown again leaves the slider that is being moved.
    let built = "";
    app.store.watch(["model"], () => {
      const { model } = app.store.state;
      const wanted = JSON.stringify([model?.layers, model?.tensors]);
      if (wanted !== built) this.#buildSliders();
      built = wanted;
    });
    app.store.watch(["bend"], () => this.#showBend());
    watchIn(this.box, app, ["lines"], () => this.redraw());
  }

  /** Not in a closed part: it is drawn when that is opened. */
  redraw(): void {
    const { lines } = this.app.store.state;
    const isThere = lines.trained !== undefined || lines.bent !== undefined;
    if (!isThere || this.box.clientWidth > 0) this.#cut.show(lines, "log");
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
    const { lambdas } = this.#elements;
    lambdas.classList.toggle(
      "lambdas-long",
      this.#names().some((name) => name.includes(", ")),
    );
    lambdas.classList.toggle("lambdas-many", rows.length > 12);
    lambdas.replaceChildren(...rows);
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
    void this.app.twin.setBend({ ...this.#bend, lambda: factorsOf(tensors, this.#powers, this.#bend.lambda.length) });
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
    void this.app.twin.setBend({ ...this.#bend, lambda });
  }

  async #setFlattest(): Promise<void> {
    const { flattestNote: note } = this.#elements;
    note.textContent = "Looking for it …";
    this.#flattest = await this.app.twin.setFlattest();
    this.#showFlattest();
  }

  /** What is said is of that bend, and goes with it. */
  #showFlattest(): void {
    const { lambda, nodewise } = this.#bend;
    const isThere = nodewise === null && String(this.#flattest?.lambda) === String(lambda);
    if (!isThere) this.#flattest = null;
    this.#elements.flattestNote.textContent = this.#flattest ? saidOf(this.#flattest) : ABOUT_FLATTEST;
  }

  #setNodewise(): void {
    const { range: input, nodewise } = this.#elements;
    // What is not chosen is not read.
    if (!nodewise.checked) clearFault(input);
    const range = nodewise.checked ? numberIn(input, RANGE) : null;
    if (nodewise.checked && range === null) {
      // The twin stays where it is, and so does the tick.
      nodewise.checked = this.#bend.nodewise !== null;
      return;
    }
    void this.app.twin.setBend({ ...this.#bend, nodewise: range === null ? null : { seed: this.#seed, range } });
  }

  #setPermutation(): void {
    const on = this.#elements.permute.checked;
    void this.app.twin.setBend({ ...this.#bend, permutation: on ? { seed: this.#seed } : null });
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
    this.#showFlattest();
    const product = lambda.reduce((product, factor) => product * factor, 1);
    this.#elements.product.textContent = model?.tensors
      ? "A tensor’s writers × μ, its readers ÷ μ: where ways meet, they agree."
      : lambda.length > 1
        ? `${lambda.map((_, index) => `λ${subscript(index + 1)}`).join(" · ")} = ${round(Number(product.toPrecision(6)))}`
        : "";
    this.#elements.nodewise.checked = nodewise !== null;
    // A reload, Undo or an address may have chosen.
    if (nodewise) {
      this.#elements.range.value = String(nodewise.range);
      clearFault(this.#elements.range);
    }
    this.#seed = nodewise?.seed ?? permutation?.seed ?? this.#seed;
    this.#elements.permute.checked = permutation !== null;
  }
}

const ABOUT_FLATTEST = "The rescaling of the layers with the least trace of the Hessian.";

function saidOf({ before, after, attained }: FlattestBend): string {
  if (!(after < before * (1 - 1e-6))) return `The weights have it as they are: a trace of ${number(before)}.`;
  const traces = `Trace of the Hessian ${number(before)} → ${number(after)}`;
  return attained
    ? `${traces}: no rescaling of layers has less.`
    : `${traces}, within a millionth of what factors that grow without end would leave.`;
}

const subscript = (index: number): string => [...String(index)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]).join("");

/** `conv 5×5, 10 → 20 channels` breaks at its comma. */
function inLines(name: string): (string | HTMLElement)[] {
  const [first = "", ...rest] = name.split(", ");
  return rest.length === 0 ? [first] : [`${first},`, html("span", {}, ` ${rest.join(", ")}`)];
}
