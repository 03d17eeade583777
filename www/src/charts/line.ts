/** The loss along one direction, of the trained and of the bent weights in one chart. */

import type { Landscape } from "isoflat";
import { number } from "../format";
import type { PerPoint } from "../store";
import type { Point } from "../worker/protocol";
import { centerSaid, type HeightKind } from "./heights";
import { curve, dots, type Frame, Plot, type PlotOptions } from "./plot";
import { linear, log, type Scale } from "./scales";
import { onLine } from "./way";

export class LineChart {
  readonly #plot: Plot;

  constructor(box: HTMLElement) {
    this.#plot = new Plot(box);
  }

  show(lines: PerPoint<Landscape>, height: HeightKind): void {
    this.#plot.show(linePlot(lines, height));
  }
}

/** Nothing while neither is known. */
export function linePlot(
  lines: PerPoint<Landscape>,
  height: HeightKind,
  names: Record<Point, string> = { trained: "trained: ", bent: "bent: " },
): PlotOptions | undefined {
  const first = lines.trained ?? lines.bent;
  if (!first) return undefined;
  const { trained, bent } = lines;
  const losses = [...(trained?.loss ?? []), ...(bent?.loss ?? [])].filter(Number.isFinite);
  const [low, high] = [Math.min(...losses), Math.max(...losses)];
  return {
    x: linear(first.s[0] ?? -1, first.s.at(-1) ?? 1),
    y: scaleOf(lines, height, low, high),
    xLabel: "first direction",
    yLabel: "loss",
    label: described(lines, names),
    marks: (frame) => [
      trained ? curve(frame, trained.s, trained.loss, "trained") : null,
      bent ? curve(frame, bent.s, bent.loss, "bent") : null,
      trained ? dots(frame, trained.s, trained.loss, "trained", 2.5) : null,
      // Every other one, so that the trained point's can be seen where both lie on each other.
      bent ? dots(frame, everyOther(bent.s), everyOther(bent.loss), "bent", 2.9) : null,
      ...(trained ? way(frame, trained) : []),
    ],
  };
}

/** The snapshots of the training on the line, and a ring where it began. */
function way(frame: Frame, line: Landscape): SVGElement[] {
  const [start, ...rest] = onLine(line);
  const marks = (places: { s: number; loss: number }[], kind: string, size: number): SVGElement =>
    dots(
      frame,
      places.map(({ s }) => s),
      places.map(({ loss }) => loss),
      kind,
      size,
    );
  return start ? [marks(rest, "way", 3.4), marks([start], "way start", 6)] : [];
}

const everyOther = (values: ArrayLike<number>): number[] => Array.from(values).filter((_, index) => index % 2 === 0);

function described(lines: PerPoint<Landscape>, names: Record<Point, string>): string {
  const said = (["trained", "bent"] as const).flatMap((point) => {
    const line = lines[point];
    return line ? `${names[point]}${centerSaid(line, "in the middle")}up to ${number(Math.max(...line.loss))}` : [];
  });
  return `Loss along the first direction; ${said.join("; ")}`;
}

function scaleOf(lines: PerPoint<Landscape>, height: HeightKind, low: number, high: number): Scale {
  if (height === "log" && low > 0) return log(low / 1.15, high * 1.15);
  if (!(low < 0)) return linear(0, cut(lines, high) || 1, 5);
  const room = 0.05 * (Math.max(high, 0) - low);
  return linear(low - room, Math.max(high, 0) + room, 5);
}

/** On a linear scale the bent valley would hide the trained one. */
function cut({ trained, bent }: PerPoint<Landscape>, high: number): number {
  if (!trained || !bent) return high * 1.05;
  return Math.min(high, 4 * Math.max(...Array.from(trained.loss).filter(Number.isFinite))) * 1.05;
}
