/** Rangamani et al., Tables 2 and 3, seed by seed: what they are of, which seeds are missing, and what those that are there come to. */

import type { PresetName } from "isoflat";
import type { TableFound, TableSeed } from "./worker/protocol";

/** As tasks, pieces and addresses call them. */
export const TABLES = ["table2", "table3"] as const;
export type TableName = (typeof TABLES)[number];

/** Networks, data and starts are those of `examples/tables.rs`, whose result is stored. */
export const SAMPLES = 500;
export const FIRST_SEED = 2019;
/** Of the stored result; more are of no use beside it. */
export const MOST_SEEDS = 20;
/** For a start: they take this browser seconds each, or minutes. */
export const FEW_SEEDS = 3;

interface Table {
  number: "2" | "3";
  preset: PresetName;
  network: string;
  /** By map, its factors and the paper's relative difference. */
  maps: readonly { lambda: number[]; paper: number }[];
}

/** The last factor makes their product 1. */
const whole = (...free: number[]): number[] => [...free, 1 / free.reduce((product, factor) => product * factor, 1)];

export const OF_TABLES: Readonly<Record<TableName, Table>> = {
  table2: {
    number: "2",
    preset: "f1",
    network: "784-300-100-10",
    maps: [
      { lambda: whole(5, 4), paper: 1.7e-7 },
      { lambda: whole(100, 30), paper: 7.17e-7 },
    ],
  },
  table3: {
    number: "3",
    preset: "c1",
    network: "C₁, two convolutions of 5 × 5 with 10 and 20 channels and three dense layers,",
    maps: [
      { lambda: whole(5, 4, 3, 2), paper: 1.28e-7 },
      { lambda: whole(50, 24, 30, 1 / 6), paper: 5.1e-6 },
    ],
  },
};

/** 1/20 rather than 0.05, as the paper writes them. */
export const fraction = (factor: number): string => (factor < 1 ? `1/${Math.round(1 / factor)}` : String(factor));
export const mapName = (lambda: readonly number[]): string => `λ = (${lambda.map(fraction).join(", ")})`;

/** How many a person may ask for; null for what is no number of seeds. */
export const seedsOf = (count: number): number | null =>
  Number.isInteger(count) && count >= 1 && count <= MOST_SEEDS ? count : null;

/** Of the first `count`, those that are not there yet. */
export function missingSeeds(found: TableFound | null, count: number): number[] {
  const there = new Set(found?.seeds.map(({ seed }) => seed));
  return Array.from({ length: count }, (_, index) => FIRST_SEED + index).filter((seed) => !there.has(seed));
}

/** What a new run begins with: who asks for more seeds gets the others, and who asks for as many again has them computed again. */
export const keptOf = (
  found: TableFound | null,
  count: number,
  device: TableFound["device"] | undefined,
): TableFound | null => (found && found.seeds.length < count && isSame(found.device, device) ? found : null);

/** With one seed more. Numbers of two devices are in no one table. */
export function withSeed(before: TableFound | null, device: TableFound["device"], seed: TableSeed): TableFound {
  const { seeds, power } = before && isSame(before.device, device) ? before : { seeds: [], power: null };
  return { device, power, seeds: [...seeds, seed].sort((a, b) => a.seed - b.seed) };
}

const isSame = (a: TableFound["device"], b: TableFound["device"] | undefined): boolean =>
  a.backend === b?.backend && a.precision === b.precision;

/** What the seeds of one map come to. */
export interface Summary {
  lambda: number[];
  paper: number;
  median: number;
  worst: number;
  /** Of how many seeds a pre-activation or a pool came to lie on the other side. */
  flipped: number;
  /** The worst of the seeds without; null where there are none. */
  worstOfOthers: number | null;
  /** Have all searches? */
  converged: boolean;
  /** Is the median at most the paper's? */
  held: boolean;
}

export function summaries(name: TableName, { seeds }: TableFound): Summary[] {
  return OF_TABLES[name].maps.map(({ lambda, paper }, index) => {
    const own = seeds.flatMap(({ rows }) => rows[index] ?? []);
    const others = own.filter(({ flips }) => flips === 0);
    const differences = own.map(({ relativeDifference }) => relativeDifference);
    const median = medianOf(differences);
    return {
      lambda,
      paper,
      median,
      worst: Math.max(...differences),
      flipped: own.length - others.length,
      worstOfOthers: others.length > 0 ? Math.max(...others.map((row) => row.relativeDifference)) : null,
      converged: own.every(({ converged }) => converged),
      held: median <= paper,
    };
  });
}

function medianOf(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const { length } = sorted;
  return 0.5 * ((sorted[Math.floor((length - 1) / 2)] ?? Number.NaN) + (sorted[Math.floor(length / 2)] ?? Number.NaN));
}
