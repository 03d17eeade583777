/** One number a pixel, as an image: dark where it is small. The scale is the square root, or a few pixels would be all one sees. */

import { svg } from "../dom";
import { css, type Ramp, ramp } from "./palette";

const shareOf = (value: number | undefined, high: number): number =>
  high > 0 ? Math.sqrt(Math.max(value ?? 0, 0) / high) : 0;

export function drawPixels(
  canvas: HTMLCanvasElement,
  values: ArrayLike<number>,
  side: number,
  high: number,
  label: string,
): void {
  canvas.width = side;
  canvas.height = Math.ceil(values.length / side);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  const context = canvas.getContext("2d");
  if (!context) return;
  const colour = ramp();
  for (let index = 0; index < values.length; index++) {
    context.fillStyle = css(colour(shareOf(values[index], high)));
    context.fillRect(index % side, Math.floor(index / side), 1, 1);
  }
}

/** The same as squares, for paper. They overlap a little, or lines of white would show between them. */
export function pixelsDrawing(values: ArrayLike<number>, side: number, high: number, colour: Ramp): SVGSVGElement {
  const squares = Array.from(values, (value, index) =>
    svg("rect", {
      x: index % side,
      y: Math.floor(index / side),
      width: 1.02,
      height: 1.02,
      fill: css(colour(shareOf(value, high))),
    }),
  );
  return svg("svg", { viewBox: `0 0 ${side} ${Math.ceil(values.length / side)}` }, ...squares);
}
