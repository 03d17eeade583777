/** Results that are stored in docs/results/: each fetched when a row that is drawn from it is first opened. */

import type { BackendInfo } from "isoflat";

export interface Tables {
  samples: number;
  rows: {
    table: "2" | "3";
    network: string;
    lambda: number[];
    device: Pick<BackendInfo, "precision">;
    paper: number;
    median: number;
    differences: number[];
    /** By seed, how many pre-activations or pools chose otherwise. */
    flips: number[];
  }[];
  firstSeed: number;
}

interface Interval {
  value: number;
  low: number;
  high: number;
}

export interface Correlation {
  measure: string;
  pearson: Interval;
  kendall: Interval;
  rescaled: { pearson: Interval; kendall: Interval };
}

interface Measured {
  measures: Record<string, number>;
  layers: Record<string, number[]>;
}

export interface Petzka {
  network: string;
  training: number;
  epochs: number;
  largest_loss: number;
  runs: {
    batch: number;
    seed: number;
    learning_rate: number;
    training_loss: number;
    test_loss: number;
    at: Measured;
    rescaled: Measured;
  }[];
  correlations: Correlation[];
}

export interface Spaces {
  network: string;
  training: number;
  test: number;
  epochs: number;
  batch_size: number;
  seeds: number;
  runs: {
    method: string;
    learning_rate: number;
    seed: number;
    /** By epoch; null for what is no number. */
    validation_loss: (number | null)[];
    training_loss: (number | null)[];
  }[];
}

interface Results {
  tables: Tables;
  petzka: Petzka;
  spaces: Spaces;
  "spaces-adam": Spaces;
}

/** Each is written out: so the build knows which files the page has. */
const FILES: Record<keyof Results, URL> = {
  tables: new URL("../../../docs/results/tables.json", import.meta.url),
  petzka: new URL("../../../docs/results/petzka-mnist.json", import.meta.url),
  spaces: new URL("../../../docs/results/spaces.json", import.meta.url),
  "spaces-adam": new URL("../../../docs/results/spaces-adam.json", import.meta.url),
};

const found = new Map<keyof Results, Promise<unknown>>();

export function resultsOf<K extends keyof Results>(name: K): Promise<Results[K]> {
  const known = found.get(name) ?? fetched(name);
  found.set(name, known);
  // What failed is asked for anew when it is wanted again.
  known.catch(() => found.delete(name));
  return known as Promise<Results[K]>;
}

async function fetched(name: keyof Results): Promise<unknown> {
  const response = await fetch(FILES[name]);
  if (!response.ok) throw new Error(`the results ${name} could not be loaded: the server answered ${response.status}`);
  return response.json();
}
