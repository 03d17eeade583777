/** The charts of the thesis' experiments, drawn as the thesis draws them, and growing while the runs do. */

import { linear, log } from "../charts/scales";
import { legendKey, type Mark, XyChart, type XySeries } from "../charts/xy";
import { html } from "../dom";
import type { Figure } from "../figures/figure";
import { heatFigure } from "../figures/heat";
import { seriesKey, xyFigure } from "../figures/xy";
import { number, percent } from "../format";
import type { SpacesApp } from "../spaces/app";
import { EXPERIMENTS } from "../spaces/experiments";
import { HIGH_RATE, LOW_RATE, RATES, VALUES } from "../spaces/findings";
import { METHODS, type Method, type MethodId, type Place, type Run, run } from "../spaces/methods";
import { begun, type Curve, GUESSING } from "../spaces/results";
import type { RunPoint } from "../worker/spaces-protocol";
import { takeAlong } from "./take-along";

const MARKS: Record<Place, Mark> = { weights: "circle", g_space: "diamond", weight_fixing: "square" };
/** More points on a line than this nobody can tell apart. */
const MOST_POINTS = 150;
const CURVE_TOP = 6;

function look(method: MethodId): Pick<XySeries, "name" | "kind" | "dashed" | "mark"> {
  const { name, place, optimizer, kept }: Method = METHODS[method];
  const hollow = optimizer === "adam" || kept === true;
  return { name, kind: `space-${place}${hollow ? " hollow" : ""}`, dashed: hollow, mark: MARKS[place] };
}

export class ThesisCharts {
  readonly element = html("div", { id: "spaces-charts", class: "space-charts" });
  readonly #left = html("div", { class: "chart" });
  readonly #right = html("div", { class: "chart" });
  readonly #captions = [html("span"), html("span")] as const;
  readonly #legend = html("ul", { class: "legend" });
  readonly #heat = html("div", { id: "spaces-grid" });
  readonly #gridHead = html("div", { class: "chart-head" }, html("span"));
  readonly #rate = html("select", { id: "spaces-rate", "aria-label": "Learning rate of the curves" });
  readonly #charts: readonly [XyChart, XyChart];
  #frame = 0;

  constructor(private readonly app: SpacesApp) {
    this.#charts = [new XyChart(this.#left), new XyChart(this.#right)];
    this.#rate.append(html("option", { value: "best" }, "each at its best rate"));
    for (const rate of RATES) this.#rate.append(html("option", { value: rate }, `all at ${rate}`));
    this.#rate.addEventListener("change", () => this.#show());
    const pair = [this.#left, this.#right].map((chart, index) => {
      const words = html("figcaption", { class: "chart-head" }, this.#captions[index] ?? "");
      takeAlong(words, () => this.#figure(index === 0 ? 0 : 1));
      return html("figure", {}, words, chart);
    });
    takeAlong(this.#gridHead, () => this.#gridFigure());
    this.element.append(html("div", { class: "space-pair" }, ...pair), this.#gridHead, this.#heat, this.#legend);
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

  #show(): void {
    const { experiment } = this.app.store.state;
    const grid = experiment === "grid";
    this.element.dataset.experiment = experiment;
    for (const box of [this.#left, this.#right]) box.parentElement?.toggleAttribute("hidden", grid);
    this.#heat.hidden = !grid;
    this.#gridHead.hidden = !grid;
    this.#legend.hidden = grid;
    if (grid) this.#showGrid();
    else this.#showPair();
  }

  #showPair(): void {
    const { experiment } = this.app.store.state;
    const { methods } = EXPERIMENTS[experiment];
    const [left, right] = this.#captions;
    if (experiment === "low_high") {
      left.replaceChildren(`Loss at the low rate, ${LOW_RATE}`);
      right.replaceChildren(`Loss at the high rate, ${HIGH_RATE}`);
      this.#showCurves(
        this.#charts[0],
        methods.map((method) => run(method, LOW_RATE)),
      );
      this.#showCurves(
        this.#charts[1],
        methods.map((method) => run(method, HIGH_RATE)),
      );
    } else {
      left.replaceChildren("Lowest validation loss by learning rate");
      right.replaceChildren(html("span", {}, "Loss, "), this.#rate);
      this.#showRates(methods);
      this.#showCurves(
        this.#charts[1],
        methods.map((method) => this.#chosen(method)),
      );
    }
    this.#legend.replaceChildren(
      ...methods.map((method) => legendItem(method)),
      html("li", { class: "text" }, "lines: training loss; marks: validation loss after each epoch"),
    );
  }

  #chosen(method: MethodId): Run {
    if (this.#rate.value !== "best") return run(method, Number(this.#rate.value));
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
        const title = `${METHODS[method].name}, rate ${rate}: ${Number.isFinite(loss) ? number(loss) : "diverged"}`;
        return [{ x: rate, y: loss, title }];
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
    const rate = this.#rate.value === "best" ? "each at its best rate" : `all at rate ${this.#rate.value}`;
    const title = ofRates
      ? "Lowest validation loss by learning rate"
      : experiment === "low_high"
        ? `Loss at ${side === 0 ? `the low rate, ${LOW_RATE}` : `the high rate, ${HIGH_RATE}`}`
        : `Loss over the epochs, ${rate}`;
    const marks = ofRates ? "" : " Lines: training loss; marks: validation loss after each epoch.";
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

  #showGrid(): void {
    const losses = this.#losses();
    const finite = losses.flat().filter((loss): loss is number => loss !== undefined && Number.isFinite(loss));
    const low = Math.log(Math.min(1, ...finite));
    const rows = losses.map((row, index) => {
      const least = Math.min(...row.map((loss) => loss ?? Number.POSITIVE_INFINITY));
      const cells = row.map((loss) => {
        if (loss === undefined) return html("td", {}, html("span", { class: "visually-hidden" }, "not run"));
        if (!Number.isFinite(loss)) return html("td", { class: "lost", "data-loss": "diverged" }, "✕");
        const heat = Math.min(Math.max((Math.log(loss) - low) / (Math.log(GUESSING) - low), 0), 1);
        const best = loss === least && begun(loss);
        const td = html(
          "td",
          { "data-loss": loss, class: `${heat < 0.42 ? "deep" : ""}${best ? " best" : ""}` },
          number(loss),
        );
        td.style.setProperty("--heat", `${(100 * heat).toFixed(1)}%`);
        return td;
      });
      return html("tr", {}, html("th", { scope: "row" }, String(VALUES[index])), ...cells);
    });
    const heads = RATES.map((rate) => html("th", { scope: "col" }, String(rate)));
    this.#heat.replaceChildren(
      html(
        "table",
        { class: "heat" },
        html(
          "caption",
          {},
          "Validation loss of Fixed SGD by learning rate (columns) and value of the fixed weights (rows)",
        ),
        html("thead", {}, html("tr", {}, html("th", {}, "value"), ...heads)),
        html("tbody", {}, ...rows),
      ),
      html(
        "p",
        { class: "note" },
        "Framed: the best rate of a value. ✕: diverged, or above 10. The thesis’ grid is finer, and each cell the median of five runs.",
      ),
    );
  }
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

function described({ name, points }: XySeries): string {
  const said = points.map(({ y }) => (Number.isFinite(y) ? number(y) : "diverged"));
  return `${name} ${said.length > 0 ? said.join(", ") : "not run"}`;
}

function legendItem(method: MethodId): HTMLElement {
  const { name, ...style } = look(method);
  return html("li", {}, legendKey(style), name);
}
