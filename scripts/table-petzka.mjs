/**
 * Writes docs/papers/correlations.md from docs/results/petzka-mnist.json and petzka-cifar10.json, which `cargo run --release --example papers --
 * petzka-mnist` and `-- petzka-cifar10` write: how every measure goes with the generalisation gap, as numbers.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./lib/process.mjs";

const docs = join(root, "docs");
const PARTS = [
  { name: "petzka-mnist", title: "784-50-50-50-30-10 on MNIST" },
  { name: "petzka-cifar10", title: "LeNet5 on CIFAR-10" },
];

const two = (value) => value.toFixed(2).replace("-", "−");
const shown = (found) => (found ? `${two(found.value)} (${two(found.low)} to ${two(found.high)})` : "none");

function part({ name, title }) {
  const { correlations, runs, largest_loss } = JSON.parse(readFileSync(join(docs, "results", `${name}.json`), "utf8"));
  const kept = runs.filter(({ training_loss }) => training_loss <= largest_loss).length;
  const fewer = correlations.some(({ runs }) => runs < kept);
  const rows = correlations.map(({ measure, runs, kendall, pearson, rescaled }) => {
    const numbers = [kendall, pearson, rescaled.kendall, rescaled.pearson].map(shown);
    return `| ${[`\`${measure}\``, ...numbers, ...(fewer ? [runs] : [])].join(" | ")} |`;
  });
  const head = ["measure", "τ", "r", "τ, rescaled", "r, rescaled", ...(fewer ? ["networks"] : [])];
  return [
    `## ${title}`,
    `${kept} of ${runs.length} networks, those with a training loss of at most ${largest_loss}.`,
    [`| ${head.join(" | ")} |`, `| ${head.map(() => "---").join(" | ")} |`, ...rows].join("\n"),
  ].join("\n\n");
}

writeFileSync(
  join(docs, "papers", "correlations.md"),
  `${[
    "# Which measure goes with the generalisation gap?",
    "Kendall's τ and Pearson's r of every measure with the gap between test and training loss, with their 95 % intervals, over the networks of [Petzka's figures](README.md), at the weights as they were trained and after a rescaling of the layers that changes no function. Written by `node scripts/table-petzka.mjs` from [`docs/results`](../results). Measures of layers are counted as layers with parameters are, from 1.",
    ...PARTS.map(part),
  ].join("\n\n")}\n`,
);
