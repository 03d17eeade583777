/** Rangamani's Tables 2 and 3: each seed's relative difference, where the paper has one number. */

import { type RowMark, rowsPlot } from "../charts/rows";
import { log } from "../charts/scales";
import { columnsOf } from "../figures/columns";
import { number } from "../format";
import { fraction } from "../seeds";
import { type Chart, markKey } from "./charts";
import type { Tables } from "./results";

const LOOKS = {
  f64: { kind: "of-f64", mark: "circle" },
  f32: { kind: "of-f32", mark: "diamond" },
} as const;
type Precision = keyof typeof LOOKS;

/** The golden ratio spreads any number of marks evenly. */
const shiftOf = (seed: number): number => (((seed + 1) * 0.618034) % 1) - 0.5;

export function tableChart({ rows: all, samples, firstSeed }: Tables, table: "2" | "3"): Chart {
  const own = all.filter((row) => row.table === table);
  const names = [...new Set(own.map(({ lambda }) => nameOf(lambda)))];
  const values = own.flatMap(({ differences, paper }) => [...differences, paper]).filter((value) => value > 0);
  const { network = "" } = own[0] ?? {};
  const label = own
    .map(
      ({ lambda, device, median, paper }) =>
        `${nameOf(lambda)} in ${device.precision}: median ${number(median, 2)}, in the paper ${number(paper)}`,
    )
    .join("; ");
  return {
    name: `rangamani-table-${table}-seeds`,
    title: `Relative difference of the largest eigenvalue, seed by seed`,
    caption:
      `Rangamani et al. 2019, Table ${table}: the spectral norm of the Riemannian Hessian of ${network} on ${samples} random samples before and ` +
      `after T_λ. Bars: medians; rings: seeds of which a pre-activation or a pool came to lie on the other side.`,
    plot: rowsPlot(
      names.map((name) => ({
        name,
        marks: own.filter(({ lambda }) => nameOf(lambda) === name).flatMap((row) => marksOf(row, firstSeed)),
      })),
      {
        x: log(Math.min(...values) / 2, Math.max(...values) * 2),
        xLabel: "relative difference",
        label: `Relative differences of the largest eigenvalue: ${label}`,
      },
    ),
    keys: [
      markKey("f64", LOOKS.f64.kind, LOOKS.f64.mark),
      markKey("f32", LOOKS.f32.kind, LOOKS.f32.mark),
      markKey("f32, with a flip", `${LOOKS.f32.kind} hollow`, LOOKS.f32.mark),
      markKey("the paper", "of-paper", "cross"),
    ],
    columns: () =>
      columnsOf(
        ["lambda", "precision", "seed", "relative_difference", "flips", "paper"],
        own.flatMap(({ lambda, device, differences, flips, paper }) =>
          differences.map((difference, index) => [
            lambda.join(" "),
            device.precision,
            firstSeed + index,
            difference,
            flips[index],
            paper,
          ]),
        ),
      ),
    rows: names.length,
  };
}

const nameOf = (lambda: number[]): string => `(${lambda.map(fraction).join(", ")})`;

function marksOf({ device, differences, flips, median, paper }: Tables["rows"][number], firstSeed: number): RowMark[] {
  const { kind, mark } = LOOKS[device.precision as Precision];
  return [
    { at: median, mark: "bar", kind, title: `the median in ${device.precision}: ${number(median)}` },
    ...differences.map((at, index): RowMark => {
      const count = flips[index] ?? 0;
      return {
        at,
        mark,
        kind: count > 0 ? `${kind} hollow` : kind,
        shift: 1.2 * shiftOf(index),
        title: `${device.precision}, seed ${firstSeed + index}: ${number(at)}${count > 0 ? `, with ${count === 1 ? "a flip" : `${count} flips`}` : ""}`,
      };
    }),
    { at: paper, mark: "cross", kind: "of-paper", title: `the paper: ${number(paper)}` },
  ];
}
