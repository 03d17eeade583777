/** The papers, run again: a place for the gallery, which comes when it is opened, and Rangamani's Table 2 and Figure 1, computed here beside the paper's own numbers. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import type { App } from "../app";
import { judged } from "../constructions";
import { table2Figure } from "../figures/tables";
import { disable } from "../focus";
import { number } from "../format";
import { type Chart, figureOf } from "../gallery/charts";
import { historyChart } from "../gallery/rangamani";
import type { State } from "../store";
import { chartIn } from "./chart-in";
import { estimateView } from "./estimate";
import { place, within } from "./place";
import { takeAlong, takenAlong } from "./take-along";
import { term } from "./words";

const PAPER = [1.7e-7, 7.17e-7];

/** 1/20 rather than 0.05, as the paper writes them. */
const fraction = (factor: number): string => (factor < 1 ? `1/${Math.round(1 / factor)}` : String(factor));

export function table2View(app: App): void {
  const papers = place("papers");
  const draw = (): void => {
    render(markup(app), papers);
  };
  draw();
  estimateView(app, "table2", within(papers)("p", "table2-estimate"));
  takeAlong(within(papers)("button", "table2-button").parentElement, () => table2Figure(app.store.state), "table");
  app.store.watch(["table2"], draw);
  app.store.watch(["task"], () => {
    const isBusy = ["training", "table2", "starting"].includes(app.store.state.task);
    disable(within(papers)("button", "table2-button"), isBusy);
  });
}

const markup = (app: App): TemplateResult => html`
    <div class="side">
      <h2 id="papers-tab-title">The papers, run again</h2>
      <p class="story">
        Every table and figure of the four papers, with what came out when it was run again: which command, which number,
        and whether the two agree. Results are stored, and drawn when a row is opened.
      </p>
    </div>
    <div class="display">
      <div id="gallery" class="gallery"></div>
      <div class="heading">
        <h3 id="table2-title">Rangamani et al., Table 2 and Figure 1, computed here</h3>
        <div class="row"><button id="table2-button" type="button" @click=${() => void app.asking.reproduceTable2()}>Reproduce</button></div>
      </div>
      <p class="note">784-300-100-10 on 500 random samples with random labels. The ${term("spectralNorm", "spectral norm")} of the ${term("layerwise", "layer-wise")} ${term("riemannian")} ${term("hessian")}, before and after two layer-wise maps. The paper found relative differences of 1.7 × 10⁻⁷ and 7.17 × 10⁻⁷. Below, Algorithm 1 step by step: how far its estimate is from the norm.</p>
      <p id="table2-estimate" class="note estimate"></p>
      <div id="table2">${table(app.store.state.table2)} ${history(app)}</div>
    </div>
  
`;

function table(table2: State["table2"]): TemplateResult | typeof nothing {
  if (!table2) return nothing;
  return html`<table class="plain" aria-labelledby="table2-title">
    <thead>
      <tr>
        <th scope="col">map</th>
        <th scope="col" class="num">before</th>
        <th scope="col" class="num">after</th>
        <th scope="col" class="num">relative difference</th>
        <th scope="col" class="num">in the paper</th>
        <th scope="col"></th>
      </tr>
    </thead>
    <tbody>
      ${table2.rows.map(({ lambda, before, after, relativeDifference, converged }, index) => {
        const paper = PAPER[index] ?? Number.NaN;
        const held = relativeDifference <= paper;
        return html`<tr data-difference=${relativeDifference} data-held=${String(held && converged)}>
          <th scope="row">λ = (${lambda.map(fraction).join(", ")})</th>
          <td class="num" data-label="before">${number(before, 7)}</td>
          <td class="num" data-label="after">${number(after, 7)}</td>
          <td class="num" data-label="here">${number(relativeDifference)}</td>
          <td class="num" data-label="paper">${number(paper)}</td>
          <td class="verdict">${judged(held, converged, "above the paper’s", "at most the paper’s")}</td>
        </tr>`;
      })}
    </tbody>
  </table>`;
}

/** Algorithm 1, as it went. */
function history({ store }: App): TemplateResult | typeof nothing {
  const chartNow = (): Chart | null => store.state.table2 && historyChart(store.state.table2);
  const chart = chartNow();
  if (!chart) return nothing;
  // Its button stays with its place, whatever is drawn there later.
  const taken = takenAlong(() => {
    const now = chartNow();
    return now && figureOf(now);
  });
  return html`<figure>
    <figcaption class="chart-head" ${taken}><div class="run-controls"><span>${chart.title}</span></div></figcaption>
    <div id="figure1" class="chart" ${chartIn(chart)}></div>
  </figure>`;
}
