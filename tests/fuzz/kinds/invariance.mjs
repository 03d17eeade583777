/** Invariance tables over inputs of all sizes: no cell may say "changed" where theory says that nothing does. */

import { faultsOfAnswers } from "../compute.mjs";
import { dense, file } from "../problems.mjs";

const scales = [1e-6, 1e-4, 1e-3, 1e-2, 0.1, 1, 1, 10, 100, 255, 1000, 1e4, 1e5, 1e6];
const keys = [
  "loss",
  "gradient_norm",
  "hessian.trace",
  "hessian.frobenius_norm",
  "hessian.max_eigenvalue",
  "petzka.kappa_sum",
  "petzka.kappa_trace_sum",
  "petzka.rho_sum",
  "petzka.rho_max",
  "petzka.relative_flatness_sum",
  "least_trace.layerwise",
  "least_trace.nodewise",
  "normalized_sharpness",
  "fisher_rao_norm",
  "path_norm_squared",
  "riemannian.layerwise_flat.trace",
  "riemannian.nodewise_flat.spectral_norm",
  "riemannian.nodewise_levi_civita.trace",
  "riemannian.layerwise_levi_civita.spectral_norm",
  "riemannian.nodewise_gradient_norm",
  "riemannian_sharpness.nodewise",
  "average_sharpness_scaled",
];

function generate(random) {
  const hidden = Array.from({ length: random.between(1, 3) }, () => random.between(2, 24));
  const low = random.pick([0.5, 0.1, 1e-2, 1e-4]);
  const draws = { seed: random.int(1000), low, high: 1 / low };
  const network = dense([random.between(2, 40), ...hidden, random.between(2, 6)], {
    activation: random.chance(0.8) ? { type: "relu" } : { type: "leaky_relu", slope: 0.1 },
    bias: random.chance(0.6),
  });
  const all = [
    { type: "random_layerwise", ...draws },
    { type: "random_nodewise", ...draws },
    { type: "random_permutation", seed: 3 },
    {
      type: "composition",
      of: [
        { type: "random_nodewise", ...draws },
        { type: "random_permutation", seed: 1 },
      ],
    },
  ];
  return {
    precision: random.chance(0.6) ? "f64" : "f32",
    description: {
      network,
      loss: random.pick(["cross_entropy", "cross_entropy", "squared_error"]),
      samples: random.between(2, 30),
      seed: random.int(1e6),
      inputScale: random.pick(scales),
      weightScale: random.chance(0.8) ? 1 : random.pick([0.01, 100, 1e-30, 1e30, 1e100]),
    },
    transformations: random.some(all, random.between(1, 2)),
    measures: random.some(keys, random.between(3, 6)),
    seed: random.int(1000),
  };
}

/** What is wrong with a cell, whatever its numbers are. */
function faultOf(cell, precision) {
  const { expected, verdict, tolerance, before, after, relativeChange, reason } = cell;
  const said = `${precision}: ${before} → ${after}, change ${relativeChange?.toExponential?.(1)}, tolerance ${tolerance?.toExponential?.(1)}`;
  if (expected === "invariant" && verdict === "changed")
    return { failure: "false-alarm", detail: `${said} (${reason})` };
  if (verdict !== "unresolved" && !(tolerance >= 0 && Number.isFinite(tolerance)))
    return { failure: "tolerance", detail: said };
  // A tolerance that swallows everything finds nothing out: then it is unresolved.
  if (
    expected === "invariant" &&
    verdict === "invariant" &&
    precision === "f64" &&
    tolerance > 0.5 &&
    before !== 0 &&
    !/standard error/.test(reason)
  )
    return { failure: "blunt", detail: said };
  if (expected === "changes" && verdict === "invariant" && relativeChange > 0.1 && tolerance < relativeChange)
    return { failure: "overlooked", detail: said };
  if (typeof reason !== "string" || /NaN|inf\b|Infinity/.test(reason))
    return { failure: "reason", detail: `${said}: ${reason}` };
  // Where both numbers are there and of moderate size, nothing has overflowed. JSON has null for what is not finite.
  const isModerate = (value) => typeof value === "number" && Math.abs(value) < 1e100;
  if (/overflow/.test(reason) && isModerate(before) && isModerate(after))
    return { failure: "reason", detail: `${said}: ${reason}` };
  return undefined;
}

async function execute({ description, precision, transformations, measures, seed }, host) {
  const work = [{ do: "invariance", options: { transformations, measures, seed } }];
  const answers = await host.compute({ file: file(description), precision, work });
  const faults = faultsOfAnswers(answers, work);
  const cells = answers[1]?.ok?.cells ?? [];
  for (const cell of cells) {
    const fault = faultOf(cell, precision);
    if (fault !== undefined) faults.push({ ...fault, where: cell.measure });
  }
  return { faults, calls: 1, cells: cells.length };
}

export default { name: "invariance", targets: ["wasm", "cpu", "gpu"], generate, execute };
