/** How isoflat and the papers behind it are cited: for BibTeX, and in words. */

import license from "../../../LICENSE-MIT?raw";
import { VERSION } from "./version";

export interface Work {
  key: string;
  kind: "software" | "article" | "mastersthesis";
  authors: string[];
  title: string;
  year: number;
  arxiv?: string;
  /** What kind of thesis, and where. */
  thesis?: { type: string; school: string };
}

/** The README's, in its order. */
export const PAPERS: Work[] = [
  {
    key: "dinh2017sharp",
    kind: "article",
    authors: ["Dinh, Laurent", "Pascanu, Razvan", "Bengio, Samy", "Bengio, Yoshua"],
    title: "Sharp Minima Can Generalize For Deep Nets",
    year: 2017,
    arxiv: "1703.04933",
  },
  {
    key: "rangamani2019scale",
    kind: "article",
    authors: ["Rangamani, A.", "Nguyen, N. H.", "Kumar, A.", "Phan, D.", "Chin, S. P.", "Tran, T. D."],
    title: "A Scale Invariant Flatness Measure for Deep Network Minima",
    year: 2019,
    arxiv: "1902.02434",
  },
  {
    key: "petzka2019reparameterization",
    kind: "article",
    authors: ["Petzka, H.", "Adilova, L.", "Kamp, M.", "Sminchisescu, C."],
    title: "A Reparameterization-Invariant Flatness Measure for Deep Neural Networks",
    year: 2019,
    arxiv: "1912.00058",
  },
  {
    key: "jestaedt2025scale",
    kind: "mastersthesis",
    authors: ["Jestädt, Christian"],
    title: "Scale invariant parameter spaces for ReLU networks",
    year: 2025,
    thesis: { type: "Bachelor thesis", school: "Eberhard Karls Universität Tübingen" },
  },
];

const YEAR = Number(/Copyright \(c\) (\d{4})/.exec(license)?.[1]);

const ISOFLAT: Work = {
  key: "isoflat",
  kind: "software",
  authors: ["The isoflat authors"],
  title: "isoflat: how flat a neural network’s minimum is, in a way that rescaling its weights cannot fake",
  year: YEAR,
};

/** As classic BibTeX takes it too, which reads no other letters. */
const LETTERS: Record<string, string> = {
  ä: '{\\"a}',
  ö: '{\\"o}',
  ü: '{\\"u}',
  é: "{\\'e}",
  "’": "'",
  "–": "--",
  "&": "\\&",
  "%": "\\%",
  _: "\\_",
};
const escaped = (text: string): string => [...text].map((letter) => LETTERS[letter] ?? letter).join("");

/** An address stays as it is: `\url` takes its characters. */
export function bibtex(address: string, today: string): string {
  const entry = ({ key, kind, authors, title, year, arxiv, thesis }: Work, more: [string, string][] = []) => {
    // A name of more than a person's is one word to BibTeX, and a title keeps its capitals.
    const names = authors.map((name) => (name.startsWith("The ") ? `{${name}}` : escaped(name))).join(" and ");
    const fields: [string, string][] = [
      ["author", names],
      ["title", `{${escaped(title)}}`],
      ["year", String(year)],
      ...(arxiv
        ? ([
            ["journal", `arXiv preprint arXiv:${arxiv}`],
            ["eprint", arxiv],
            ["archiveprefix", "arXiv"],
          ] as [string, string][])
        : []),
      ...(thesis
        ? ([
            ["type", thesis.type],
            ["school", escaped(thesis.school)],
          ] as [string, string][])
        : []),
      ...more,
    ];
    return `@${kind}{${key},\n${fields.map(([name, value]) => `  ${name} = {${value}}`).join(",\n")}\n}\n`;
  };
  return [
    entry(ISOFLAT, [
      ["version", VERSION],
      ["url", address],
      ["urldate", today],
    ]),
    ...PAPERS.map((paper) => entry(paper)),
  ].join("\n");
}

export function plainCitation(address: string, today: string): string {
  const where = ({ arxiv, thesis }: Work): string =>
    arxiv ? ` arXiv:${arxiv}.` : thesis ? ` ${thesis.type}, ${thesis.school}.` : "";
  const said = (work: Work) => `${work.authors.map(inOrder).join(", ")}: ${work.title} (${work.year}).${where(work)}`;
  const { authors, title } = ISOFLAT;
  return [
    `${authors[0]}: ${title}. Version ${VERSION} (${YEAR}). ${address}, seen on ${today}.`,
    ...PAPERS.map(said),
  ].join("\n\n");
}

/** `L. Dinh` of `Dinh, Laurent`, as the README has them. */
function inOrder(name: string): string {
  const [family = "", given] = name.split(", ");
  return given === undefined ? family : `${given.includes(".") ? given : `${given.charAt(0)}.`} ${family}`;
}
