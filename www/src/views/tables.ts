/** The papers, run again: a place for the gallery, which comes when it is opened, and Rangamani's Tables 2 and 3 and Figure 1, computed here beside the paper's own numbers. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import type { App } from "../app";
import { judged } from "../constructions";
import { tableFigure } from "../figures/tables";
import { disable } from "../focus";
import { number } from "../format";
import { type Chart, figureOf } from "../gallery/charts";
import { historyChart } from "../gallery/rangamani";
import type { Tables } from "../gallery/results";
import { FEW_SEEDS, MOST_SEEDS, mapName, OF_TABLES, type Summary, summaries, TABLES, type TableName } from "../seeds";
import type { TableFound } from "../worker/protocol";
import { chartIn } from "./chart-in";
import { ESTIMATED, showEstimate } from "./estimate";
import { place, within } from "./place";
import { takeAlong, takenAlong } from "./take-along";
import { term } from "./words";

const COUNTS = [1, FEW_SEEDS, 5, 10, MOST_SEEDS];

/** The results that the gallery draws: beside a table once there is one. */
let stored: Tables | null = null;

export function tablesView(app: App): void {
  const papers = place("papers");
  const find = within(papers);
  const counts: Record<TableName, number> = { table2: FEW_SEEDS, table3: FEW_SEEDS };
  const say = (name: TableName): void =>
    showEstimate(app, name, find("p", `${name}-estimate`), { seeds: counts[name] });
  const heading = (name: TableName): TemplateResult => {
    const choose = ({ currentTarget }: Event): void => {
      counts[name] = Number((currentTarget as HTMLSelectElement).value);
      say(name);
    };
    return html`<div class="row">
      <label class="inline" for="${name}-seeds">Seeds <select id="${name}-seeds" @change=${choose}>
        ${COUNTS.map((count) => html`<option value=${count} ?selected=${count === FEW_SEEDS}>${count}</option>`)}
      </select></label>
      <button id="${name}-button" type="button" @click=${() => void app.asking.reproduce(name, counts[name])}>Reproduce</button>
    </div>`;
  };
  const draw = (): void => {
    render(markup(app, heading), papers);
  };
  draw();
  for (const name of TABLES) {
    takeAlong(find("button", `${name}-button`).parentElement, () => tableFigure(app.store.state, name), "table");
  }
  app.store.watch(ESTIMATED, () => TABLES.forEach(say));
  app.store.watch([...TABLES, "asked"], () => {
    draw();
    if (TABLES.some((name) => app.store.state[name])) void fetchStored(draw);
  });
  app.store.watch(["task"], () => {
    const isBusy = ["training", "starting", ...TABLES].includes(app.store.state.task);
    for (const name of TABLES) disable(find("button", `${name}-button`), isBusy);
  });
}

/** Without them their column stays empty, and the gallery says why. */
async function fetchStored(draw: () => void): Promise<void> {
  if (stored) return;
  stored = await import("../gallery/results").then(({ resultsOf }) => resultsOf("tables")).catch(() => null);
  if (stored) draw();
}

const markup = (app: App, heading: (name: TableName) => TemplateResult): TemplateResult => html`
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
        ${heading("table2")}
      </div>
      <p class="note">784-300-100-10 on 500 random samples with random labels, and random biases. The largest eigenvalue of the ${term("layerwise", "layer-wise")} ${term("riemannian")} ${term("hessian")}, which is its ${term("spectralNorm", "spectral norm")}, before and after two layer-wise maps; the search behind a map begins at a vector of its own, so that what agrees has converged from two places. The paper found relative differences of 1.7 × 10⁻⁷ and 7.17 × 10⁻⁷. Below, Algorithm 1 step by step: how far its estimate is from the norm.</p>
      <p id="table2-estimate" class="note estimate"></p>
      <div id="table2">${table(app, "table2")} ${history(app)}</div>
      <div class="heading">
        <h3 id="table3-title">Rangamani et al., Table 3, computed here</h3>
        ${heading("table3")}
      </div>
      <p class="note">The same for C₁: two convolutions of 5 × 5 with pools behind them, and three dense layers, so that maps have five factors. The paper found relative differences of 1.28 × 10⁻⁷ and 5.1 × 10⁻⁶.</p>
      <p id="table3-estimate" class="note estimate"></p>
      <div id="table3">${table(app, "table3")}</div>
    </div>
  
`;

