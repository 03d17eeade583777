/** Loss and accuracy while a network learns. */

import uPlot from "uplot";
import { token } from "../dom";
import { axis, follow, roomFor, roundTicks } from "./uplot";

export class TrainingChart {
  #epochs: number[] = [];
  #loss: (number | null)[] = [];
  #accuracy: (number | null)[] = [];
  #test: (number | null)[] = [];
  #span = 1;
  #chart: uPlot | undefined;
  #end: () => void = () => {};

  constructor(private readonly box: HTMLElement) {
    this.redraw();
  }

  begin(epochs: number): void {
    this.#epochs = [0];
    this.#loss = [null];
    this.#accuracy = [null];
    this.#test = [null];
    this.#span = epochs;
    this.#update();
  }

  add(epoch: number, values: { loss?: number; accuracy?: number; test?: number }): void {
    this.#epochs.push(epoch);
    // What is no finite number has no place, and would leave the others none.
    const place = (value = Number.NaN) => (Number.isFinite(value) ? value : null);
    this.#loss.push(place(values.loss));
    this.#accuracy.push(place(values.accuracy));
    this.#test.push(place(values.test));
    this.#update();
  }

  /** Anew, in the colours of the theme. */
  redraw(): void {
    this.#end();
    const { clientWidth: width, clientHeight: height } = this.box;
    const options: uPlot.Options = {
      width: Math.max(width, 100),
      height: Math.max(height, 100),
      legend: { show: false },
      cursor: { show: false },
      padding: [10, 4, 0, 0],
      scales: {
        x: { time: false, range: () => [0, this.#span] },
        loss: { range: (_, __, high) => [0, Math.max(high || 2.4, 0.1) * 1.05] },
        accuracy: { range: () => [0, 1] },
      },
      axes: [
        axis({ label: "epoch", labelSize: 18, size: 30, grid: { show: false } }),
        axis({ scale: "loss", size: roomFor(44), values: roundTicks }),
        axis({
          scale: "accuracy",
          side: 1,
          size: 50,
          grid: { show: false },
          values: (_, values) => values.map((value) => `${Math.round(100 * value)} %`),
        }),
      ],
      series: [
        {},
        { scale: "loss", stroke: token("ink"), width: 1.75, points: { show: false }, spanGaps: true },
        {
          scale: "accuracy",
          stroke: token("trained"),
          width: 1.5,
          dash: [5, 4],
          points: { show: false },
          spanGaps: true,
        },
        {
          scale: "accuracy",
          stroke: token("bent"),
          width: 1,
          spanGaps: true,
          points: { show: true, size: 7, width: 2, stroke: token("bent"), fill: token("panel") },
        },
      ],
    };
    this.#chart = new uPlot(options, this.#data(), this.box);
    this.#end = follow(this.box, this.#chart);
  }

  #data(): uPlot.AlignedData {
    return [this.#epochs, this.#loss, this.#accuracy, this.#test];
  }

  #update(): void {
    this.#chart?.setData(this.#data());
  }
}
