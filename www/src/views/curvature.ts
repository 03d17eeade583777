/** The Hessian's largest eigenvalue in the three spaces, at a trained point and at the same function with its units rescaled. */

import { html } from "../dom";
import { columnsOf } from "../figures/columns";
import type { Figure } from "../figures/figure";
import { disable } from "../focus";
import { number } from "../format";
import type { CurvatureRow, SpacesApp } from "../spaces/app";
import { METHODS, PLACES, type Place } from "../spaces/methods";
import { part } from "./part";
import { takeAlong } from "./take-along";

const ORDER: Place[] = ["weights", "weight_fixing", "g_space"];
const TITLES: Record<Place, string> = {
  weights: "In the weights",
  weight_fixing: "With fixed weights",
  g_space: "In the G-space",
};

export function curvatureView(app: SpacesApp): HTMLElement {
  const button = html("button", { id: "curvature-button", type: "button", disabled: true }, "Compute");
  const stop = html("button", { type: "button", hidden: true }, "Stop");
  const place = html("div", { id: "curvature" });
  const status = html("p", { class: "note", role: "status" });
  button.addEventListener("click", () => void app.takeCurvature());
  stop.addEventListener("click", () => app.stop());
  app.store.watch(["task", "curves", "products"], () => {
    const { task, products } = app.store.state;
    const run = app.curvatureRun;
    const wasOnStop = document.activeElement === stop;
    disable(button, task !== "idle" || !run);
    stop.hidden = task !== "curvature";
    if (wasOnStop && stop.hidden) button.focus();
    if (task === "curvature") status.textContent = `${products} products with the Hessian…`;
    else if (!run) status.textContent = "It needs a trained network: run one of the experiments above to its end.";
    else status.textContent = `At the end of the best run so far: ${METHODS[run.method].name} at rate ${run.rate}.`;
  });
  app.store.watch(["curvature"], () => {
    const { curvature } = app.store.state;
    place.replaceChildren(...(curvature && curvature.rows.length > 0 ? [table(curvature.rows)] : []));
  });
  const controls = html("div", { class: "row wrap" }, button, stop);
  takeAlong(controls, () => figure(app), "table");
  return part(
    "curvature-part",
    "How sharp is one point in three spaces?",
    [controls],
    "The largest eigenvalue of the Hessian over 500 images, in each space’s own coordinates: how much the loss bends per step that an optimiser there " +
      "takes. Then again with every hidden unit rescaled by up to × 3, which is the same function. We know of no other program that computes these numbers for " +
      "path values.",
    place,
    status,
  );
}

function figure(app: SpacesApp): Figure | null {
  const { curvature } = app.store.state;
  if (!curvature || curvature.rows.length === 0) return null;
  const { method, rate } = curvature.run;
  return {
    name: "spaces-curvature",
    title: "The Hessian’s largest eigenvalue in three spaces",
    caption: `At the end of ${METHODS[method].name} at rate ${rate}, over 500 images; rescaled: every hidden unit by up to × 3.`,
    columns: () =>
      columnsOf(
        ["space", "rescaled", "largest_eigenvalue", "residual", "converged", "products"],
        curvature.rows.map(({ place, rescaled, value: { value, residual, converged, products } }) => [
          PLACES[place],
          rescaled,
          value,
          residual,
          converged,
          products,
        ]),
      ),
  };
}

function table(rows: CurvatureRow[]): HTMLElement {
  const head = (text: string, kind?: string) => html("th", { scope: "col", class: kind }, text);
  const body = ORDER.map((place) => {
    const [before, after] = [false, true].map((rescaled) =>
      rows.find((row) => row.place === place && row.rescaled === rescaled),
    );
    const change = before && after ? after.value.value / before.value.value : undefined;
    const verdict = before && after ? verdictOf(before, after) : undefined;
    return html(
      "tr",
      {
        "data-place": place,
        "data-change": change,
        "data-verdict": verdict,
      },
      html("th", { scope: "row" }, TITLES[place], html("small", {}, warning(before) ?? "")),
      cell("at the point", before),
      cell("rescaled", after),
      html("td", { class: "verdict" }, verdict && change !== undefined ? said(verdict, change) : ""),
    );
  });
  const found = html(
    "table",
    {
      class: "plain curvature",
      "aria-label": `Largest eigenvalue of the Hessian in ${Object.values(PLACES).join(", ")}`,
    },
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        head("Largest eigenvalue"),
        head("at the trained point", "num"),
        head("with its units rescaled", "num"),
        head(""),
      ),
    ),
    html("tbody", {}, ...body),
  );
  return html("div", {}, found, html("p", { class: "note" }, fastest(rows)));
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

function said(verdict: Verdict, change: number): string {
  if (verdict === "unsure") return "? not converged";
  return verdict === "still" ? "= stands still" : `≠ moves: × ${number(change)}`;
}

/** What the two residuals leave open, relative, and rounding. */
function resolved(before: CurvatureRow, after: CurvatureRow): number {
  return (before.value.residual + after.value.residual) / Math.abs(before.value.value) + 1e-9;
}

const warning = (row: CurvatureRow | undefined): string | undefined =>
  row?.value.warning === undefined ? undefined : " ill-conditioned coordinates";

function cell(label: string, row: CurvatureRow | undefined): HTMLElement {
  if (!row) return html("td", { class: "num", "data-label": label }, "…");
  const { value, residual, converged, products } = row.value;
  return html(
    "td",
    { class: "num", "data-label": label, "data-value": value, title: row.value.warning },
    `${number(value, 6)} `,
    html(
      "small",
      converged ? {} : { class: "warn" },
      `residual ${number(residual, 1)}, ${products} products${converged ? "" : ", not converged"}`,
    ),
  );
}
