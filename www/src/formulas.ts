/**
 * What every measure is, as a formula in TeX with its symbols, and the papers that it is from. All of them in one convention:
 * losses are means over the samples, and ∇ and H are of that mean. The build makes MathML of it (`virtual:formulas`), so that
 * neither TeX nor what reads it comes with the page.
 */

import type { MeasureKey } from "isoflat";
import type { ReferenceId } from "./references";

export const SYMBOLS = {
  theta: ["\\theta", "all weights and biases, as one vector"],
  loss: ["L", "the mean loss over the samples"],
  samples: ["N", "the number of samples"],
  sample: ["\\ell(f_\\theta(x_n),y_n)", "the loss of sample n: of what the network answers to x, against the target y"],
  gradient: ["\\nabla L", "the gradient of the loss in θ"],
  hessian: ["H", "the Hessian ∇²L: all second derivatives of the loss in θ"],
  eigenvalues: ["\\lambda_i", "the eigenvalues: curvatures along directions at right angles"],
  largest: ["\\lambda_{\\max}", "the largest eigenvalue"],
  smallest: ["\\lambda_{\\min}", "the smallest eigenvalue"],
  norm: ["\\lVert\\cdot\\rVert_2", "of a vector its length, of a symmetric matrix its eigenvalue of largest magnitude"],
  frobenius: ["\\lVert\\cdot\\rVert_F", "the root of the sum of the squared entries"],
  trace: ["\\operatorname{Tr}", "the trace: the sum of the diagonal, which is that of the eigenvalues"],
  gaussNewton: ["G", "the Gauss–Newton matrix"],
  jacobian: ["J_n", "the derivatives of the outputs of sample n in θ"],
  outputHessian: ["\\nabla_f^2\\ell_n", "the second derivatives of its loss in the outputs"],
  epsilon: ["\\varepsilon", "how far the weights may go: 0.001 here"],
  step: ["\\Delta", "a step of the weights"],
  subspaces: ["A_k", "columns at right angles that span the k-th of K random subspaces: 5 of dimension 20"],
  layerMetric: ["D", "diagonal: for each entry the length of its block, a whole weight matrix or bias vector"],
  nodeMetric: ["D", "diagonal: for each entry its own magnitude |θ_i|"],
  blocks: ["C", "the connection term: a block for each weight matrix or bias vector w, with its gradient g"],
  entries: ["\\operatorname{diag}(\\theta_i\\,\\partial_iL)", "the connection term: each entry times its gradient"],
  identity: ["I", "the identity matrix"],
  tangent: ["\\xi", "a step of the weights, whose length is taken relative to theirs"],
  weights: ["W_l", "the weight matrix of layer l"],
  layerHessian: ["H_l", "the Hessian’s block over the weights of layer l"],
  column: ["w_{l,j}", "column j of W_l: the weights that leave unit j of the layer before"],
  columnHessian: ["H_{l,j}", "the Hessian’s block over that column"],
  nodeFactors: ["\\Lambda", "a positive factor for each unit or channel of a hidden layer"],
  layerFactors: ["\\lambda", "a positive factor for each layer, with product 1"],
  rescaled: ["T", "the rescaling by these factors: it leaves the function as it is"],
  rows: ["w_{l,s}", "row s of W_l: the weights that enter unit s"],
  rowsHessian: ["H_{l,s,s'}", "the Hessian’s block between two rows"],
  entry: ["w_{l,ij}", "entry i, j of W_l: from unit j to unit i, or the window between two channels"],
  entryHessian: ["H_{l,ij}", "the second derivative of the loss in that entry, over a window their sum"],
  entryFactors: ["s,s'", "a positive factor for each row and each column of W_l"],
  path: ["p", "a path from an input to an output, and the weights along it"],
  noise: ["z", "Gaussian noise of mean 0 and variance 1 for each weight"],
  plainSigma: ["\\sigma", "the noise’s size: 0.01 here"],
  relativeSigma: ["\\sigma", "the noise’s size, relative to the weight: 0.05 here"],
  entrywise: ["\\odot", "entry by entry"],
} as const satisfies Record<string, readonly [tex: string, meaning: string]>;

export type SymbolId = keyof typeof SYMBOLS;

export interface Formula {
  tex: string;
  symbols: readonly SymbolId[];
  papers: readonly ReferenceId[];
}

/** A definition may need another one: each is a piece, which narrow windows set on a line of its own. */
export const piecesOf = (tex: string): string[] => tex.split(",\\quad ");

const formula = (tex: string, symbols: readonly SymbolId[], papers: readonly ReferenceId[] = []): Formula => ({
  tex,
  symbols,
  papers,
});

/** Of H, of G and of D H D alike. */
const norm2 = (of: string): string => `\\lVert ${of}\\rVert_2=\\max_i\\bigl|\\lambda_i(${of})\\bigr|`;
const trace = (of: string): string => `\\operatorname{Tr}${of}=\\sum_i\\lambda_i(${of})`;
const frobenius = (of: string): string => `\\lVert ${of}\\rVert_F=\\sqrt{\\textstyle\\sum_i\\lambda_i(${of})^2}`;
const GAUSS_NEWTON = "G=\\frac1N\\sum_{n=1}^NJ_n^\\top\\,\\nabla_f^2\\ell_n\\,J_n";
const CONNECTION = "C_w=wg^\\top+gw^\\top-(w\\cdot g)\\,I";
const ENTRIES = "\\operatorname{diag}(\\theta_i\\,\\partial_iL)";

