/** What all line charts share: the page's colours and type, and a size that follows the box they are in. */

import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { token } from "../dom";
import { round } from "../format";

const font = (): string => `11.5px ${getComputedStyle(document.body).fontFamily}`;

export function axis(options: Partial<uPlot.Axis> = {}): uPlot.Axis {
  return {
    stroke: token("ink-soft"),
    font: font(),
    labelFont: font(),
    grid: { stroke: token("line"), width: 1 },
    ticks: { stroke: token("line-strong"), width: 1, size: 4 },
    gap: 4,
    ...options,
  };
}

export const lossTicks = (_: uPlot, values: number[]): string[] =>
  values.map((value) => (value === null ? "" : round(value)));

/** Keeps a chart as large as its box; call the result to end it. */
export function follow(box: HTMLElement, chart: uPlot): () => void {
  const observer = new ResizeObserver(() => {
    const { clientWidth: width, clientHeight: height } = box;
    if (width > 0 && height > 0 && (width !== chart.width || height !== chart.height)) chart.setSize({ width, height });
  });
  observer.observe(box);
  return () => {
    observer.disconnect();
    chart.destroy();
  };
}
