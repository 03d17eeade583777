/** One line through the loss, as trained and as it must look after the layer was multiplied by α: the same valley, narrower. */

import type { Curve, Valley } from "../worker/protocol";
import { curve, dots, Plot, type PlotOptions } from "./plot";
import { linear } from "./scales";

export class ValleyChart {
  readonly #plot: Plot;

  constructor(box: HTMLElement) {
    this.#plot = new Plot(box);
  }

  /** `measured`: losses at the sharpened weights themselves, if they are there. */
  show(valley: Valley, alpha: number, measured: Curve | null): void {
    this.#plot.show(valleyPlot(valley, alpha, measured));
  }

  clear(): void {
    this.#plot.show(undefined);
  }
}

export function valleyPlot({ line, span }: Valley, alpha: number, measured: Curve | null): PlotOptions {
  const inside = line.loss.filter((_, index) => Math.abs(line.s[index] ?? 0) <= span * 1.001);
  const high = Math.max(...inside);
  const share = (values: number[], factor = 1) => values.map((s) => (s * factor) / span);
  return {
    x: linear(-1, 1),
    y: linear(0, high * 1.04, 5),
    xLabel: "along the layer’s steepest direction",
    yLabel: "loss",
    label: `Loss along one line: as trained, and narrowed to ${(100 * alpha).toPrecision(2)} % of its width by the rescaling`,
    marks: (frame) => [
      curve(frame, share(line.s), line.loss, "trained"),
      curve(frame, share(line.s, alpha), line.loss, "bent"),
      measured && dots(frame, share(measured.s), measured.loss, "bent", 3),
    ],
  };
}
