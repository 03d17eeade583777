/** The page's tables as figures without a drawing: their numbers in full. */

import type { MeasureDescription, MeasureValue } from "isoflat";
import { compared, type Known, nameFor } from "../networks-beside";
import { OF_TABLES, SAMPLES, type TableName } from "../seeds";
import type { Entry } from "../shelf";
import { measuresOf, type State, transformationOf } from "../store";
import { bentBy, captionOf, joined } from "./caption";
import { type Cell, columnsOf } from "./columns";
import type { Figure } from "./figure";

const trust = ({ value, standardError, residual, converged }: Partial<MeasureValue> = {}): Cell[] => [
  value,
  standardError,
  residual,
  converged,
];
const trusted = (point: string): string[] => [
  point,
  `${point}_standard_error`,
  `${point}_residual`,
  `${point}_converged`,
];

/** Nothing before a measure is there. */
export function measuresFigure(state: State): Figure | null {
  const { measures, bend } = state;
  if (measures.trained.size === 0) return null;
  const isBent = transformationOf(bend) !== null;
  return {
    name: "measures",
    title: "Measures of flatness",
    caption: joined(captionOf(state), bentBy(bend)),
    columns: () =>
      columnsOf(
        ["key", "measure", "paper", ...trusted("trained"), ...(isBent ? [...trusted("bent"), "bent_by_trained"] : [])],
        measuresOf(state).map(({ key, title, paper }) => {
          const [before, after] = [measures.trained.get(key), measures.bent.get(key)];
          const ratio = before && after ? after.value / before.value : undefined;
          return [
            key,
            title,
            paper === "—" ? "" : paper,
            ...trust(before),
            ...(isBent ? [...trust(after), ratio] : []),
          ];
        }),
      ),
  };
}

/** A row for each number: names of networks are a person's, and no heads of columns. */
export function besideFigure(
  beside: readonly Pick<Entry, "name" | "summary" | "training" | "data">[],
  known: readonly (Known | null)[],
  descriptions: MeasureDescription[],
): Figure {
  const names = beside.map((entry) => entry.name ?? nameFor(entry));
  const of = beside.map(({ summary, data }, index) => `“${names[index]}”: ${summary} on ${data}`);
  return {
    name: "networks-side-by-side",
    title: "Networks side by side",
    caption: joined("Measures as trained, each on its own samples", ...of),
    columns: () =>
      columnsOf(
        ["network", "key", "measure", "trained"],
        compared(known, descriptions).flatMap(({ rows }) =>
          rows.flatMap(({ key, title, values }) => names.map((name, index) => [name, key, title, values[index]])),
        ),
      ),
  };
}

/** Rangamani's Table 2 or 3, a row for each seed and map. */
export function tableFigure(state: State, name: TableName): Figure | null {
  const found = state[name];
  if (!found || found.seeds.length === 0) return null;
  const { number, network } = OF_TABLES[name];
  return {
    name: `rangamani-table-${number}`,
    title: `Rangamani et al., Table ${number}`,
    caption: `${network} on ${SAMPLES} random samples with random labels, in ${found.device.precision}; the largest eigenvalue of the layer-wise Riemannian Hessian before and after layer-wise maps, each search from a start of its own.`,
    columns: () =>
      columnsOf(
        ["seed", "lambda", "before", "after", "relative_difference", "flips", "converged"],
        found.seeds.flatMap(({ seed, before, rows }) =>
          rows.map(({ lambda, after, relativeDifference, flips, converged }) => [
            seed,
            lambda.join(" "),
            before,
            after,
            relativeDifference,
            flips,
            converged,
          ]),
        ),
      ),
  };
}
