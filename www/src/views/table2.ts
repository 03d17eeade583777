/** Rangamani's Table 2 beside the paper's own numbers. */

import type { App } from "../app";
import { judged } from "../constructions";
import { find, html } from "../dom";
import { table2Figure } from "../figures/tables";
import { disable } from "../focus";
import { number } from "../format";
import { takeAlong } from "./take-along";

const PAPER = [1.7e-7, 7.17e-7];

/** 1/20 rather than 0.05, as the paper writes them. */
const fraction = (factor: number): string => (factor < 1 ? `1/${Math.round(1 / factor)}` : String(factor));

export function table2View(app: App): void {
  find("button", "table2-button").addEventListener("click", () => void app.reproduceTable2());
  app.store.watch(["task"], () => {
    disable(find("button", "table2-button"), ["training", "table2", "starting"].includes(app.store.state.task));
  });
  takeAlong(find("button", "table2-button").parentElement, () => table2Figure(app.store.state), "table");
  app.store.watch(["table2"], () => {
    const { table2 } = app.store.state;
    if (!table2) {
      find("div", "table2").replaceChildren();
      return;
    }
    const rows = table2.map(({ lambda, before, after, relativeDifference, converged }, index) => {
      const paper = PAPER[index] ?? Number.NaN;
      const held = relativeDifference <= paper;
      const verdict = judged(held, converged, "above the paper’s", "at most the paper’s");
      return html(
        "tr",
        { "data-difference": relativeDifference, "data-held": String(held && converged) },
        html("th", { scope: "row" }, `λ = (${lambda.map(fraction).join(", ")})`),
        html("td", { class: "num", "data-label": "before" }, number(before, 7)),
        html("td", { class: "num", "data-label": "after" }, number(after, 7)),
        html("td", { class: "num", "data-label": "here" }, number(relativeDifference)),
        html("td", { class: "num", "data-label": "paper" }, number(paper)),
        html("td", { class: "verdict" }, verdict),
      );
    });
    const head = (text: string, kind?: string) => html("th", { scope: "col", class: kind }, text);
    find("div", "table2").replaceChildren(
      html(
        "table",
        { class: "plain", "aria-labelledby": "table2-title" },
        html(
          "thead",
          {},
          html(
            "tr",
            {},
            head("map"),
            head("before", "num"),
            head("after", "num"),
            head("relative difference", "num"),
            head("in the paper", "num"),
            head(""),
          ),
        ),
        html("tbody", {}, ...rows),
      ),
    );
  });
}
