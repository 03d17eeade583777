/** A chart in the box that a template has for it. */

import type { DirectiveResult } from "lit-html/directive.js";
import { ref } from "lit-html/directives/ref.js";
import { Plot } from "../charts/plot";
import { type Chart, heightOf } from "../gallery/charts";

/** In pixels: where there is less than this names stand above what they are of. */
const LEAST_WIDE = 560;

/** Stays with its box, whatever is drawn in it, and draws again where the box becomes wide or narrow. */
class ChartBox {
  readonly #plot: Plot;
  #chart: Chart | undefined;
  #isNarrow: boolean | undefined;

  constructor(private readonly box: HTMLElement) {
    this.#plot = new Plot(box);
    new ResizeObserver(() => this.#draw(false)).observe(box);
  }

  show(chart: Chart): void {
    this.#chart = chart;
    this.#draw(true);
  }

  /** Not before it has been laid out. */
  #draw(isAnother: boolean): void {
    const { clientWidth } = this.box;
    if (!this.#chart || clientWidth === 0) return;
    const { plot, narrow, rows } = this.#chart;
    const isNarrow = narrow !== undefined && clientWidth < LEAST_WIDE;
    if (!isAnother && isNarrow === this.#isNarrow) return;
    this.#isNarrow = isNarrow;
    if (rows !== undefined) this.box.style.height = `${heightOf(rows, isNarrow)}px`;
    this.#plot.show(isNarrow ? narrow : plot);
  }
}

const boxes = new WeakMap<Element, ChartBox>();

export const chartIn = (chart: Chart): DirectiveResult =>
  ref((box) => {
    if (!(box instanceof HTMLElement)) return;
    const own = boxes.get(box) ?? new ChartBox(box);
    boxes.set(box, own);
    own.show(chart);
  });
