import { describe, expect, test } from "vitest";
import tablesJson from "../../docs/results/tables.json";
import { tableFigure } from "../../www/src/figures/tables";
import {
  FEW_SEEDS,
  FIRST_SEED,
  keptOf,
  MOST_SEEDS,
  mapName,
  missingSeeds,
  OF_TABLES,
  SAMPLES,
  seedsOf,
  summaries,
  TABLES,
  withSeed,
} from "../../www/src/seeds";
import type { DeviceOfTable, TableFound, TableSeed } from "../../www/src/worker/protocol";
import { state } from "./states";

const CPU: DeviceOfTable = { backend: "cpu", precision: "f64" };
const GPU: DeviceOfTable = { backend: "gpu", precision: "f32" };

/** A seed of Table 2 whose two maps differ by these. */
const of = (seed: number, differences: number[], flips = 0, converged = true): TableSeed => ({
  seed,
  before: 2,
  rows: differences.map((relativeDifference, index) => ({
    lambda: OF_TABLES.table2.maps[index]?.lambda ?? [],
    after: 2 * (1 + relativeDifference),
    relativeDifference,
    flips,
    converged,
  })),
});
const found = (...seeds: TableSeed[]): TableFound => ({ device: CPU, seeds, power: null });

describe("Rangamani's tables", () => {
  test("are of the same maps, data and seeds as the stored result, beside the same numbers of the paper", () => {
    expect([tablesJson.samples, tablesJson.firstSeed]).toEqual([SAMPLES, FIRST_SEED]);
    for (const name of TABLES) {
      const own = tablesJson.rows.filter(({ table }) => table === OF_TABLES[name].number);
      for (const { seeds } of own) expect(seeds).toBe(MOST_SEEDS);
      for (const precision of ["f64", "f32"]) {
        const rows = own.filter(({ device }) => device.precision === precision);
        expect(rows.map(({ lambda, paper }) => ({ lambda, paper }))).toEqual(OF_TABLES[name].maps);
      }
    }
    expect(mapName(OF_TABLES.table3.maps[1]?.lambda ?? [])).toBe("λ = (50, 24, 30, 1/6, 1/6000)");
  });

  test("come to a median and a worst, and to how many a flip spoils", () => {
    const spoilt = found(of(2019, [1e-8, 3e-7]), of(2020, [4e-8, 1e-6]), of(2021, [3e-5, 2e-5], 2));
    const [first, second] = summaries("table2", spoilt);
    expect(first).toMatchObject({ median: 4e-8, worst: 3e-5, flipped: 1, worstOfOthers: 4e-8, held: true });
    expect(second).toMatchObject({ median: 1e-6, worst: 2e-5, flipped: 1, worstOfOthers: 1e-6, held: false });
    // Of an even number it is between the two.
    expect(summaries("table2", found(of(2019, [1, 1]), of(2020, [3, 3])))[0]?.median).toBe(2);
    expect(summaries("table2", found(of(2019, [1, 1], 1)))[0]?.worstOfOthers).toBeNull();
  });

  test("hold nothing where one search has not converged", () => {
    const rows = summaries("table2", found(of(2019, [0, 0]), of(2020, [0, 0], 0, false)));
    expect(rows.map(({ converged }) => converged)).toEqual([false, false]);
  });

  test("go on with the seeds that are missing, and begin anew for as many again, or on another device", () => {
    const two = found(of(2019, [0, 0]), of(2020, [0, 0]));
    expect(missingSeeds(null, 3)).toEqual([2019, 2020, 2021]);
    expect(missingSeeds(two, FEW_SEEDS)).toEqual([2021]);
    expect(missingSeeds(two, 1)).toEqual([]);
    expect(keptOf(two, 3, CPU)).toBe(two);
    expect(keptOf(two, 2, CPU)).toBeNull();
    expect(keptOf(two, 3, GPU)).toBeNull();
    expect(keptOf(two, 3, undefined)).toBeNull();
  });

  test("have their seeds in order, of one device", () => {
    const power = { norms: [1], settled: true };
    const two = { ...found(of(2020, [0, 0])), power };
    expect(withSeed(two, CPU, of(2019, [0, 0]))).toMatchObject({ seeds: [{ seed: 2019 }, { seed: 2020 }], power });
    expect(withSeed(two, GPU, of(2021, [0, 0]))).toEqual({ device: GPU, seeds: [of(2021, [0, 0])], power: null });
  });

  test("are asked for by whole numbers of seeds, up to those that are stored", () => {
    expect([1, 3, 20, 0, 21, 2.5, Number.NaN].map(seedsOf)).toEqual([1, 3, 20, null, null, null, null]);
  });

  test("are taken along seed by seed, with the digits that they have", () => {
    expect(tableFigure(state(), "table2")).toBeNull();
    const table2 = found(of(2019, [1e-15, 2e-15]), of(2020, [3e-15, 4e-15], 1));
    const figure = tableFigure(state({ table2 }), "table2");
    const columns = Object.fromEntries(figure?.columns().map(({ name, values }) => [name, Array.from(values)]) ?? []);
    expect(figure?.name).toBe("rangamani-table-2");
    expect(columns.seed).toEqual([2019, 2019, 2020, 2020]);
    expect(columns.relative_difference).toEqual([1e-15, 2e-15, 3e-15, 4e-15]);
    expect(columns.flips).toEqual([0, 0, 1, 1]);
  });
});
