/** The measures by the papers they come from, what each group is about, and in which order they are computed. */

import type { MeasureDescription, MeasureKey } from "isoflat";

export interface Paper {
  id: string;
  title: string;
  /** What its measures are, for somebody who has not read it. */
  about: string;
}

const POINT: Paper = {
  id: "point",
  title: "The point itself",
  about: "How well the network does, and how near to a standstill training has come. Flatness is a word for minima.",
};

const DINH: Paper = {
  id: "dinh",
  title: "Dinh et al. 2017, Keskar et al. 2017",
  about:
    "The curvature of the loss, and how far it rises nearby, measured in the weights as they are. " +
    "Dinh et al. show that these numbers can be made anything: rescaling the weights moves them and not the function.",
};

const RANGAMANI: Paper = {
  id: "rangamani",
  title: "Rangamani et al. 2019",
  about:
    "The same curvature with lengths taken relative to the weights, so that a step of 1 % is the same step in a small layer and in a large one. " +
    "Rescaling whole layers leaves it alone; taken weight by weight, so does rescaling single neurons.",
};

const PETZKA: Paper = {
  id: "petzka",
  title: "Petzka et al. 2020, 2021",
  about:
    "Curvature of one layer, times the size of its weights: what the one gains by rescaling, the other loses. " +
    "κ and κ_τ are of layers, ρ is of single neurons.",
};

const NORMS: Paper = {
  id: "norms",
  title: "Liang et al. 2019, Neyshabur et al. 2015, 2017",
  about:
    "Sizes of the network rather than of its valley: lengths of the weights that count what they do to the outputs, " +
    "and how far noise in the weights lifts the loss on average.",
};

const OTHERS: Paper = { id: "others", title: "Others", about: "Measures that belong to none of these papers." };

function paperOf({ key, paper }: MeasureDescription): Paper {
  if (key.startsWith("gauss_newton.")) return DINH;
  if (paper === "—") return POINT;
  if (/^(Dinh|Keskar)/.test(paper)) return DINH;
  if (paper.startsWith("Rangamani")) return RANGAMANI;
  if (paper.startsWith("Petzka")) return PETZKA;
  if (/^(Liang|Neyshabur)/.test(paper)) return NORMS;
  return OTHERS;
}

/** In the order in which they are read; groups without a measure are left out. */
export function byPaper(descriptions: MeasureDescription[]): { paper: Paper; measures: MeasureDescription[] }[] {
  return [POINT, DINH, RANGAMANI, PETZKA, NORMS, OTHERS].flatMap((paper) => {
    const measures = descriptions.filter((description) => paperOf(description) === paper);
    return measures.length > 0 ? [{ paper, measures }] : [];
  });
}

/** Searches for the highest point nearby, and means over noise: hundreds of evaluations each. */
export const isSearch = (key: MeasureKey): boolean =>
  /^(epsilon_sharpness(_subspace|_box)?|riemannian_sharpness\..*|average_sharpness.*)$/.test(key);

const isEstimate = (key: MeasureKey): boolean =>
  key.endsWith(".trace") || key.endsWith(".frobenius_norm") || key.startsWith("gauss_newton.");

/** The most telling and quickest first; the last ones take longest. */
export function measureGroups(keys: MeasureKey[]): [MeasureKey[], MeasureKey[], ...MeasureKey[][]] {
  const quick = keys.filter((key) => !isSearch(key) && !isEstimate(key));
  const isRiemannian = (key: MeasureKey) => key.startsWith("riemannian.");
  return [
    quick.filter((key) => !isRiemannian(key)),
    quick.filter(isRiemannian),
    keys.filter(isEstimate),
    ...keys.filter(isSearch).map((key) => [key]),
  ];
}
