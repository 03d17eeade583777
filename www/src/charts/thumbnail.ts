/** A landscape as a small picture: colours alone, for seeing several beside each other. */

import type { Landscape } from "isoflat";
import { picture } from "../dom";
import { type Heights, rowsOf } from "./heights";
import { ramp } from "./palette";

export function thumbnail(landscape: Landscape, heights: Heights, label: string): HTMLCanvasElement {
  const width = landscape.s.length;
  const height = rowsOf(landscape);
  const colour = ramp();
  const pixels = new Uint8ClampedArray(4 * width * height);
  landscape.loss.forEach((loss, index) => {
    // Rows rise in the landscape and fall in a picture.
    const at = 4 * ((height - 1 - Math.floor(index / width)) * width + (index % width));
    const [r, g, b] = colour(heights.at(loss));
    pixels.set([255 * r, 255 * g, 255 * b, 255], at);
  });
  return picture({ width, height, pixels }, { class: "thumbnail", role: "img", "aria-label": label });
}
