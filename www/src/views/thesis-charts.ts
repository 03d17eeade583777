/** The charts of the thesis' experiments, drawn as the thesis draws them, and growing while the runs do. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { HEAT } from "../charts/palette";
import { linear, log } from "../charts/scales";
import { legendKey, type Mark, XyChart, type XySeries } from "../charts/xy";
import type { Figure } from "../figures/figure";
import { heatFigure } from "../figures/heat";
import { seriesKey, xyFigure } from "../figures/xy";
import { number, percent } from "../format";
import type { SpacesApp } from "../spaces/app";
import { EXPERIMENTS } from "../spaces/experiments";
import { HIGH_RATE, LOW_RATE, RATES, VALUES } from "../spaces/findings";
import { type Look, OF_CHOICES } from "../spaces/looks";
import { METHODS, type Method, type MethodId, type Place, type Run, run } from "../spaces/methods";
import { begun, type Curve, GUESSING } from "../spaces/results";
import type { RunPoint } from "../worker/spaces-protocol";
import { within } from "./place";
import { takenAlong } from "./take-along";

const MARKS: Record<Place, Mark> = { weights: "circle", g_space: "diamond", weight_fixing: "square" };
/** More points on a line than this nobody can tell apart. */
const MOST_POINTS = 150;
const CURVE_TOP = 6;

function look(method: MethodId): Look & Pick<XySeries, "name"> {
  const { name, place, optimizer, skeleton, choice }: Method = METHODS[method];
  if (choice) return { name, ...OF_CHOICES[choice] };
  const hollow = optimizer === "adam" || skeleton === "kept";
  return { name, kind: `space-${place}${hollow ? " hollow" : ""}`, dashed: hollow, mark: MARKS[place] };
}

export class ThesisCharts {
  readonly #charts: readonly [XyChart, XyChart];
  /** Of the curves: the same for all, or each method’s best. */
  #rate = "best";
  #frame = 0;

  constructor(
    private readonly app: SpacesApp,
    private readonly place: HTMLElement,
  ) {
    this.#render();
    const find = within(place);
    this.#charts = [new XyChart(find("div", "spaces-left")), new XyChart(find("div", "spaces-right"))];
    app.store.watch(["experiment"], () => this.#show());
    // News may come faster than frames.
    app.store.watch(["curves"], () => {
      if (this.#frame !== 0) return;
      this.#frame = requestAnimationFrame(() => {
        this.#frame = 0;
        this.#show();
      });
    });
  }

