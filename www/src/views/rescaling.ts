/** Two starting points that are the same function: after training, are they still? */

import { html } from "../dom";
import { disable } from "../focus";
import { integer, number } from "../format";
import type { SpacesApp } from "../spaces/app";
import type { Rescaling, RescalingRow } from "../worker/spaces-protocol";
import { part } from "./part";

const NAMES: Partial<Record<RescalingRow["space"], string>> = {
  weights: "SGD",
  weight_fixing: "Fixed SGD, weights kept",
  g_space: "G-SGD",
};
/** In f64, over tens of steps: far above rounding, far below what training moves. */
const SAME = 1e-8;

export function rescalingView(app: SpacesApp): HTMLElement {
  const button = html("button", { id: "rescaling-button", type: "button" }, "Rescale the starting point");
  const place = html("div", { id: "rescaling" });
  const verdict = html("p", { id: "rescaling-verdict", class: "verdict", role: "status" });
  button.addEventListener("click", () => void app.rescale());
  app.store.watch(["task"], () => {
    disable(button, app.store.state.task !== "idle");
  });
  app.store.watch(["rescaling"], () => {
    const { rescaling } = app.store.state;
    if (!rescaling) return;
    button.textContent = "Another starting point";
    place.replaceChildren(table(rescaling));
    const held = rescaling.rows.every(({ space, difference }) => difference < SAME === (space === "g_space"));
    verdict.dataset.agrees = String(held);
    verdict.textContent = held
      ? "✓ As theory says: G-SGD does not see the rescaling, SGD and Fixed SGD do."
      : "✗ Not as theory says.";
  });
  return part(
    "rescaling-part",
    "Does training see the rescaling?",
    [button],
    "A small network, and the same one with every hidden unit rescaled: one function, two starting points. Both are trained the same way; " +
      "then their path values are compared, which are the same for the same function.",
    place,
    verdict,
  );
}

function table({ rows, ...found }: Rescaling): HTMLElement {
  const head = (text: string, kind?: string) => html("th", { scope: "col", class: kind }, text);
  const body = rows.map(({ space, losses: [one, other], difference, moved }) =>
    html(
      "tr",
      { "data-space": space, "data-difference": difference },
      html("th", { scope: "row" }, NAMES[space] ?? space),
      html("td", { class: "num", "data-label": "moved" }, number(moved, 2)),
      html("td", { class: "num", "data-label": "loss" }, number(one, 6)),
      html("td", { class: "num", "data-label": "loss, rescaled" }, number(other, 6)),
      html("td", { class: "num", "data-label": "path values differ by" }, number(difference, 2)),
      html("td", { class: "verdict" }, difference < SAME ? "= same function" : "≠ another function"),
    ),
  );
  return html(
    "div",
    {},
    html(
      "table",
      { class: "plain rescaling" },
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          head("after training"),
          head("path values moved by", "num"),
          head("loss", "num"),
          head("loss from the rescaled start", "num"),
          head("path values differ by", "num"),
          head(""),
        ),
      ),
      html("tbody", {}, ...body),
    ),
    html(
      "p",
      { class: "note" },
      `${found.summary} without biases, ${integer(found.parameterCount)} weights, ${integer(found.dimension)} path values; ` +
        `${found.steps} steps at rate ${found.learningRate} in f64. At the start weights differ by ${number(found.weightDifference, 2)}, ` +
        `path values by ${number(found.pathDifference, 1)}, outputs by ${number(found.outputDifference, 1)}, all relative to the largest.`,
    ),
  );
}
