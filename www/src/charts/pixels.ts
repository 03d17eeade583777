/** One number a pixel, as an image: dark where it is small. The scale is the square root, or a few pixels would be all one sees. */

import { css, ramp } from "./palette";

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
    const share = high > 0 ? Math.sqrt(Math.max(values[index] ?? 0, 0) / high) : 0;
    context.fillStyle = css(colour(share));
    context.fillRect(index % side, Math.floor(index / side), 1, 1);
  }
}
