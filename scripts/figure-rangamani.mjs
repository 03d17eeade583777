/**
 * Draws docs/results/rangamani-power.svg from docs/results/rangamani-power.json, which `cargo run --release --example papers -- rangamani-power`
 * writes: Algorithm 1 by iteration.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { figure } from "./lib/figure.mjs";
import { linear, PANEL_STYLE, panel, power, powers } from "./lib/panels.mjs";
import { root } from "./lib/process.mjs";

const results = join(root, "docs", "results");
const read = (name) => JSON.parse(readFileSync(join(results, `${name}.json`), "utf8"));
const COLOURS = [
  "#2f6fb5",
  "#c2571a",
  "#2e8b57",
  "#8a6d1c",
  "#7a4fa3",
  "#4a9aa5",
  "#b5486b",
  "#6b7a2f",
  "#555d68",
  "#a8552f",
];
const WIDTH = 920;

/** What there is between an estimate and where it should arrive, and what the vector is from being an eigenvector. */
function steps({ runs, network, samples, tolerance, settled }) {
  const most = Math.max(...runs.map(({ steps }) => steps));
  const across = powers(0, Math.log10(most));
  const place = { y: 50, width: 240, height: 210, across, acrossName: "iteration" };
  const estimate = panel({
    ...place,
    x: 60,
    title: "‖A u‖ over the largest eigenvalue",
    down: linear(0, 1.05, [0, 0.5, 1]),
  });
  const distance = panel({ ...place, x: 365, title: "its distance from 1", down: powers(-14, 0, 2) });
  const residual = panel({ ...place, x: 670, title: "residual over the eigenvalue", down: powers(-7, 0) });
  runs.forEach(({ norms, distances, residuals, lanczos }, i) => {
    const of = (values, share) => values.map((value, step) => [step + 1, share(value / Math.abs(lanczos.value))]);
    const colour = COLOURS[i % COLOURS.length];
    estimate.line(
      of(norms, (share) => share),
      colour,
    );
    distance.line(
      distances.map((value, step) => [step + 1, value]),
      colour,
    );
    residual.line(
      of(residuals, (share) => share),
      colour,
    );
  });
  return figure({
    width: WIDTH,
    height: 330,
    label:
      "Algorithm 1 by iteration: its estimate of the largest eigenvalue, how far that is from Lanczos, and the residual",
    style: PANEL_STYLE,
    parts: [estimate, distance, residual].map((each) => each.svg()),
    note: `${network}, ${samples} random samples, a line a seed; λ by Lanczos; ${settled} of ${runs.length} settled, turning by less than ${power(Math.log10(tolerance))}`,
  });
}

writeFileSync(join(results, "rangamani-power.svg"), steps(read("rangamani-power")));