/** The highest point of a region, over 1 + L. */
const highest = (region: string, step: string): string =>
  `\\max_{${region}}\\frac{L(\\theta+${step})-L(\\theta)}{1+L(\\theta)}`;
const RISE: SymbolId[] = ["loss", "theta", "epsilon"];

const KAPPA = "\\kappa_l=\\lVert W_l\\rVert_F^2\\,\\lambda_{\\max}(H_l)";
const KAPPA_TRACE = "\\kappa_{\\tau,l}=\\lVert W_l\\rVert_F^2\\operatorname{Tr}H_l";
const RHO = "\\rho_l(j)=w_{l,j}^\\top H_{l,j}\\,w_{l,j}";
const IN_LAYERS: SymbolId[] = ["weights", "layerHessian", "frobenius"];
const IN_COLUMNS: SymbolId[] = ["column", "columnHessian"];

const LAYERWISE: SymbolId[] = ["hessian", "layerMetric"];
const NODEWISE: SymbolId[] = ["hessian", "nodeMetric"];

export const FORMULAS: Record<MeasureKey, Formula> = {
  loss: formula("L(\\theta)=\\frac1N\\sum_{n=1}^N\\ell(f_\\theta(x_n),y_n)", ["theta", "samples", "sample"]),
  gradient_norm: formula("\\lVert\\nabla L(\\theta)\\rVert_2", ["gradient", "norm"]),

  "hessian.max_eigenvalue": formula("\\lambda_{\\max}(H)", ["largest", "hessian"], ["dinh"]),
  "hessian.min_eigenvalue": formula("\\lambda_{\\min}(H)", ["smallest", "hessian"], ["dinh"]),
  "hessian.spectral_norm": formula(norm2("H"), ["hessian", "norm", "eigenvalues"], ["dinh"]),
  "hessian.trace": formula(trace("H"), ["hessian", "trace", "eigenvalues"], ["dinh"]),
  "hessian.frobenius_norm": formula(frobenius("H"), ["hessian", "frobenius", "eigenvalues"], ["dinh"]),
  "gauss_newton.max_eigenvalue": formula(`\\lambda_{\\max}(G),\\quad ${GAUSS_NEWTON}`, [
    "largest",
    "gaussNewton",
    "samples",
    "jacobian",
    "outputHessian",
  ]),
  "gauss_newton.trace": formula(`${trace("G")},\\quad ${GAUSS_NEWTON}`, [
    "trace",
    "gaussNewton",
    "eigenvalues",
    "samples",
    "jacobian",
    "outputHessian",
  ]),
  "gauss_newton.frobenius_norm": formula(`${frobenius("G")},\\quad ${GAUSS_NEWTON}`, [
    "frobenius",
    "gaussNewton",
    "eigenvalues",
    "samples",
    "jacobian",
    "outputHessian",
  ]),

  epsilon_sharpness_quadratic: formula(
    "\\frac{\\lVert H\\rVert_2\\,\\varepsilon^2}{2\\,(1+L)}",
    ["hessian", "norm", "epsilon", "loss"],
    ["dinh", "rangamani"],
  ),
  epsilon_sharpness: formula(
    highest("\\lVert\\Delta\\rVert_2\\le\\varepsilon", "\\Delta"),
    [...RISE, "step", "norm"],
    ["keskar", "dinh"],
  ),
  epsilon_sharpness_subspace: formula(
    `\\frac1K\\sum_{k=1}^K\\,${highest("\\lVert z\\rVert_2\\le\\varepsilon", "A_kz")}`,
    [...RISE, "subspaces"],
    ["keskar"],
  ),
  epsilon_sharpness_box: formula(
    highest("|\\Delta_i|\\le\\varepsilon(|\\theta_i|+1)", "\\Delta"),
    [...RISE, "step"],
    ["keskar"],
  ),

  "riemannian.layerwise_flat.spectral_norm": formula(
    norm2("DHD"),
    [...LAYERWISE, "norm", "eigenvalues"],
    ["rangamani"],
  ),
  "riemannian.layerwise_levi_civita.spectral_norm": formula(
    `\\lVert DHD+C\\rVert_2,\\quad ${CONNECTION}`,
    [...LAYERWISE, "blocks", "identity", "norm"],
    ["rangamani"],
  ),
  "riemannian.nodewise_flat.spectral_norm": formula(norm2("DHD"), [...NODEWISE, "norm", "eigenvalues"], ["rangamani"]),
  "riemannian.nodewise_levi_civita.spectral_norm": formula(
    `\\lVert DHD+${ENTRIES}\\rVert_2`,
    [...NODEWISE, "entries", "norm"],
    ["rangamani"],
  ),
  "riemannian.layerwise_flat.trace": formula(
    trace("DHD"),
    [...LAYERWISE, "trace", "eigenvalues"],
    ["rangamani", "petzka"],
  ),
  "riemannian.layerwise_levi_civita.trace": formula(
    `\\operatorname{Tr}(DHD+C),\\quad ${CONNECTION}`,
    [...LAYERWISE, "blocks", "identity", "trace"],
    ["rangamani"],
  ),
  "riemannian.nodewise_flat.trace": formula(trace("DHD"), [...NODEWISE, "trace", "eigenvalues"], ["rangamani"]),
  "riemannian.nodewise_levi_civita.trace": formula(
    `\\operatorname{Tr}\\bigl(DHD+${ENTRIES}\\bigr)`,
    [...NODEWISE, "entries", "trace"],
    ["rangamani"],
  ),
  "riemannian.layerwise_gradient_norm": formula(
    "\\lVert D\\,\\nabla L\\rVert_2",
    ["gradient", "layerMetric", "norm"],
    ["rangamani"],
  ),
  "riemannian.nodewise_gradient_norm": formula(
    "\\lVert D\\,\\nabla L\\rVert_2",
    ["gradient", "nodeMetric", "norm"],
    ["rangamani"],
  ),
  "riemannian_sharpness.layerwise": formula(
    highest("\\lVert D^{-1}\\xi\\rVert_2\\le\\varepsilon", "\\xi"),
    [...RISE, "layerMetric", "tangent"],
    ["rangamani"],
  ),
  "riemannian_sharpness.nodewise": formula(
    highest("\\lVert D^{-1}\\xi\\rVert_2\\le\\varepsilon", "\\xi"),
    [...RISE, "nodeMetric", "tangent"],
    ["rangamani", "kwon"],
  ),

  "petzka.kappa_max": formula(`\\max_l\\kappa_l,\\quad ${KAPPA}`, [...IN_LAYERS, "largest"], ["petzka"]),
  "petzka.kappa_sum": formula(`\\sum_l\\kappa_l,\\quad ${KAPPA}`, [...IN_LAYERS, "largest"], ["petzka"]),
  "petzka.kappa_trace_max": formula(
    `\\max_l\\kappa_{\\tau,l},\\quad ${KAPPA_TRACE}`,
    [...IN_LAYERS, "trace"],
    ["petzka"],
  ),
  "petzka.kappa_trace_sum": formula(
    `\\sum_l\\kappa_{\\tau,l},\\quad ${KAPPA_TRACE}`,
    [...IN_LAYERS, "trace"],
    ["petzka"],
  ),
  "petzka.rho_max": formula(`\\max_{l,j}\\rho_l(j),\\quad ${RHO}`, IN_COLUMNS, ["petzka"]),
  "petzka.rho_sum": formula(`\\sum_{l,j}\\rho_l(j),\\quad ${RHO}`, IN_COLUMNS, ["petzka"]),
  "petzka.relative_flatness_sum": formula(
    "\\sum_l\\sum_{s,s'}\\langle w_{l,s},w_{l,s'}\\rangle\\operatorname{Tr}H_{l,s,s'}",
    ["rows", "rowsHessian", "trace"],
    ["petzka2021"],
  ),

  "least_trace.layerwise": formula(
    "\\inf_\\lambda\\operatorname{Tr}H(T_\\lambda\\theta)",
    ["hessian", "trace", "layerFactors", "rescaled", "theta"],
    ["ibayashi"],
  ),
  "least_trace.nodewise": formula(
    "\\inf_\\Lambda\\operatorname{Tr}H(T_\\Lambda\\theta)",
    ["hessian", "trace", "nodeFactors", "rescaled", "theta"],
    ["ibayashi"],
  ),
  normalized_sharpness: formula(
    "\\sum_l\\inf_{s,s'>0}\\sum_{i,j}\\Bigl(H_{l,ij}\\,s_is'_j+\\frac{w_{l,ij}^2}{s_is'_j}\\Bigr)",
    ["entryHessian", "entry", "entryFactors"],
    ["tsuzuku", "ibayashi"],
  ),

  fisher_rao_norm: formula(
    `\\theta^\\top G\\,\\theta,\\quad ${GAUSS_NEWTON}`,
    ["theta", "gaussNewton", "samples", "jacobian", "outputHessian"],
    ["liang"],
  ),
  path_norm_squared: formula("\\sum_p\\prod_{w\\in p}w^2", ["path"], ["neyshabur2015", "pathSgd"]),
  average_sharpness: formula(
    "\\mathbb E_z\\bigl[L(\\theta+\\sigma z)\\bigr]-L(\\theta)",
    ["loss", "theta", "noise", "plainSigma"],
    ["neyshabur2017"],
  ),
  average_sharpness_scaled: formula(
    "\\mathbb E_z\\bigl[L(\\theta+\\sigma\\,|\\theta|\\odot z)\\bigr]-L(\\theta)",
    ["loss", "theta", "noise", "relativeSigma", "entrywise"],
    ["neyshabur2017"],
  ),
};
