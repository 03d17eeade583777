/** Bent ÷ trained on a logarithmic axis: a bar from × 1 to a diamond. */

import { svg } from "../dom";

export const RATIO_WIDTH = 180;
const HEIGHT = 20;
const INSET = 8;

/** `decades` each way from × 1. */
export function ratioBar(ratio: number, decades: number, verdict: string): SVGSVGElement {
  const middle = RATIO_WIDTH / 2;
  const half = middle - INSET;
  const log = Math.min(Math.max(Math.log10(ratio), -decades), decades);
  const x = middle + (log / decades) * half;
  const y = HEIGHT / 2;
  const ticks = Array.from({ length: 2 * decades + 1 }, (_, index) => {
    const at = middle + ((index - decades) / decades) * half;
    const long = index === decades ? 8 : 3;
    return svg("line", { class: index === decades ? "one" : "tick", x1: at, x2: at, y1: y - long, y2: y + long });
  });
  return svg(
    "svg",
    { viewBox: `0 0 ${RATIO_WIDTH} ${HEIGHT}`, class: `ratio ${verdict}`, "aria-hidden": "true" },
    svg("line", { class: "axis", x1: INSET, x2: RATIO_WIDTH - INSET, y1: y, y2: y }),
    ...ticks,
    svg("line", { class: "bar", x1: middle, x2: x, y1: y, y2: y }),
    verdict === "still"
      ? svg("circle", { class: "mark", cx: x, cy: y, r: 5 })
      : svg("path", { class: "mark", d: `M${x},${y - 6}l6,6l-6,6l-6,-6z` }),
  );
}
