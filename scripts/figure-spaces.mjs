/**
 * Draws docs/results/spaces.svg and spaces-cifar10.svg from the JSON files beside them, which `cargo run --release --example spaces` and the
 * same with --cifar10 write. Its other experiments have no figures here. The README shows the first.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { figure } from "./lib/figure.mjs";
import { root } from "./lib/process.mjs";

const results = join(root, "docs", "results");
const METHODS = [
  { name: "SGD", colour: "#c2571a", mark: "circle" },
  { name: "G-SGD", colour: "#2f6fb5", mark: "square" },
  { name: "Fixed SGD", colour: "#2e8b57", mark: "diamond" },
];
/** On the left alone. */
const AS_DRAWN = { name: "G-SGD, w_j as drawn", colour: "#8a8f98", mark: "square", dashes: "5 4" };
const RATES = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5];
/** Of losses: from, to, and what stands at the axis. */
const LOSSES = {
  MNIST: { low: 0.05, high: 10, ticks: [0.1, 1, 10] },
  "CIFAR-10": { low: 1.3, high: 4, ticks: [1.5, 2, 2.5, 3, 4] },
};
const [WIDTH, HEIGHT] = [920, 330];

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

const power = (rate) =>
  `10${[..."⁰¹²³⁴⁵"][Math.round(-Math.log10(rate))] ? `⁻${[..."⁰¹²³⁴⁵"][Math.round(-Math.log10(rate))]}` : ""}`;

/** A panel with a logarithmic loss axis. */
function panel({ x, y, width, height, title, ticks, losses: { low, high, ticks: marked }, labelled = true }) {
  const clamp = (loss) => Math.min(Math.max(Number.isFinite(loss) ? loss : high, low), high);
  const at = (loss) => y + height * (1 - Math.log(clamp(loss) / low) / Math.log(high / low));
  const lines = marked.map(
    (loss) =>
      `<line class="grid" x1="${x}" x2="${x + width}" y1="${at(loss)}" y2="${at(loss)}"/>` +
      (labelled
        ? `<text class="tick" x="${x - 6}" y="${at(loss) + 4}" text-anchor="end">${loss === high ? `≥ ${high}` : loss}</text>`
        : ""),
  );
  const marks = ticks.map(
    ([place, text]) => `<text class="tick" x="${place}" y="${y + height + 16}" text-anchor="middle">${text}</text>`,
  );
  return {
    at,
    svg: `<text class="title" x="${x}" y="${y - 10}">${title}</text>${lines.join("")}${marks.join("")}`,
  };
}

function mark(kind, x, y, colour) {
  if (kind === "circle") return `<circle cx="${x}" cy="${y}" r="4" fill="${colour}"/>`;
  const turn = kind === "diamond" ? ` transform="rotate(45 ${x} ${y})"` : "";
  return `<rect x="${x - 3.5}" y="${y - 3.5}" width="7" height="7" fill="${colour}"${turn}/>`;
}

function draw({ runs, epochs, training, seeds, data = "MNIST" }) {
  const axis = LOSSES[data];
  /** Losses by epoch of every seed; of a run that diverged infinite from then on. */
  const losses = (method, rate) =>
    runs
      .filter((found) => found.method === method && found.learning_rate === rate)
      .map((found) => Array.from({ length: epochs }, (_, e) => found.validation_loss[e] || Number.POSITIVE_INFINITY));
  const best = (method, rate) => losses(method, rate).map((curve) => Math.min(...curve));
  const [top, height] = [70, 200];
  const overview = { x: 50, width: 290 };
  const rateAt = (i) => overview.x + 20 + (i * (overview.width - 40)) / (RATES.length - 1);
  const left = panel({
    ...overview,
    y: top,
    height,
    title: "best test loss against learning rate",
    losses: axis,
    ticks: RATES.map((rate, i) => [rateAt(i), power(rate)]),
  });
  const parts = [left.svg];
  [...METHODS, AS_DRAWN].forEach(({ name, colour, mark: kind, dashes }, m) => {
    const points = RATES.map((rate, i) => [rateAt(i), left.at(mean(best(name, rate)))]);
    const dashed = dashes ? ` stroke-dasharray="${dashes}"` : "";
    const line = points.map((p) => p.join(",")).join(" ");
    parts.push(`<polyline class="line" stroke="${colour}"${dashed} points="${line}"/>`);
    RATES.forEach((rate, i) => {
      const [low, high] = [Math.min, Math.max].map((of) => left.at(of(...best(name, rate))));
      parts.push(
        `<line class="line" stroke="${colour}" x1="${rateAt(i)}" x2="${rateAt(i)}" y1="${low}" y2="${high}"/>`,
      );
    });
    parts.push(...points.map(([px, py]) => mark(kind, px, py, colour)));
    const legend = 50 + 105 * m;
    parts.push(mark(kind, legend + 4, 26, colour), `<text class="label" x="${legend + 14}" y="30">${name}</text>`);
  });
  METHODS.forEach(({ name, colour }, m) => {
    const [x, width] = [400 + 180 * m, 130];
    const epochAt = (epoch) => x + ((epoch - 1) * width) / (epochs - 1);
    const right = panel({
      x,
      y: top,
      width,
      height,
      title: `${name}, by epoch`,
      losses: axis,
      ticks: [1, epochs].map((epoch) => [epochAt(epoch), epoch]),
      labelled: m === 0,
    });
    parts.push(right.svg);
    RATES.forEach((rate, i) => {
      const curves = losses(name, rate);
      const means = Array.from({ length: epochs }, (_, e) => mean(curves.map((curve) => curve[e])));
      const points = means.map((loss, e) => `${epochAt(e + 1).toFixed(1)},${right.at(loss).toFixed(1)}`);
      const opacity = 1 - 0.17 * i;
      parts.push(`<polyline class="line" stroke="${colour}" opacity="${opacity}" points="${points.join(" ")}"/>`);
    });
    const ends = RATES.map((rate) => ({ rate, y: right.at(mean(losses(name, rate).map((curve) => curve.at(-1)))) }));
    ends.sort((a, b) => a.y - b.y);
    // Labels of lines that end together stand below each other.
    for (let i = 1; i < ends.length; i++) ends[i].y = Math.max(ends[i].y, ends[i - 1].y + 11);
    for (const { rate, y: end } of ends)
      parts.push(`<text class="small" x="${x + width + 4}" y="${end + 3}">${power(rate)}</text>`);
  });
  return figure({
    width: WIDTH,
    height: HEIGHT,
    label: "Test loss of SGD on the weights, on the G-space and on fixed weights, at five learning rates",
    style: ".grid{stroke:#ccc}.line{fill:none;stroke-width:1.8}",
    parts,
    note: `${data === "MNIST" ? "784-64×4-10" : "3072-64×5-10"} without biases, ${data} (${training} images, pixels in [−1, 1]), batches of 64, ${epochs} epochs; means of ${seeds} initialisations, lowest to highest`,
  });
}

for (const name of ["spaces", "spaces-cifar10"]) {
  const found = JSON.parse(readFileSync(join(results, `${name}.json`), "utf8"));
  writeFileSync(join(results, `${name}.svg`), draw(found));
}
