/** Rows of measures, each relative to the flattest network as trained: where the others are, and where its twin has gone. */

import { columnsOf } from "../figures/columns";
import { number } from "../format";
import { type Chart, markKey } from "../gallery/charts";
import { type Ranking, type RankingRow, saidOf } from "../ranking";
import { type NamedRow, type RowsOptions, rowsPlot } from "./rows";
import { log } from "./scales";
import type { Mark } from "./xy";

const MARKS: Mark[] = ["circle", "square", "cross", "ring"];
/** Of the networks' colours in the style sheet there are so many. */
const KINDS = 4;
/** Beside all values, as a factor. */
const ROOM = 1.6;

const look = (index: number): { kind: string; mark: Mark } => ({
  kind: `of-batch-${index % KINDS}`,
  mark: MARKS[index % MARKS.length] ?? "circle",
});

export function rankingChart(ranking: Ranking, caption: string): Chart {
  const { names, focus, rows } = ranking;
  const own = look(focus);
  const relative = ({ trained }: RankingRow, value: number): number => value / (trained[focus] ?? Number.NaN);
  const values = rows.flatMap((row) => [...row.trained, row.bent].map((value) => relative(row, value)));
  const drawn = rows.map((row): NamedRow => {
    const at = relative(row, row.bent);
    return {
      name: row.title,
      // The way that the bend has taken it.
      interval: [Math.min(1, at), Math.max(1, at)],
      kind: own.kind,
      marks: [
        ...row.trained.map((value, index) => ({
          at: relative(row, value),
          ...look(index),
          title: `${row.title}, ${names[index]}: ${number(value)}`,
        })),
        {
          at,
          kind: own.kind,
          mark: "diamond" as const,
          title: `${row.title}, ${names[focus]}, rescaled: ${number(row.bent)}`,
        },
      ],
    };
  });
  const options: RowsOptions = {
    x: log(Math.min(...values) / ROOM, Math.max(...values) * ROOM),
    xLabel: `relative to “${names[focus]}” as trained`,
    label: `Measures of ${names.join(", ")} as trained, and of ${names[focus]} rescaled. ${saidOf(ranking)}`,
  };
  return {
    name: "ranking",
    title: "Which is flatter, and after a rescaling?",
    caption: `${caption} ${saidOf(ranking)}`,
    plot: rowsPlot(drawn, options),
    narrow: rowsPlot(drawn, { ...options, isNarrow: true }),
    keys: [
      ...names.map((name, index) => markKey(name, look(index).kind, look(index).mark)),
      markKey(`${names[focus]}, rescaled`, own.kind, "diamond"),
    ],
    columns: () =>
      columnsOf(
        ["key", "measure", "network", "trained", "rescaled"],
        rows.flatMap((row) =>
          row.trained.map((value, index) => [
            row.key,
            row.title,
            names[index] ?? "",
            value,
            index === focus ? row.bent : "",
          ]),
        ),
      ),
    rows: rows.length,
  };
}
