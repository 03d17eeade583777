/** The papers that the measures come from, as one cites them. */

export interface Reference {
  authors: string;
  year: number;
  title: string;
  /** Where it was published, beside arXiv. */
  venue?: string;
  arxiv: string;
}

export const REFERENCES = {
  neyshabur2015: {
    authors: "Neyshabur, Tomioka, Srebro",
    year: 2015,
    title: "Norm-Based Capacity Control in Neural Networks",
    venue: "COLT",
    arxiv: "1503.00036",
  },
  pathSgd: {
    authors: "Neyshabur, Salakhutdinov, Srebro",
    year: 2015,
    title: "Path-SGD: Path-Normalized Optimization in Deep Neural Networks",
    arxiv: "1506.02617",
  },
  keskar: {
    authors: "Keskar, Mudigere, Nocedal, Smelyanskiy, Tang",
    year: 2017,
    title: "On Large-Batch Training for Deep Learning: Generalization Gap and Sharp Minima",
    venue: "ICLR",
    arxiv: "1609.04836",
  },
  dinh: {
    authors: "Dinh, Pascanu, Bengio, Bengio",
    year: 2017,
    title: "Sharp Minima Can Generalize For Deep Nets",
    venue: "ICML",
    arxiv: "1703.04933",
  },
  neyshabur2017: {
    authors: "Neyshabur, Bhojanapalli, McAllester, Srebro",
    year: 2017,
    title: "Exploring Generalization in Deep Learning",
    venue: "NIPS",
    arxiv: "1706.08947",
  },
  liang: {
    authors: "Liang, Poggio, Rakhlin, Stokes",
    year: 2019,
    title: "Fisher-Rao Metric, Geometry, and Complexity of Neural Networks",
    venue: "AISTATS",
    arxiv: "1711.01530",
  },
  rangamani: {
    authors: "Rangamani, Nguyen, Kumar, Phan, Chin, Tran",
    year: 2019,
    title: "A Scale Invariant Flatness Measure for Deep Network Minima",
    arxiv: "1902.02434",
  },
  petzka: {
    authors: "Petzka, Adilova, Kamp, Sminchisescu",
    year: 2019,
    title: "A Reparameterization-Invariant Flatness Measure for Deep Neural Networks",
    arxiv: "1912.00058",
  },
  petzka2021: {
    authors: "Petzka, Kamp, Adilova, Sminchisescu, Boley",
    year: 2021,
    title: "Relative Flatness and Generalization",
    venue: "NeurIPS",
    arxiv: "2001.00939",
  },
  tsuzuku: {
    authors: "Tsuzuku, Sato, Sugiyama",
    year: 2020,
    title:
      "Normalized Flat Minima: Exploring Scale Invariant Definition of Flat Minima for Neural Networks Using PAC-Bayesian Analysis",
    venue: "ICML",
    arxiv: "1901.04653",
  },
  kwon: {
    authors: "Kwon, Kim, Park, Choi",
    year: 2021,
    title: "ASAM: Adaptive Sharpness-Aware Minimization for Scale-Invariant Learning of Deep Neural Networks",
    venue: "ICML",
    arxiv: "2102.11600",
  },
  ibayashi: {
    authors: "Ibayashi, Hamaguchi, Imaizumi",
    year: 2021,
    title: "Minimum sharpness: Scale-invariant parameter-robustness of neural networks",
    arxiv: "2106.12612",
  },
} as const satisfies Record<string, Reference>;

export type ReferenceId = keyof typeof REFERENCES;

/** arXiv gives each of its papers a DOI of this form. */
export const doiOf = ({ arxiv }: Reference): string => `10.48550/arXiv.${arxiv}`;

export const addressOf = (reference: Reference): string => `https://doi.org/${doiOf(reference)}`;
