/** The measures by the papers they come from, and what each group is about. */

import type { MeasureDescription, MeasureFamily } from "isoflat";

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
  title: "Petzka et al. 2019, 2021",
  about:
    "Curvature of one layer, times the size of its weights: what the one gains by rescaling, the other loses. " +
    "κ and κ_τ are of layers, ρ is of single neurons.",
};

const ORBIT: Paper = {
  id: "orbit",
  title: "Ibayashi et al. 2021, Tsuzuku et al. 2020",
  about:
    "The least that the curvature can be made by rescaling: a number of the function, whatever the weights are now. " +
    "The rescaling that gets there is the flattest bend of the network. Normalised sharpness is the least of curvature and " +
    "size together, layer by layer.",
};

const NORMS: Paper = {
  id: "norms",
  title: "Liang et al. 2019, Neyshabur et al. 2015, 2017",
  about:
    "Sizes of the network rather than of its valley: lengths of the weights that count what they do to the outputs, " +
    "and how far noise in the weights lifts the loss on average.",
};

const PAPERS: Record<MeasureFamily, Paper> = {
  point: POINT,
  curvature: DINH,
  sharpness: DINH,
  riemannian: RANGAMANI,
  petzka: PETZKA,
  orbit: ORBIT,
  norms: NORMS,
  noise: NORMS,
};

/** In the order in which they are read; groups without a measure are left out. */
export function byPaper(descriptions: MeasureDescription[]): { paper: Paper; measures: MeasureDescription[] }[] {
  return [...new Set(Object.values(PAPERS))].flatMap((paper) => {
    const measures = descriptions.filter(({ family }) => PAPERS[family] === paper);
    return measures.length > 0 ? [{ paper, measures }] : [];
  });
}