  #render(): void {
    const { experiment } = this.app.store.state;
    const isGrid = experiment === "grid";
    this.place.dataset.experiment = experiment;
    const [left, right] =
      experiment === "low_high"
        ? [`Loss at the low rate, ${LOW_RATE}`, `Loss at the high rate, ${HIGH_RATE}`]
        : ["Lowest validation loss by learning rate", html`<span>Loss, </span>${this.#rates()}`];
    render(
      html`
        <div class="space-pair">
          <figure ?hidden=${isGrid}>
            <figcaption class="chart-head" ${takenAlong(() => this.#figure(0))}><span>${left}</span></figcaption>
            <div id="spaces-left" class="chart"></div>
          </figure>
          <figure ?hidden=${isGrid}>
            <figcaption class="chart-head" ${takenAlong(() => this.#figure(1))}><span>${right}</span></figcaption>
            <div id="spaces-right" class="chart"></div>
          </figure>
        </div>
        <div class="chart-head" ?hidden=${!isGrid} ${takenAlong(() => this.#gridFigure())}><span></span></div>
        <div id="spaces-grid" ?hidden=${!isGrid}>${isGrid ? this.#grid() : nothing}</div>
        <ul class="legend" ?hidden=${isGrid}>
          ${EXPERIMENTS[experiment].methods.map((method) => legendItem(method))}
          <li class="text">${this.#explained()}</li>
        </ul>`,
      this.place,
    );
  }

  /** What the charts show of several runs. */
  #explained(): string {
    const { setting, experiment } = this.app.store.state;
    if (setting.repeats === 1) return "lines: training loss; marks: validation loss after each epoch";
    const curves = "the first run, its training loss as a line, the validation loss after each epoch as marks";
    if (experiment === "low_high") return curves;
    return `left: the mean of the runs, with a bar from the best to the worst; right: ${curves}`;
  }

  #rates(): TemplateResult {
    const change = ({ currentTarget }: Event): void => {
      this.#rate = (currentTarget as HTMLSelectElement).value;
      this.#show();
    };
    return html`<select id="spaces-rate" aria-label="Learning rate of the curves" @change=${change}>
      <option value="best" .selected=${this.#rate === "best"}>each at its best rate</option>
      ${RATES.map((rate) => html`<option value=${rate} .selected=${this.#rate === String(rate)}>all at ${rate}</option>`)}
    </select>`;
  }

  #show(): void {
    this.#render();
    const { experiment } = this.app.store.state;
    const { methods } = EXPERIMENTS[experiment];
    const [left, right] = this.#charts;
    if (experiment === "grid") return;
    if (experiment === "low_high") {
      for (const [chart, rate] of [
        [left, LOW_RATE],
        [right, HIGH_RATE],
      ] as const)
        this.#showCurves(
          chart,
          methods.map((method) => run(method, rate)),
        );
    } else {
      this.#showRates(methods);
      this.#showCurves(
        right,
        methods.map((method) => this.#chosen(method)),
      );
    }
  }

  #chosen(method: MethodId): Run {
    if (this.#rate !== "best") return run(method, Number(this.#rate));
    const runs = RATES.map((rate) => run(method, rate));
    return this.app.results.winner(runs)?.run ?? runs[0] ?? run(method, 0.1);
  }

  #showRates(methods: MethodId[]): void {
    const { results } = this.app;
    const finite: number[] = [];
    const series = methods.map((method): XySeries => {
      const points = RATES.flatMap((rate) => {
        const loss = results.best(run(method, rate));
        if (loss === undefined) return [];
        if (Number.isFinite(loss)) finite.push(loss);
        const range = rangeOf(results.losses(run(method, rate)));
        const title = `${METHODS[method].name}, rate ${rate}: ${Number.isFinite(loss) ? number(loss) : "diverged"}${
          range ? `, of the runs ${number(range[0])} to ${number(range[1])}` : ""
        }`;
        return [{ x: rate, y: loss, title, ...(range && { range }) }];
      });
      return { ...look(method), points: spread(points, methods.indexOf(method), methods.length) };
    });
    const low = Math.min(0.5, ...finite) * 0.85;
    const high = Math.max(3, ...finite) * 1.1;
    this.#charts[0].show(series, {
      x: log(6e-6, 1.7e-1),
      y: log(low, high),
      xLabel: "learning rate",
      yLabel: "validation loss",
      level: { y: GUESSING, name: "guessing" },
      lost: "diverged, or above 10",
      label: `Lowest validation loss by learning rate: ${series.map((each) => described(each)).join("; ")}`,
    });
  }

  #showCurves(chart: XyChart, runs: Run[]): void {
    const { setting } = this.app.store.state;
    const { results } = this.app;
    let low = 1;
    const series = runs.flatMap((each): XySeries[] => {
      const [curve] = results.of(each);
      if (!curve) return [];
      const line = thinned(trained(curve));
      const marks = validated(curve, each, MOST_POINTS / 6);
      for (const { y } of [...line, ...marks]) if (y > 0) low = Math.min(low, y);
      const style = look(each.method);
      return [
        { ...style, mark: undefined, points: line },
        { ...style, line: false, points: marks },
      ];
    });
    chart.show(series, {
      // A little further than the last epoch, or its marks would be cut in half.
      x: linear(0, setting.epochs * 1.02),
      y: log(low * 0.85, CURVE_TOP),
      xLabel: "epoch",
      yLabel: "loss",
      level: { y: GUESSING, name: "guessing" },
      label: `Loss over the epochs: ${runs.map((each) => `${METHODS[each.method].name} at ${each.rate}`).join(", ")}`,
    });
  }

  #caption(): string {
    const { setting, experiment } = this.app.store.state;
    const { images, testImages, epochs, batch, repeats, seed } = setting;
    const runs = repeats > 1 ? `, ${repeats} runs of each kind` : "";
    return (
      `784-64-64-64-64-10 without biases on MNIST, ${images} training and ${testImages} test images, ${epochs} epochs, ` +
      `batches of ${batch}, seed ${seed}${runs}; ${EXPERIMENTS[experiment].title} (Jestädt 2025, ${EXPERIMENTS[experiment].figures}).`
    );
  }

  #figure(side: 0 | 1): Figure | null {
    const { experiment } = this.app.store.state;
    const ofRates = side === 0 && experiment !== "low_high";
    const rate = this.#rate === "best" ? "each at its best rate" : `all at rate ${this.#rate}`;
    const title = ofRates
      ? "Lowest validation loss by learning rate"
      : experiment === "low_high"
        ? `Loss at ${side === 0 ? `the low rate, ${LOW_RATE}` : `the high rate, ${HIGH_RATE}`}`
        : `Loss over the epochs, ${rate}`;
    const several = this.app.store.state.setting.repeats > 1;
    const marks = ofRates
      ? several
        ? " Marks: the mean of the runs; bars: from the best to the worst."
        : ""
      : ` Lines: training loss; marks: validation loss after each epoch${several ? ", of the first run" : ""}.`;
    return xyFigure(this.#charts[side].shown, {
      name: `thesis-${experiment.replace("_", "-")}-${ofRates ? "rates" : side === 0 ? "low" : "losses"}`,
      title,
      caption: this.#caption() + marks,
      x: ofRates ? "learning_rate" : "epoch",
      y: ofRates ? "validation_loss" : "loss",
      keys: EXPERIMENTS[experiment].methods.map((method) => seriesKey(METHODS[method].name, look(method))),
    });
  }

  /** By value (rows) and rate. */
  #losses(): (number | undefined)[][] {
    return VALUES.map((value) => RATES.map((rate) => this.app.results.best(run("fixed_sgd", rate, value))));
  }

  #gridFigure(): Figure | null {
    const losses = this.#losses();
    if (losses.flat().every((loss) => loss === undefined)) return null;
    return heatFigure({
      name: "thesis-grid",
      title: "Validation loss of Fixed SGD by learning rate and value of the fixed weights",
      caption: `${this.#caption()} ✕: diverged, or above 10.`,
      columns: { name: "learning_rate", values: RATES },
      rows: { name: "fixed_value", values: VALUES },
      value: "validation_loss",
      cells: losses,
      high: GUESSING,
    });
  }

  #grid(): TemplateResult {
    const losses = this.#losses();
    const finite = losses.flat().filter((loss): loss is number => loss !== undefined && Number.isFinite(loss));
    const low = Math.log(Math.min(1, ...finite));
    return html`<table class="heat" ${ref(heated)}>
        <caption>
          Validation loss of Fixed SGD by learning rate (columns) and value of the fixed weights (rows)
        </caption>
        <thead>
          <tr>
            <th>value</th>
            ${RATES.map((rate) => html`<th scope="col">${rate}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${losses.map(
            (row, index) =>
              html`<tr>
                <th scope="row">${VALUES[index]}</th>
                ${row.map((loss) => heatCell(loss, low, Math.min(...row.map((loss) => loss ?? Number.POSITIVE_INFINITY))))}
              </tr>`,
          )}
        </tbody>
      </table>
      <p class="note">
        Framed: the best rate of a value. ✕: diverged, or above 10. The thesis’ grid is finer, and each cell the median of
        five runs; here it is the mean.
      </p>`;
  }
}

/** The page's policy takes no style that is text. */
function heated(table: Element | undefined): void {
  if (!(table instanceof HTMLElement)) return;
  table.style.setProperty("--heat-low", HEAT.low);
  table.style.setProperty("--heat-high", HEAT.high);
}

/** `low`: the logarithm of the least loss of all; `least`: of its row. */
function heatCell(loss: number | undefined, low: number, least: number): TemplateResult {
  if (loss === undefined) return html`<td><span class="visually-hidden">not run</span></td>`;
  if (!Number.isFinite(loss)) return html`<td class="lost" data-loss="diverged">✕</td>`;
  const heat = Math.min(Math.max((Math.log(loss) - low) / (Math.log(GUESSING) - low), 0), 1);
  const kind = `${heat < 0.42 ? "deep" : ""}${loss === least && begun(loss) ? " best" : ""}`;
  // The page's policy takes no style that is text.
  const coloured = ref((cell) => {
    if (cell instanceof HTMLElement) cell.style.setProperty("--heat", `${(100 * heat).toFixed(1)}%`);
  });
  return html`<td data-loss=${loss} class=${kind} ${coloured}>${number(loss)}</td>`;
}

/** Marks of the same rate side by side, or those that have diverged would lie on each other. */
function spread(points: XySeries["points"], index: number, count: number): XySeries["points"] {
  const shift = 10 ** ((index - (count - 1) / 2) * 0.035);
  return points
    .map((point) => ({ ...point, at: point.x, x: point.x * (Number.isFinite(point.y) ? 1 : shift ** 2.2) }))
    .sort((a, b) => a.x - b.x);
}

/** Reported every eight steps; an epoch's mean comes with its validation, and is all there is of shorter epochs. */
function trained({ points }: Curve): RunPoint[] {
  const within = points.filter(({ validationLoss }) => validationLoss === undefined);
  return within.length > 1 ? within : points;
}

function thinned(points: RunPoint[]): XySeries["points"] {
  const size = Math.ceil(points.length / MOST_POINTS);
  const found: XySeries["points"] = [];
  for (let start = 0; start < points.length; start += size) {
    const group = points.slice(start, start + size);
    const mean = (of: (point: RunPoint) => number) => group.reduce((sum, point) => sum + of(point), 0) / group.length;
    found.push({ x: mean(({ epoch }) => epoch), y: mean(({ loss }) => loss) });
  }
  return found.filter(({ y }) => Number.isFinite(y));
}

function validated({ points }: Curve, { method, rate }: Run, most: number): XySeries["points"] {
  const all = points.flatMap(({ epoch, validationLoss, validationAccuracy }) => {
    if (validationLoss === undefined || !Number.isFinite(validationLoss)) return [];
    const accuracy = validationAccuracy === undefined ? "" : `, accuracy ${percent(validationAccuracy)}`;
    const title = `${METHODS[method].name} at ${rate}, epoch ${Math.round(epoch)}: ${number(validationLoss)}${accuracy}`;
    return [{ x: epoch, y: validationLoss, title }];
  });
  const step = Math.ceil(all.length / most);
  return all.filter((_, index) => (all.length - 1 - index) % step === 0);
}

/** From the best of the runs to the worst; none where there is one alone, or where one diverged. */
function rangeOf(losses: readonly (number | undefined)[]): readonly [number, number] | undefined {
  const known = losses.filter((loss) => loss !== undefined);
  if (known.length < 2 || !known.every(Number.isFinite)) return undefined;
  return [Math.min(...known), Math.max(...known)];
}

function described({ name, points }: XySeries): string {
  const said = points.map(({ y }) => (Number.isFinite(y) ? number(y) : "diverged"));
  return `${name} ${said.length > 0 ? said.join(", ") : "not run"}`;
}

function legendItem(method: MethodId): TemplateResult {
  const { name, ...style } = look(method);
  return html`<li>${legendKey(style)}${name}</li>`;
}
