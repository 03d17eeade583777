/** What a report says of layers, of sharpness and of parameter spaces. */

import type { ReportValues } from "isoflat";
import { columnsOf } from "../figures/columns";
import { integer, number, percent } from "../format";
import { inCamelCase } from "./names";
import type { Part } from "./part";

export function petzkaPart({ petzka }: ReportValues): Part | null {
  if (!petzka) return null;
  const { kappa, kappaTrace, rhoMaxPerLayer, rhoSumPerLayer, relativeFlatness } = petzka;
  const rows = kappa.map((value, layer) => [
    value,
    kappaTrace[layer],
    rhoMaxPerLayer[layer],
    rhoSumPerLayer[layer],
    relativeFlatness[layer],
  ]);
  return {
    id: "petzka",
    title: "Layer by layer",
    about:
      "Petzka’s measures: curvature times the size of the weights. κ is ‖W‖² times a layer’s largest curvature, κτ times its total one; ρ is a neuron’s own; relative flatness weighs every pair of rows by their product, and is of dense layers.",
    plots: [],
    tables: [
      {
        name: "layers",
        title: "Petzka’s measures, layer by layer",
        head: ["layer", "κ", "κτ", "ρ, largest", "ρ, sum", "relative flatness"],
        rows: rows.map((row, layer) => [
          String(layer + 1),
          ...row.map((value) => (typeof value === "number" ? number(value, 5) : "—")),
        ]),
        columns: columnsOf(
          ["layer", "kappa", "kappa_trace", "rho_max", "rho_sum", "relative_flatness"],
          rows.map((row, layer) => [layer + 1, ...row]),
        ),
      },
    ],
  };
}

export const REGIONS = [
  ["epsilon_sharpness", "in a ball"],
  ["epsilon_sharpness_box", "in a box"],
  ["riemannian_sharpness_layerwise", "in a ball relative to each layer"],
  ["riemannian_sharpness_nodewise", "in a ball relative to each weight"],
] as const;

export function sharpnessPart({ sharpness }: ReportValues): Part | null {
  if (!sharpness) return null;
  const searched = REGIONS.map(([key, title]) => ({ key, title, found: sharpness[inCamelCase(key)] }));
  const averages = (["average_sharpness", "average_sharpness_scaled"] as const).map((key) => ({
    key,
    found: sharpness[inCamelCase(key)],
  }));
  return {
    id: "sharpness",
    title: "Sharpness",
    about:
      "How far the loss rises nearby: by the highest point that several ascents find, as (max L − L) / (1 + L), and on average over random steps. The gap is what could be gained still, to first order; the spread is the ascents’, so a wide one says that they ended on different summits.",
    plots: [],
    tables: [
      {
        name: "sharpness",
        title: "The highest point",
        head: ["region", "ε", "value", "rise", "gap", "spread", "steps", "trust"],
        rows: searched.map(({ title, found }) => [
          title,
          number(found.epsilon),
          number(found.value, 5),
          number(found.rise, 5),
          number(found.gap, 1),
          number(found.spread, 1),
          integer(found.iterations),
          [found.converged ? "converged" : "✗ not converged", found.fellBack ? `in ${found.precision}` : ""]
            .filter(Boolean)
            .join(", "),
        ]),
        columns: columnsOf(
          ["key", "epsilon", "value", "rise", "gap", "error", "spread", "iterations", "converged", "precision"],
          searched.map(({ key, found: f }) => [
            key,
            f.epsilon,
            f.value,
            f.rise,
            f.gap,
            f.error,
            f.spread,
            f.iterations,
            f.converged,
            f.precision,
          ]),
        ),
      },
      {
        name: "average-sharpness",
        title: "On average",
        head: ["steps", "σ", "value", "standard error", "trust"],
        rows: averages.map(({ found }) => [
          found.noise === "scaled" ? "scaled by each weight" : "alike in every weight",
          number(found.sigma),
          number(found.value, 5),
          number(found.standardError, 1),
          [`${integer(found.pairs)} pairs`, found.resolved ? "" : "✗ no more than rounding"].filter(Boolean).join(", "),
        ]),
        columns: columnsOf(
          ["key", "sigma", "value", "standard_error", "pairs", "resolved", "precision"],
          averages.map(({ key, found: f }) => [
            key,
            f.sigma,
            f.value,
            f.standardError,
            f.pairs,
            f.resolved,
            f.precision,
          ]),
        ),
      },
    ],
  };
}

export function spacesPart({ spaces }: ReportValues): Part | null {
  if (!spaces) return null;
  const free = spaces.free.reduce((sum, value) => sum + value, 0);
  const space = spaces.gSpace;
  const rows: [string, string, number][] = [
    ["parameters", "parameters", spaces.free.length],
    ["free with fixed weights", "free_with_fixed_weights", free],
  ];
  if (space)
    rows.push([
      "path values of the G-space, without biases",
      "g_space_dimension_without_biases",
      space.dimensionWithoutBiases,
    ]);
  if (space?.lossAfterOneSgdStep !== undefined) {
    rows.push([
      `loss after a step of ${number(space.learningRate)} in the G-space`,
      "loss_after_one_g_space_step",
      space.lossAfterOneSgdStep,
    ]);
  }
  return {
    id: "spaces",
    title: "Spaces without rescalings",
    about: `Coordinates that no rescaling of units moves (Jestädt 2025): ${percent(1 - free / spaces.free.length, 2)} of the parameters are redundant.`,
    plots: [],
    tables: [
      {
        name: "spaces",
        title: "Their sizes",
        head: ["what", "value"],
        rows: rows.map(([title, , value]) => [title, Number.isInteger(value) ? integer(value) : number(value, 5)]),
        columns: columnsOf(
          ["name", "value"],
          rows.map(([, name, value]) => [name, value]),
        ),
      },
    ],
  };
}
