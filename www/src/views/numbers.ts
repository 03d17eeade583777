/** Tables of numbers behind a drawing, for who wants them. */

import { html } from "../dom";
import type { Figure } from "../figures/figure";
import { takeAlong } from "./take-along";

/** Folded up; the first column is the rows' heads. `describe`: the same in full, to be taken along. */
export function numbers(
  title: string,
  head: string[],
  rows: string[][],
  describe?: () => Figure | null,
): HTMLDetailsElement {
  const cells = ([first = "", ...rest]: string[]) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, first),
      ...rest.map((text, index) => html("td", { class: "num", "data-label": head[index + 1] ?? "" }, text)),
    );
  const [first = "", ...others] = head;
  const details = html(
    "details",
    { class: "numbers" },
    html("summary", {}, title),
    html(
      "table",
      { class: "plain" },
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          html("th", { scope: "col" }, first),
          ...others.map((text) => html("th", { scope: "col", class: "num" }, text)),
        ),
      ),
      html("tbody", {}, ...rows.map(cells)),
    ),
  );
  if (describe) takeAlong(details, describe, "table");
  return details;
}
