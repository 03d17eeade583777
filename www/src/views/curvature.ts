/** The Hessian's largest eigenvalue in the three spaces, at a trained point and at the same function with its units rescaled. */

import { html, nothing, type TemplateResult } from "lit-html";
import { curvatureFigure } from "../figures/spaces";
import { disable } from "../focus";
import { duration, number } from "../format";
import type { CurvatureRow, SpacesApp } from "../spaces/app";
import { METHODS, PLACES, type Place } from "../spaces/methods";
import { renderPart } from "./part";
import { within } from "./place";
import { takeAlong } from "./take-along";

const ORDER: Place[] = ["weights", "weight_fixing", "g_space"];
const TITLES: Record<Place, string> = {
  weights: "In the weights",
  weight_fixing: "With fixed weights",
  g_space: "In the G-space",
};

export function curvatureView(app: SpacesApp, section: HTMLElement): void {
  const draw = (): void => {
    const { curvature } = app.store.state;
    renderPart(section, {
      title: "How sharp is one point in three spaces?",
      controls: html`<div class="row wrap">
        <button id="curvature-button" type="button" @click=${() => void app.takeCurvature()}>Compute</button>
        <button id="curvature-stop" type="button" @click=${() => app.stop()}>Stop</button>
      </div>`,
      note:
        "The largest eigenvalue of the Hessian over 500 images, in each space’s own coordinates: how much the loss bends per step that an optimiser there " +
        "takes. Then again with every hidden unit rescaled by up to × 3, which is the same function. We know of no other program that computes these numbers for " +
        "path values.",
      content: html`
        <div id="curvature">${curvature && curvature.rows.length > 0 ? table(curvature.rows) : nothing}</div>
        <p class="note" role="status">${said(app)}</p>`,
    });
  };
  app.store.watch(["task", "curves", "here", "products", "curvature", "speed", "setting"], draw);
  const find = within(section);
  const [button, stop] = [find("button", "curvature-button"), find("button", "curvature-stop")];
  takeAlong(button.parentElement, () => curvatureFigure(app.store.state.curvature), "table");
  app.store.watch(["task", "curves", "here"], () => {
    const { task } = app.store.state;
    const wasOnStop = document.activeElement === stop;
    disable(button, task !== "idle" || !app.curvatureRun);
    stop.hidden = task !== "curvature";
    if (wasOnStop && stop.hidden) button.focus();
  });
}

function said(app: SpacesApp): string {
  const { store, soundRuns, curvatureRun: run } = app;
  const { task, products, curves } = store.state;
  if (task === "curvature") return `${products} products with the Hessian…`;
  if (!run && soundRuns.length > 0) {
    return "The runs were kept, the weights that they ended at were not: it needs one that has been run since the page was opened.";
  }
  if (!run && [...curves.values()].some(([curve]) => curve?.end === "done")) {
    return "None of these began with ones on the skeleton, where all three spaces have sound coordinates: it needs one of another experiment.";
  }
  if (!run) return "It needs a trained network: run one of the experiments above to its end.";
  const seconds = app.estimateCurvature();
  const takes = seconds === null ? "" : ` That takes ${duration(seconds)}.`;
  return `At the end of the best run so far: ${METHODS[run.method].name} at rate ${run.rate}.${takes}`;
}

function table(rows: CurvatureRow[]): TemplateResult {
  return html`<div>
    <table class="plain curvature" aria-label=${`Largest eigenvalue of the Hessian in ${Object.values(PLACES).join(", ")}`}>
      <thead>
        <tr>
          <th scope="col">Largest eigenvalue</th>
          <th scope="col" class="num">at the trained point</th>
          <th scope="col" class="num">with its units rescaled</th>
          <th scope="col"></th>
        </tr>
      </thead>
      <tbody>
        ${ORDER.map((place) => line(place, rows))}
      </tbody>
    </table>
    <p class="note">${fastest(rows)}</p>
  </div>`;
}

function line(place: Place, rows: CurvatureRow[]): TemplateResult {
  const [before, after] = [false, true].map((rescaled) =>
    rows.find((row) => row.place === place && row.rescaled === rescaled),
  );
  const change = before && after ? after.value.value / before.value.value : undefined;
  const verdict = before && after ? verdictOf(before, after) : undefined;
  return html`<tr data-place=${place} data-change=${change ?? nothing} data-verdict=${verdict ?? nothing}>
    <th scope="row">${TITLES[place]}<small>${warning(before) ?? nothing}</small></th>
    ${cell("at the point", before)} ${cell("rescaled", after)}
    <td class="verdict">${verdict && change !== undefined ? judged(verdict, change) : nothing}</td>
  </tr>`;
}

/** Gradient descent on a quadratic runs away at rates above 2 over its largest eigenvalue. */
function fastest(rows: CurvatureRow[]): string {
  const rates = ORDER.flatMap((place) => {
    const row = rows.find((each) => each.place === place && !each.rescaled);
    return row && row.value.value > 0 ? `${PLACES[place]} ${number(2 / row.value.value, 2)}` : [];
  });
  return `Near a minimum plain gradient descent runs away at learning rates above 2 over this eigenvalue. At the trained point: ${rates.join(", ")}.`;
}

type Verdict = "still" | "moves" | "unsure";

/** Numbers that have not converged say neither. */
function verdictOf(before: CurvatureRow, after: CurvatureRow): Verdict {
  if (!before.value.converged || !after.value.converged) return "unsure";
  const change = after.value.value / before.value.value;
  return Math.abs(change - 1) <= resolved(before, after) ? "still" : "moves";
}

function judged(verdict: Verdict, change: number): string {
  if (verdict === "unsure") return "? not converged";
  return verdict === "still" ? "= stands still" : `≠ moves: × ${number(change)}`;
}

/** What the two residuals leave open, relative, and rounding. */
function resolved(before: CurvatureRow, after: CurvatureRow): number {
  return (before.value.residual + after.value.residual) / Math.abs(before.value.value) + 1e-9;
}

const warning = (row: CurvatureRow | undefined): string | undefined =>
  row?.value.warning === undefined ? undefined : " ill-conditioned coordinates";

function cell(label: string, row: CurvatureRow | undefined): TemplateResult {
  if (!row) return html`<td class="num" data-label=${label}>…</td>`;
  const { value, residual, converged, products, warning } = row.value;
  return html`<td class="num" data-label=${label} data-value=${value} title=${warning ?? nothing}>
    ${number(value, 6)}
    <small class=${converged ? nothing : "warn"}>residual ${number(residual, 1)}, ${products} products${converged ? "" : ", not converged"}</small>
  </td>`;
}
