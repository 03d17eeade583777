/** The loss along one direction, of the trained and of the bent weights in one chart. */

import type { Landscape } from "isoflat";
import uPlot from "uplot";
import { token } from "../dom";
import { number } from "../format";
import type { PerPoint } from "../store";
import type { HeightKind } from "./heights";
import { axis, follow, roomFor, roundTicks } from "./uplot";
import { onLine } from "./way";

export class LineChart {
  #end: () => void = () => {};

  constructor(private readonly box: HTMLElement) {}

  show(lines: PerPoint<Landscape>, height: HeightKind): void {
    this.#end();
    this.#end = () => {};
    const first = lines.trained ?? lines.bent;
    if (!first) return;
    const { clientWidth, clientHeight } = this.box;
    const positive = [lines.trained, lines.bent].every((line) => !line || line.loss.every((loss) => loss > 0));
    const log = height === "log" && positive;
    const options: uPlot.Options = {
      width: Math.max(clientWidth, 100),
      height: Math.max(clientHeight, 100),
      legend: { show: false },
      cursor: { show: false },
      padding: [10, 12, 0, 0],
      scales: {
        x: { time: false, range: (_, low, high) => [low, high] },
        loss: log ? { distr: 3 } : { range: (_, __, high) => [0, cut(lines, high)] },
      },
      axes: [
        axis({
          label: "first direction",
          labelSize: 18,
          size: 30,
          values: roundTicks,
        }),
        axis({ label: "loss", labelSize: 18, scale: "loss", size: roomFor(52), values: log ? logTicks : roundTicks }),
      ],
      series: [
        {},
        {
          scale: "loss",
          stroke: token("trained"),
          width: 2,
          points: { show: true, size: 5, fill: token("trained"), stroke: token("trained") },
        },
        { scale: "loss", stroke: token("bent"), width: 2, dash: [6, 3], points: { show: false } },
      ],
      hooks: {
        draw: [
          (chart) => lines.bent && diamonds(chart, first.s, lines.bent.loss),
          (chart) => lines.trained && wayDots(chart, lines.trained),
        ],
      },
    };
    this.box.setAttribute("aria-label", described(lines));
    const x = [...first.s];
    const chart = new uPlot(options, [x, values(lines.trained, x), values(lines.bent, x)], this.box);
    this.#end = follow(this.box, chart);
  }
}

function described(lines: PerPoint<Landscape>): string {
  const said = (["trained", "bent"] as const).flatMap((point) => {
    const line = lines[point];
    return line ? `${point}: ${number(line.center)} in the middle, up to ${number(Math.max(...line.loss))}` : [];
  });
  return `Loss along the first direction; ${said.join("; ")}`;
}

function values(line: Landscape | undefined, x: number[]): (number | null)[] {
  return line ? [...line.loss] : x.map(() => null);
}

/** On a linear scale the bent valley would hide the trained one. */
function cut({ trained, bent }: PerPoint<Landscape>, high: number): number {
  if (!trained || !bent) return high * 1.05;
  return Math.min(high, 4 * Math.max(...trained.loss)) * 1.05;
}

const logTicks: uPlot.Axis.DynamicValues = (chart, splits) =>
  roundTicks(
    chart,
    splits.map((value) => (Number.isInteger(Math.log10(value)) || splits.length < 8 ? value : null)),
  );

/** The snapshots of the training on the line, and a ring where it began. */
function wayDots(chart: uPlot, line: Landscape): void {
  const { ctx } = chart;
  const places = onLine(line);
  ctx.save();
  ctx.fillStyle = token("way");
  ctx.strokeStyle = token("way");
  ctx.lineWidth = 2 * devicePixelRatio;
  // The chart's own last line is dashed.
  ctx.setLineDash([]);
  places.forEach(({ s, loss }, index) => {
    const isStart = index === 0;
    ctx.beginPath();
    const radius = (isStart ? 6 : 3.4) * devicePixelRatio;
    ctx.arc(chart.valToPos(s, "x", true), chart.valToPos(loss, "loss", true), radius, 0, 2 * Math.PI);
    if (isStart) ctx.stroke();
    else ctx.fill();
  });
  ctx.restore();
}

/** uPlot's own points are round; the bent weights are told by their shape as well. */
function diamonds(chart: uPlot, x: ArrayLike<number>, y: ArrayLike<number>): void {
  const { ctx } = chart;
  const r = 3.6 * devicePixelRatio;
  ctx.save();
  ctx.fillStyle = token("bent");
  ctx.beginPath();
  ctx.rect(chart.bbox.left, chart.bbox.top, chart.bbox.width, chart.bbox.height);
  ctx.clip();
  for (let i = 0; i < x.length; i += 2) {
    const px = chart.valToPos(x[i] ?? 0, "x", true);
    const py = chart.valToPos(y[i] ?? 0, "loss", true);
    ctx.beginPath();
    ctx.moveTo(px, py - r);
    ctx.lineTo(px + r, py);
    ctx.lineTo(px, py + r);
    ctx.lineTo(px - r, py);
    ctx.fill();
  }
  ctx.restore();
}
