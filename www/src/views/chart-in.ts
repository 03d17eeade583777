/** A chart in the box that a template has for it. */

import type { DirectiveResult } from "lit-html/directive.js";
import { ref } from "lit-html/directives/ref.js";
import { Plot } from "../charts/plot";
import { type Chart, heightOf } from "../gallery/charts";

/** In pixels: where there is less than this names stand above what they are of. */
const LEAST_WIDE = 560;

/** Charts stay with their boxes, whatever is drawn in them. */
const plots = new WeakMap<Element, Plot>();

/** `place`: what is as wide as the box is going to be. */
export const chartIn = (place: Element | undefined, { plot: wide, narrow, rows }: Chart): DirectiveResult =>
  ref((box) => {
    if (!(box instanceof HTMLElement)) return;
    const options = ((place?.clientWidth ?? 0) < LEAST_WIDE && narrow) || wide;
    if (rows !== undefined) box.style.height = `${heightOf(rows, options === narrow)}px`;
    const plot = plots.get(box) ?? new Plot(box);
    plots.set(box, plot);
    plot.show(options);
  });
