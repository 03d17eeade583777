/** Two starting points that are the same function: after training, are they still? */

import { html, nothing, type TemplateResult } from "lit-html";
import type { Figure } from "../figures/figure";
import { rescalingFigure } from "../figures/spaces";
import { disable } from "../focus";
import { integer, number } from "../format";
import type { SpacesApp } from "../spaces/app";
import { isSame, RESCALED } from "../spaces/methods";
import type { Rescaling } from "../worker/spaces-protocol";
import { renderPart } from "./part";
import { within } from "./place";
import { takeAlong } from "./take-along";

export function rescalingView(app: SpacesApp, section: HTMLElement): void {
  const draw = (): void => {
    const { rescaling } = app.store.state;
    const held = rescaling?.rows.every((row) => isSame(row) === (row.space === "g_space"));
    renderPart(section, {
      title: "Does training see the rescaling?",
      controls: html`<button id="rescaling-button" type="button" @click=${() => void app.rescale()}>
        ${rescaling ? "Another starting point" : "Rescale the starting point"}
      </button>`,
      note:
        "A small network, and the same one with every hidden unit rescaled: one function, two starting points. Both are trained the same way; " +
        "then their path values are compared, which are the same for the same function.",
      content: html`
        <div id="rescaling">${rescaling ? table(rescaling) : nothing}</div>
        <p id="rescaling-verdict" class="verdict" role="status" data-agrees=${held ?? nothing}>${said(held)}</p>`,
    });
  };
  app.store.watch(["rescaling"], draw);
  const button = within(section)("button", "rescaling-button");
  takeAlong(button.parentElement, (): Figure | null => rescalingFigure(app.store.state.rescaling), "table");
  app.store.watch(["task"], () => {
    disable(button, app.store.state.task !== "idle");
  });
}

function said(held: boolean | undefined): string {
  if (held === undefined) return "";
  return held ? "✓ As theory says: G-SGD does not see the rescaling, SGD and Fixed SGD do." : "✗ Not as theory says.";
}

function table({ rows, ...found }: Rescaling): TemplateResult {
  return html`<div>
    <table class="plain rescaling" aria-labelledby="rescaling-part-title">
      <thead>
        <tr>
          <th scope="col">after training</th>
          <th scope="col" class="num">path values moved by</th>
          <th scope="col" class="num">loss</th>
          <th scope="col" class="num">loss from the rescaled start</th>
          <th scope="col" class="num">path values differ by</th>
          <th scope="col"></th>
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => {
          const { space, losses, difference, moved } = row;
          return html`<tr data-space=${space} data-difference=${difference}>
            <th scope="row">${RESCALED[space] ?? space}</th>
            <td class="num" data-label="moved">${number(moved, 2)}</td>
            <td class="num" data-label="loss">${number(losses[0], 6)}</td>
            <td class="num" data-label="loss, rescaled">${number(losses[1], 6)}</td>
            <td class="num" data-label="path values differ by">${number(difference, 2)}</td>
            <td class="verdict">${isSame(row) ? "= same function" : "≠ another function"}</td>
          </tr>`;
        })}
      </tbody>
    </table>
    <p class="note">${about(found)}</p>
  </div>`;
}

const about = (found: Omit<Rescaling, "rows">): string =>
  `${found.summary} without biases, ${integer(found.parameterCount)} weights, ${integer(found.dimension)} path values; ` +
  `${found.steps} steps at rate ${found.learningRate} in f64. At the start weights differ by ${number(found.weightDifference, 2)}, ` +
  `path values by ${number(found.pathDifference, 1)}, outputs by ${number(found.outputDifference, 1)}, all relative to the largest.`;
