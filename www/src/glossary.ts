/** Words of the trade, each in a sentence or two for who meets it for the first time; and where they stand in a text. */

export interface Term {
  /** As it is called where it is explained. */
  name: string;
  about: string;
}

export const GLOSSARY = {
  hessian: {
    name: "Hessian",
    about: "The matrix of all second derivatives of the loss: how it curves along every direction through the weights.",
  },
  gaussNewton: {
    name: "Gauss–Newton matrix",
    about:
      "The part of the Hessian that comes from the loss’s own curvature in the outputs. It is never negative, and near a good fit it is nearly all of the Hessian.",
  },
  eigenvalue: {
    name: "Eigenvalue",
    about:
      "A symmetric matrix stretches a few directions, at right angles to each other, without turning them; an eigenvalue is by how much. Of a Hessian it is the curvature along such a direction.",
  },
  spectralNorm: {
    name: "Spectral norm",
    about: "The largest eigenvalue in magnitude: the curvature in the steepest direction.",
  },
  trace: {
    name: "Trace",
    about: "The sum of a matrix’s diagonal, which is the sum of its eigenvalues: all the curvature together.",
  },
  frobenius: {
    name: "Frobenius norm",
    about: "The root of the sum of all squared entries, which is that of the squared eigenvalues.",
  },
  gradient: {
    name: "Gradient",
    about: "The derivatives of the loss in all weights: the direction in which it rises fastest. At a minimum it is 0.",
  },
  riemannian: {
    name: "Riemannian",
    about:
      "Measured with a ruler that changes from place to place. Here a step’s length is taken relative to the weights that it changes, so that rescaling them changes ruler and step alike.",
  },
  leviCivita: {
    name: "Levi-Civita",
    about:
      "The way of comparing directions at neighbouring points that fits the ruler. It adds a term with the gradient to the curvature, so that at a minimum it makes no difference.",
  },
  layerwise: {
    name: "Layer-wise",
    about:
      "Layer by layer: a whole weight matrix or bias vector at once is multiplied by one factor, or is the unit in which lengths are taken.",
  },
  nodewise: {
    name: "Node-wise",
    about:
      "Neuron by neuron: what enters a unit is multiplied by a factor of its own, and what leaves it divided. Lengths are then taken relative to each single weight.",
  },
  permutation: {
    name: "Permutation",
    about: "The hidden units in another order: the same network with its neurons numbered anew.",
  },
  kappa: {
    name: "κ",
    about: "Kappa, Petzka’s measure of a layer: the largest curvature in its weights, times their squared length.",
  },
  kappaTrace: {
    name: "κ_τ",
    about: "Kappa tau: as κ, with the trace, which is all the layer’s curvature, in the place of the largest.",
  },
  rho: {
    name: "ρ",
    about: "Rho, Petzka’s measure of a neuron: the curvature along the weights that leave it, at their own length.",
  },
  relativeFlatness: {
    name: "Relative flatness",
    about:
      "Petzka’s later measure: the curvature between every two neurons of a layer, weighed by how much their weights point the same way.",
  },
  epsilonSharpness: {
    name: "ε-sharpness",
    about: "How far the loss rises at most when the weights move by no more than ε, relative to 1 + the loss.",
  },
  fisherRao: {
    name: "Fisher–Rao norm",
    about: "The length of the weights, counted by how much each direction among them changes what the network says.",
  },
  pathNorm: {
    name: "Path norm",
    about:
      "Every way from an input to an output counts with the product of its weights, squared; all of them added up.",
  },
  filterNormalised: {
    name: "Filter-normalised",
    about:
      "A random direction whose part for each filter or neuron is as long as that filter’s own weights, so that landscapes of large and of small weights can be compared.",
  },
} as const satisfies Record<string, Term>;

export type TermId = keyof typeof GLOSSARY;

/** How a text may spell a term; what is part of a longer one comes after it. */
const SPELLINGS: readonly (readonly [spelling: string, id: TermId])[] = [
  ["Gauss–Newton matrix", "gaussNewton"],
  ["Gauss–Newton", "gaussNewton"],
  ["Riemannian", "riemannian"],
  ["Levi-Civita", "leviCivita"],
  ["connection term", "leviCivita"],
  ["spectral norm", "spectralNorm"],
  ["Frobenius norm", "frobenius"],
  ["Fisher–Rao norm", "fisherRao"],
  ["path norm", "pathNorm"],
  ["relative flatness", "relativeFlatness"],
  ["ε-sharpness", "epsilonSharpness"],
  ["layer-wise", "layerwise"],
  ["node-wise", "nodewise"],
  ["permutations", "permutation"],
  ["permutation", "permutation"],
  ["eigenvalues", "eigenvalue"],
  ["eigenvalue", "eigenvalue"],
  ["Hessian", "hessian"],
  ["trace", "trace"],
  ["gradient", "gradient"],
  ["κ_τ", "kappaTrace"],
  ["κ", "kappa"],
  ["ρ", "rho"],
  ["filter by filter", "filterNormalised"],
];

const IDS = new Map<string, TermId>(SPELLINGS.map(([spelling, id]) => [spelling.toLowerCase(), id]));
/** Whole words: `trace` is no part of `traces`, and κ none of κ_τ. */
const PATTERN = new RegExp(
  `(?<![\\p{L}\\p{N}_])(?:${SPELLINGS.map(([spelling]) => spelling).join("|")})(?![\\p{L}\\p{N}_])`,
  "giu",
);

export interface Found {
  id: TermId;
  /** As the text spells it. */
  text: string;
}

/** A text in pieces: each term once, where it comes first, unless it is among the `known`. */
export function withTerms(text: string, known: ReadonlySet<TermId> = new Set()): (string | Found)[] {
  const pieces: (string | Found)[] = [];
  const seen = new Set(known);
  let end = 0;
  for (const match of text.matchAll(PATTERN)) {
    const id = IDS.get(match[0].toLowerCase());
    if (id === undefined || seen.has(id)) continue;
    seen.add(id);
    if (match.index > end) pieces.push(text.slice(end, match.index));
    pieces.push({ id, text: match[0] });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}

/** The terms of a text, in the order in which they come. */
export const termsIn = (text: string): TermId[] =>
  withTerms(text).flatMap((piece) => (typeof piece === "string" ? [] : piece.id));
