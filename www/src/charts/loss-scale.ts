/** What the colours and heights of landscapes mean: one bar from the lowest loss to the highest. */

import { html } from "../dom";
import { number } from "../format";
import { lossTicks } from "./axes";
import type { Heights } from "./heights";
import { css, ramp, type Theme, themeNow } from "./palette";

/** As many colours as the ramp has, evenly spaced as there. */
const STOPS = 7;
/** Between the middles of two numbers, in hundredths of the bar for each of their letters. */
const [LETTER, LEAST] = [2.6, 5];

/** What was drawn stays while nothing of it changes: a slider that moves draws often. */
const drawn = new WeakMap<HTMLElement, string>();

/** Whose colours and heights they are. */
const OF = ["", "", " for both landscapes"];

/** `heights`: undefined where there is no landscape with colours; `many`: how many landscapes have them. */
export function drawLossScale(
  box: HTMLElement,
  heights: Heights | undefined,
  many: number,
  theme: Theme = themeNow(),
): void {
  const isShown = heights !== undefined && heights.high > heights.low;
  const key = isShown ? JSON.stringify([heights.kind, heights.low, heights.high, theme, many]) : "";
  if (drawn.get(box) === key) return;
  drawn.set(box, key);
  if (!isShown) {
    box.replaceChildren();
    return;
  }
  const { kind, low, high } = heights;
  const colour = ramp(theme);
  const colours = Array.from({ length: STOPS }, (_, index) => css(colour(index / (STOPS - 1))));
  const [from, to] = [number(low, 2), number(high, 2)];
  box.replaceChildren(
    html("span", { class: "name" }, kind === "log" ? "loss, log" : "loss"),
    html(
      "div",
      {
        class: "ramp",
        role: "img",
        "aria-label": `${many > 1 ? "One scale" : "Scale"} of colours and heights${OF[many] ?? ` for ${many} landscapes`}: loss ${from} to ${to}${kind === "log" ? ", as log (1 + loss)" : ""}`,
      },
      html("div", { class: "colours", style: `background: linear-gradient(to right, ${colours.join(", ")})` }),
      ...placed(heights, from, to).map(({ share, text }) =>
        html(
          "span",
          {
            class: "number",
            "data-end": share === 0 ? "low" : share === 1 && "high",
            style: `left: ${(100 * share).toFixed(2)}%`,
          },
          text,
        ),
      ),
    ),
  );
}

/** Both ends, and between them what has room. */
function placed(heights: Heights, from: string, to: string): { share: number; text: string }[] {
  const found = [
    { share: 0, text: from, left: 0, right: LETTER * from.length },
    { share: 1, text: to, left: 100 - LETTER * to.length, right: 100 },
  ];
  for (const { value, label } of lossTicks(heights)) {
    const share = heights.at(value);
    const half = (LETTER * label.length) / 2;
    const [left, right] = [100 * share - half, 100 * share + half];
    if (found.some((other) => left < other.right + LEAST / 2 && right > other.left - LEAST / 2)) continue;
    found.push({ share, text: label, left, right });
  }
  return found;
}
