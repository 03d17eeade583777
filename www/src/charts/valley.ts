/** One line through the loss, as trained and as it must look after the layer was multiplied by α: the same valley, narrower. */

import type { Curve, Valley } from "../worker/protocol";
import { curve, dots, Plot } from "./plot";
import { linear } from "./scales";

export class ValleyChart {
  readonly #plot: Plot;

  constructor(box: HTMLElement) {
    this.#plot = new Plot(box);
  }

  /** `measured`: losses at the sharpened weights themselves, if they are there. */
  show({ line, span }: Valley, alpha: number, measured: Curve | null): void {
    const inside = line.loss.filter((_, index) => Math.abs(line.s[index] ?? 0) <= span * 1.001);
    const high = Math.max(...inside);
    const narrowed = line.s.map((s) => s * alpha);
    this.#plot.show({
      x: linear(-1, 1),
      y: linear(0, high * 1.04, 5),
      xLabel: "along the layer’s steepest direction",
      yLabel: "loss",
      label: `Loss along one line: as trained, and narrowed to ${(100 * alpha).toPrecision(2)} % of its width by the rescaling`,
      marks: (frame) => [
        curve(
          frame,
          line.s.map((s) => s / span),
          line.loss,
          "trained",
        ),
        curve(
          frame,
          narrowed.map((s) => s / span),
          line.loss,
          "bent",
        ),
        measured &&
          dots(
            frame,
            measured.s.map((s) => s / span),
            measured.loss,
            "bent",
            3,
          ),
      ],
    });
  }

  clear(): void {
    this.#plot.show(undefined);
  }
}