function table({ store }: App, name: TableName): TemplateResult | typeof nothing {
  const found = store.state[name];
  if (!found || found.seeds.length === 0) return nothing;
  return html`<table class="plain" aria-labelledby="${name}-title">
      <thead>
        <tr>
          <th scope="col">map</th>
          <th scope="col" class="num">median</th>
          <th scope="col" class="num">worst</th>
          <th scope="col" class="num">seeds with a flip</th>
          <th scope="col" class="num">in the paper</th>
          <th scope="col" class="num">median, stored</th>
          <th scope="col"></th>
        </tr>
      </thead>
      <tbody>${summaries(name, found).map((summary) => row(name, found, summary))}</tbody>
    </table>
    <p class="note">${saidOf(found, store.state.asked[name])}</p>
    ${seedBySeed(found)}`;
}

function row(name: TableName, { device, seeds }: TableFound, summary: Summary): TemplateResult {
  const { lambda, paper, median, worst, flipped, worstOfOthers, converged, held } = summary;
  const others = flipped > 0 && worstOfOthers !== null ? html` <small>${number(worstOfOthers, 2)} without</small>` : "";
  return html`<tr data-median=${median} data-worst=${worst} data-flipped=${flipped} data-held=${String(held && converged)}>
    <th scope="row">${mapName(lambda)}</th>
    <td class="num" data-label="median">${number(median, 2)}</td>
    <td class="num" data-label="worst">${number(worst, 2)}${others}</td>
    <td class="num" data-label="with a flip">${flipped} of ${seeds.length}</td>
    <td class="num" data-label="paper">${number(paper)}</td>
    <td class="num" data-label="stored">${storedMedian(name, lambda, device.precision)}</td>
    <td class="verdict">${judged(held, converged, "median above the paper’s", "median at most the paper’s")}</td>
  </tr>`;
}

/** Of as many seeds as the stored result has, in the same precision. */
function storedMedian(name: TableName, lambda: number[], precision: string): string {
  const own = stored?.rows.find(
    (row) =>
      row.table === OF_TABLES[name].number &&
      row.device.precision === precision &&
      row.lambda.every((factor, index) => Math.abs(factor / (lambda[index] ?? 0) - 1) < 1e-12),
  );
  return own ? number(own.median, 2) : "–";
}

function saidOf({ device, seeds }: TableFound, wanted = 0): string {
  const [first, last] = [seeds[0]?.seed, seeds.at(-1)?.seed];
  const of = seeds.length < wanted ? ` of ${wanted}` : "";
  const which = first === last ? `${first}` : `${first} to ${last}`;
  const fewer =
    seeds.length < MOST_SEEDS
      ? `; fewer here because of the time, and with ${MOST_SEEDS} chosen the others are added to these`
      : "";
  return (
    `${seeds.length}${of} ${seeds.length === 1 && of === "" ? "seed" : "seeds"}, ${which}, in ${device.precision}. ` +
    `The stored result has ${MOST_SEEDS}, of which these are the first, with the same networks, data and starts${fewer}. ` +
    "A flip: behind the map rounding has put a pre-activation on the other side of 0, or has a pool choose another value."
  );
}

const seedBySeed = ({ seeds }: TableFound): TemplateResult =>
  html`<details class="numbers">
    <summary>Seed by seed</summary>
    <table class="plain">
      <thead>
        <tr>
          <th scope="col">seed, map</th>
          <th scope="col" class="num">before</th>
          <th scope="col" class="num">after</th>
          <th scope="col" class="num">relative difference</th>
          <th scope="col" class="num">flips</th>
        </tr>
      </thead>
      <tbody>
        ${seeds.flatMap(({ seed, before, rows }) =>
          rows.map(
            ({ lambda, after, relativeDifference, flips, converged }) => html`<tr>
              <th scope="row">${seed}, ${mapName(lambda)}${converged ? "" : ", not converged"}</th>
              <td class="num" data-label="before">${number(before, 7)}</td>
              <td class="num" data-label="after">${number(after, 7)}</td>
              <td class="num" data-label="difference">${number(relativeDifference, 2)}</td>
              <td class="num" data-label="flips">${flips}</td>
            </tr>`,
          ),
        )}
      </tbody>
    </table>
  </details>`;

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
