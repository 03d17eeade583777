/** Loss and accuracy while a network learns. */

import { percent } from "../format";
import { curve, dots, Plot, type PlotOptions } from "./plot";
import { linear } from "./scales";
import { thinned } from "./thin";

/** Beyond this many a line's points lie on each other. */
const PLACES = 300;
/** As high a loss as there is room for before there is any. */
const FIRST_HIGH = 2.4;

export interface Learning {
  /** Epochs in all. */
  span: number;
  epoch: number[];
  /** Null where nothing was said of it there. */
  loss: (number | null)[];
  accuracy: (number | null)[];
  test: (number | null)[];
}

export class TrainingChart {
  #learning: Learning = { span: 1, epoch: [], loss: [], accuracy: [], test: [] };
  readonly #plot: Plot;
  #frame = 0;

  constructor(readonly box: HTMLElement) {
    this.#plot = new Plot(box);
    this.redraw();
  }

  /** What is drawn, point by point. */
  get learning(): Learning {
    return this.#learning;
  }

  begin(epochs: number): void {
    this.show({ span: epochs, epoch: [], loss: [], accuracy: [], test: [] });
  }

  show(learning: Learning): void {
    this.#learning = learning;
    this.#update();
  }

  add(epoch: number, values: { loss?: number; accuracy?: number; test?: number }): void {
    cutBack(this.#learning, epoch);
    // What is no finite number has no place, and would leave the others none.
    const place = (value = Number.NaN) => (Number.isFinite(value) ? value : null);
    this.#learning.epoch.push(epoch);
    this.#learning.loss.push(place(values.loss));
    this.#learning.accuracy.push(place(values.accuracy));
    this.#learning.test.push(place(values.test));
    this.#update();
  }

  redraw(): void {
    this.#plot.show(trainingPlot(this.#learning));
  }

  /** News may come faster than frames. */
  #update(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.redraw();
    });
  }
}

/** A training that goes on from a checkpoint, after a device was lost, comes once more by what it had passed. */
export function cutBack({ epoch: at, loss, accuracy, test }: Learning, epoch: number): void {
  while ((at.at(-1) ?? 0) > epoch) for (const line of [at, loss, accuracy, test]) line.pop();
}

export function trainingPlot({ span, epoch, loss, accuracy, test }: Learning): PlotOptions {
  const line = (values: (number | null)[]) => {
    const there = values.flatMap((y, index) => (y === null ? [] : [[epoch[index] ?? 0, y] as const]));
    return thinned(
      there.map(([x]) => x),
      there.map(([, y]) => y),
      PLACES,
    );
  };
  const [losses, accuracies, tests] = [line(loss), line(accuracy), line(test)];
  const high = Math.max(losses[1].reduce((most, y) => Math.max(most, y), 0) || FIRST_HIGH, 0.1) * 1.05;
  return {
    // A little further than the last epoch, or its mark would be cut in half.
    x: linear(0, span * 1.01),
    y: linear(0, high, 5),
    right: { scale: { ...linear(0, 1, 5), ticks: TENTHS }, label: "accuracy" },
    xLabel: "epoch",
    yLabel: "loss",
    left: 44,
    label: `Loss and accuracy during training; ${said("loss", losses[1], (value) => value.toPrecision(3))}${said("accuracy", accuracies[1], percent)}${said("test accuracy", tests[1], percent)}`,
    marks: (frame) => {
      const right = { ...frame, y: frame.yRight ?? frame.y };
      return [
        curve(frame, ...losses, "loss"),
        curve(right, ...accuracies, "accuracy"),
        curve(right, ...tests, "test"),
        dots(right, ...tests, "test", 3),
      ];
    },
  };
}

const TENTHS = [0, 0.2, 0.4, 0.6, 0.8, 1].map((value) => ({ value, label: `${Math.round(100 * value)} %` }));

function said(name: string, values: number[], spell: (value: number) => string): string {
  const last = values.at(-1);
  return last === undefined ? "" : `${name} ${spell(last)}; `;
}
