/**
 * Draws docs/results/rangamani-power.svg and docs/results/rangamani-lines.svg from the JSON beside them, which
 * `cargo run --release --example papers -- rangamani-power` and `-- rangamani-lines` write: Algorithm 1 by iteration, and lines through minima.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { figure } from "./lib/figure.mjs";
import { linear, PANEL_STYLE, panel, power, powers } from "./lib/panels.mjs";
import { root } from "./lib/process.mjs";

const results = join(root, "docs", "results");
const read = (name) => JSON.parse(readFileSync(join(results, `${name}.json`), "utf8"));
const [SMALL, LARGE] = ["#2f6fb5", "#c2571a"];
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

/** What there is between an estimate and where it should arrive, and what the vector is from being an eigenvector: a row a metric. */
function steps({ runs, nodewise, network, samples, tolerance, settled }) {
  const rows = [
    { name: "layer-wise", runs, settled },
    { name: "node-wise", ...nodewise },
  ];
  const across = powers(0, Math.log10(Math.max(...rows.flatMap((row) => row.runs.map(({ steps }) => steps)))));
  const parts = rows.flatMap((row, i) => {
    const place = { y: 50 + 290 * i, width: 240, height: 210, across, acrossName: "iteration" };
    const estimate = panel({
      ...place,
      x: 60,
      title: `‖A u‖ over the eigenvalue λ, ${row.name}`,
      down: linear(0, 1.05, [0, 0.5, 1]),
    });
    const distance = panel({ ...place, x: 365, title: "its distance from 1", down: powers(-14, 0, 2) });
    const residual = panel({ ...place, x: 670, title: "residual over λ", down: powers(-7, 0) });
    row.runs.forEach(({ norms, distances, residuals, lanczos }, seed) => {
      const by = (values) => values.map((value, step) => [step + 1, value]);
      const shares = (values) => values.map((value) => value / Math.abs(lanczos.value));
      const colour = COLOURS[seed % COLOURS.length];
      estimate.line(by(shares(norms)), colour);
      distance.line(by(distances), colour);
      residual.line(by(shares(residuals)), colour);
    });
    return [estimate, distance, residual];
  });
  const said = rows.map((row) => `${row.settled} of ${row.runs.length} settled ${row.name}`).join(" and ");
  return figure({
    width: WIDTH,
    height: 620,
    label:
      "Algorithm 1 by iteration, layer-wise and node-wise: its estimate of the largest eigenvalue, how far that is from Lanczos, and the residual",
    style: PANEL_STYLE,
    parts: parts.map((each) => each.svg()),
    note: `${network}, ${samples} random samples, a line a seed; λ by Lanczos; ${said}, turning by less than ${power(Math.log10(tolerance))}`,
  });
}

/** Lines of all seeds, above with the lengths of layers, below with those of rows. */
function lines({ runs, training, drawn, directions }) {
  const seeds = [...new Set(runs.map(({ seed }) => seed))];
  const parts = [];
  const names = { layer: "lengths of layers", filter: "lengths of rows" };
  Object.entries(names).forEach(([kind, name], row) => {
    const all = runs.flatMap((run) => run[kind].flat()).filter((loss) => loss > 0);
    const exponents = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)))];
    seeds.forEach((seed, column) => {
      const one = panel({
        x: 60 + column * 295,
        y: 60 + row * 250,
        width: 245,
        height: 180,
        title: `seed ${seed}, ${name}`,
        across: linear(-1, 1, [-1, -0.5, 0, 0.5, 1]),
        down: powers(...exponents),
        acrossName: "t",
        downName: column === 0 ? "training loss" : "",
      });
      for (const run of runs.filter((each) => each.seed === seed)) {
        for (const losses of run[kind])
          one.line(
            losses.map((loss, i) => [run.t[i], loss]),
            run.batches === "small" ? SMALL : LARGE,
            { opacity: 0.7, width: 1.2 },
          );
      }
      parts.push(one.svg());
    });
  });
  const legend = [
    [SMALL, "batches of 256"],
    [LARGE, "batches of 5000"],
  ].map(
    ([colour, name], i) =>
      `<path class="line" stroke="${colour}" d="M${60 + 150 * i},20h24"/><text x="${90 + 150 * i}" y="24">${name}</text>`,
  );
  return figure({
    width: WIDTH,
    height: 590,
    label: "The training loss along random lines through minima of small and of large batches",
    style: PANEL_STYLE,
    parts: [...legend, ...parts],
    note: `LeNet’s type, MNIST (${training} images, the loss of ${drawn} of them), Adam to a training accuracy of 100 %; ${directions} directions, the same through both minima`,
  });
}

writeFileSync(join(results, "rangamani-power.svg"), steps(read("rangamani-power")));
writeFileSync(join(results, "rangamani-lines.svg"), lines(read("rangamani-lines")));
