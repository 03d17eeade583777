/**
 * Draws docs/results/petzka-mnist.svg and petzka-cifar10.svg from the JSON files beside them, which `cargo run --release --example papers --
 * petzka-mnist` and `-- petzka-cifar10` write: above κ_τ of layers against the generalisation gap, a point a run, below how every measure
 * goes with the gap.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { figure } from "./lib/figure.mjs";
import { root } from "./lib/process.mjs";

const results = join(root, "docs", "results");
/** Of what layers κ_τ is drawn, counted from 1. */
const FIGURES = {
  "petzka-mnist": { layers: [1, 2, 3, 4], network: "784-50-50-50-30-10, MNIST" },
  "petzka-cifar10": { layers: [2, 3, 4, 5], network: "LeNet5, CIFAR-10" },
};
/** By size of batches, the smallest first. */
const COLOURS = ["#c2571a", "#8a6d1c", "#2e8b57", "#2f6fb5"];
const WIDTH = 920;

const gap = (run) => run.test_loss - run.training_loss;
const round = (x) => Number(x.toFixed(1));

/** From a range of numbers to a range of pixels, with a little room at both ends. */
function scale(values, from, to) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low || 1) * 0.06;
  return (x) => round(from + ((x - low + room) / (high - low + 2 * room)) * (to - from));
}

/** One layer's. */
function scatter({ kept, correlations, colour }, layer, { x, y, width, height, isFirst }) {
  const value = (run) => run.at.layers.kappa_trace[layer - 1];
  const across = scale(kept.map(value), x, x + width);
  const down = scale(kept.map(gap), y + height, y);
  const row = correlations.find(({ measure }) => measure === `petzka.kappa_trace, layer ${layer}`);
  const points = kept.map(
    (run) =>
      `<circle cx="${across(value(run))}" cy="${down(gap(run))}" r="3.5" fill="${colour(run.batch)}" opacity="0.8"/>`,
  );
  const ends = [Math.min, Math.max].map((of) => of(...kept.map(value)));
  const label = (number, anchor) =>
    `<text class="tick" x="${across(number)}" y="${y + height + 15}" text-anchor="${anchor}">${number.toPrecision(2)}</text>`;
  return (
    `<rect class="frame" x="${x}" y="${y}" width="${width}" height="${height}"/>` +
    `<text class="title" x="${x}" y="${y - 9}">layer ${layer}: r = ${row.pearson.value.toFixed(2)}</text>` +
    points.join("") +
    label(ends[0], "start") +
    label(ends[1], "end") +
    (isFirst
      ? [Math.min, Math.max]
          .map((of) => of(...kept.map(gap)))
          .map((g) => `<text class="tick" x="${x - 5}" y="${down(g) + 4}" text-anchor="end">${g.toFixed(3)}</text>`)
          .join("")
      : "")
  );
}

/** τ of all measures, with its interval. */
function ranking(rows, y) {
  const [left, right, step] = [330, WIDTH - 40, 15];
  const at = (tau) => round(left + ((tau + 1) / 2) * (right - left));
  const bottom = y + rows.length * step;
  const ticks = [-1, -0.5, 0, 0.5, 1].map(
    (tau) =>
      `<line class="grid" x1="${at(tau)}" x2="${at(tau)}" y1="${y - 6}" y2="${bottom}"/>` +
      `<text class="tick" x="${at(tau)}" y="${bottom + 14}" text-anchor="middle">${String(tau).replace("-", "−")}</text>`,
  );
  const lines = rows.map(({ measure, kendall: { value, low, high }, rescaled }, i) => {
    const down = y + i * step + 4;
    // Where it has not moved, the ring is around the point.
    const after = rescaled.kendall
      ? `<circle class="after" cx="${at(rescaled.kendall.value)}" cy="${down}" r="5"/>`
      : "";
    return (
      `<text class="small" x="${left - 10}" y="${down + 3}" text-anchor="end">${measure}</text>` +
      `<line class="line" x1="${at(low)}" x2="${at(high)}" y1="${down}" y2="${down}"/>` +
      `<circle cx="${at(value)}" cy="${down}" r="3" fill="#2f6fb5"/>${after}`
    );
  });
  return { svg: ticks.join("") + lines.join(""), bottom: bottom + 20 };
}

function draw(name) {
  const found = JSON.parse(readFileSync(join(results, `${name}.json`), "utf8"));
  const { runs, correlations, largest_loss: largest, training, epochs } = found;
  const kept = runs.filter((run) => run.training_loss <= largest);
  const batches = [...new Set(runs.map(({ batch }) => batch))].sort((a, b) => a - b);
  const colour = (batch) => COLOURS[batches.indexOf(batch)];
  const { layers, network } = FIGURES[name];
  const panels = layers.map((layer, i) =>
    scatter({ kept, correlations, colour }, layer, {
      x: 50 + 215 * i,
      y: 70,
      width: 185,
      height: 150,
      isFirst: i === 0,
    }),
  );
  const rows = correlations.filter(({ measure }) => !measure.includes(", layer"));
  const { svg, bottom } = ranking(rows, 300);
  const legend = batches.map(
    (batch, i) =>
      `<circle cx="${600 + 80 * i}" cy="26" r="4" fill="${colour(batch)}"/><text class="label" x="${609 + 80 * i}" y="30">${batch}</text>`,
  );
  return figure({
    width: WIDTH,
    height: bottom + 30,
    label: "κ_τ of four layers against the generalisation gap, and Kendall's τ of every measure with the gap",
    style:
      ".grid{stroke:#ddd}.frame{fill:none;stroke:#ccc}.line{stroke:#2f6fb5;stroke-width:1.5}" +
      ".after{fill:none;stroke:#c2571a;stroke-width:1.5}",
    parts: [
      `<text class="title" x="50" y="30">test loss − training loss against κ_τ, by batch size:</text>`,
      ...legend,
      ...panels,
      `<text class="title" x="50" y="278">Kendall’s τ with the gap and its 95 % interval; rings: after a rescaling of the layers that changes no function</text>`,
      svg,
    ],
    note: `${network} (${training} images), ${epochs} epochs of SGD at most; ${kept.length} of ${runs.length} runs, those with a training loss of at most ${largest}`,
  });
}

for (const name of Object.keys(FIGURES)) writeFileSync(join(results, `${name}.svg`), draw(name));
