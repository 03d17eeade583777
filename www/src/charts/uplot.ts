/** What all line charts share: the page's colours and type, and a size that follows the box they are in. */

import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { token } from "../dom";
import { rounds } from "../format";
import { canvasFont, widthOf } from "./font";

const font = (): string => canvasFont(12, getComputedStyle(document.body).fontFamily);

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

/** Values that are none have no label. */
export const roundTicks = (_: uPlot, values: (number | null)[]): string[] => {
  const shown = values.filter((value): value is number => Number.isFinite(value));
  const labels = rounds(shown);
  return values.map((value) => (Number.isFinite(value) ? (labels.shift() ?? "") : ""));
};

/** So wide an axis at least, and wider where its labels are. */
export const roomFor =
  (least: number): uPlot.Axis.Size =>
  (_, labels) =>
    Math.max(least, 10 + Math.max(0, ...(labels ?? []).map((label) => widthOf(label ?? ""))));

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
