/** Results that are stored in docs/results/: each fetched when a row that is drawn from it is first opened. */

import type { BackendInfo } from "isoflat";
import type { Interval } from "./statistics";

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

export interface Table4 {
  training: number;
  /** At how many of the training images the norm is. */
  measured: number;
  /** At most, where training ends before. */
  epochs: number;
  runs: {
    network: string;
    batches: string;
    batch: number;
    seed: number;
    epochs: number;
    training_loss: number;
    test_accuracy: number;
    spectral_norm: number;
    /** None of a run whose network was measured in the layer-wise metric alone. */
    nodewise_spectral_norm?: number;
  }[];
}

interface Spread {
  mean: number;
  /** None of one seed. */
  deviation: number | null;
}

/** What the command makes of its runs, besides. */
export interface Table4Stored extends Table4 {
  rows: {
    network: string;
    batches: string;
    seeds: number;
    test_accuracy: Spread;
    spectral_norm: Spread;
  }[];
}

export interface Correlation {
  measure: string;
  pearson: Interval;
  kendall: Interval;
  rescaled: { pearson: Interval; kendall: Interval };
}

export interface Measured {
  measures: Record<string, number>;
  layers: Record<string, number[]>;
}

export interface Petzka {
  network: string;
  /** MNIST where nothing is said. */
  data?: string;
  training: number;
  epochs: number;
  largest_loss: number;
  runs: {
    /** By its name; the same for all where none is said. */
    initialization?: string;
    batch: number;
    seed: number;
    learning_rate: number;
    training_loss: number;
    test_loss: number;
    /** None of a run that was left out, likewise below. */
    at?: Measured;
    rescaled?: Measured;
  }[];
  correlations: Correlation[];
}

export interface Spaces {
  network: string;
  /** MNIST where nothing is said. */
  data?: string;
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
    /** The share of test images that are right. */
    validation_accuracy: (number | null)[];
    training_loss: (number | null)[];
  }[];
}

export interface Power {
  network: string;
  samples: number;
  /** How far a vector that has settled still turns, at most. */
  tolerance: number;
  runs: {
    seed: number;
    lanczos: { value: number };
    /** Of the two eigenvalues, relative. */
    difference: number;
    converged: boolean;
    /** By step, as all of these: ‖A u‖ for u of length 1. */
    norms: number[];
    /** |‖A u‖ / λ − 1|, with λ by Lanczos. */
    distances: number[];
    /** ‖A u − (uᵀA u) u‖. */
    residuals: number[];
  }[];
}

/** What directions are matched to: the lengths of layers, or of rows. */
export type Lengths = "layer" | "filter";

export interface Lines {
  network: string;
  training: number;
  drawn: number;
  directions: number;
  runs: ({
    batches: "small" | "large";
    batch: number;
    seed: number;
    epochs: number;
    test_accuracy: number;
    t: number[];
  } & Record<Lengths, (number | null)[][]>)[];
}

/** What the command makes of its runs, besides. */
export interface LinesStored extends Lines {
  /** Large batches' lines against small ones', at every t but 0. */
  compared: {
    lengths: Lengths;
    /** `ratios`: of the mean losses, by seed. */
    at: { t: number; above: number; of: number; ratios: number[] }[];
  }[];
}

type Point = [x: number, y: number];

/** Parameters of one function, the share of the least product that its two weights have. */
export interface Curve {
  share: number;
  /** Of losses along it, from the first point's. */
  largest_difference: number;
  points: Point[];
}

export interface DinhFigures {
  figure_1: {
    found: Record<"minimum" | "loss" | "height" | "low" | "high" | "width" | "radius" | "rise" | "sharpness", number>;
    theta: number[];
    losses: number[];
  };
  figure_2: {
    found: { alpha: number; point: Point; moved: Point; outputs: number };
    curves: Curve[];
  };
  figure_3: {
    found: {
      epsilon: number;
      alpha: number;
      radius: number;
      boxes: { power: number; low: Point; high: Point; volume: number }[];
    };
    curves: Curve[];
  };
  figure_4: {
    found: Record<"point" | "moved" | "highest_before" | "highest_after", Point> &
      Record<"epsilon" | "before" | "after" | "guaranteed", number>;
    curves: Curve[];
  };
  figure_5: {
    found: { center: number; minima: number[]; curvature: number };
    theta: number[];
    losses: number[];
    /** Curvatures are in η, at the minima. */
    maps: { a: number; b: number; curvatures: number[]; eta: number[] }[];
  };
  figure_6: {
    found: { center: Point; eigenvalues: number[]; eigenvalues_in_eta: number[] } & Record<
      "delta" | "inner" | "rho",
      number
    >;
    half: number;
    lines: { axis: number; at: number; eta: Point[] }[];
  };
}

/** Losses over two weights from 0 to as far as is said, `side` by `side` of them, row by row from the lower left corner. */
export interface LossSurface {
  reach: number;
  side: number;
  losses: number[];
}

export interface JestaedtFigures {
  figure_1_5: {
    found: { largest_below_0: number; first_maximum: { w_1: number; w_2: number }[] };
    w: number[];
    losses: number[];
    surface: LossSurface;
  };
  figure_1_6: {
    found: {
      largest_difference_of_outputs: number;
      largest_cosine_with_the_line: number;
      longest_over_shortest_gradient: number[];
      length_over_distance_from_0: { lowest: number; highest: number };
    };
    lines: { output: number; loss: number; points: Point[]; arrows: { at: Point; minus_gradient: Point }[] }[];
  };
  figure_4_9: {
    found: {
      difference_from_figure_1_5_at_0: number;
      minima_along_w_3: { w_1: number; w_2_at_0: number; w_2_at_6: number }[];
    };
    reach: number;
    side: number;
    /** Of the network without the symmetry, and of the other for fixed w₁. */
    surfaces: { network: "a" | "b"; w_1?: number; losses: number[] }[];
  };
}

export interface Results {
  tables: Tables;
  "table-4": Table4;
  "table-4-published": Table4;
  "table-4-cifar10": Table4;
  power: Power;
  lines: Lines;
  petzka: Petzka;
  "petzka-cifar10": Petzka;
  spaces: Spaces;
  "spaces-adam": Spaces;
  "spaces-low-high": Spaces;
  "spaces-kept": Spaces;
  "spaces-grid": Spaces;
  "spaces-grid-defects": Spaces;
  "spaces-cifar10-low-high": Spaces;
  "spaces-cifar10-kept": Spaces;
  "spaces-cifar10-grid": Spaces;
  "spaces-cifar10-grid-defects": Spaces;
  "spaces-reparametrized": Spaces;
  "spaces-cifar10": Spaces;
  "spaces-cifar10-adam": Spaces;
  "dinh-figures": DinhFigures;
  "jestaedt-figures": JestaedtFigures;
}

/** Each is written out: so the build knows which files the page has. */
const FILES: Record<keyof Results, URL> = {
  tables: new URL("../../../docs/results/tables.json", import.meta.url),
  "table-4": new URL("../../../docs/results/rangamani-mnist.json", import.meta.url),
  "table-4-published": new URL("../../../docs/results/rangamani-published.json", import.meta.url),
  "table-4-cifar10": new URL("../../../docs/results/rangamani-cifar10.json", import.meta.url),
  power: new URL("../../../docs/results/rangamani-power.json", import.meta.url),
  lines: new URL("../../../docs/results/rangamani-lines.json", import.meta.url),
  petzka: new URL("../../../docs/results/petzka-mnist.json", import.meta.url),
  "petzka-cifar10": new URL("../../../docs/results/petzka-cifar10.json", import.meta.url),
  spaces: new URL("../../../docs/results/spaces.json", import.meta.url),
  "spaces-adam": new URL("../../../docs/results/spaces-adam.json", import.meta.url),
  "spaces-low-high": new URL("../../../docs/results/spaces-low-high.json", import.meta.url),
  "spaces-kept": new URL("../../../docs/results/spaces-kept.json", import.meta.url),
  "spaces-grid": new URL("../../../docs/results/spaces-grid.json", import.meta.url),
  "spaces-grid-defects": new URL("../../../docs/results/spaces-grid-defects.json", import.meta.url),
  "spaces-cifar10-low-high": new URL("../../../docs/results/spaces-cifar10-low-high.json", import.meta.url),
  "spaces-cifar10-kept": new URL("../../../docs/results/spaces-cifar10-kept.json", import.meta.url),
  "spaces-cifar10-grid": new URL("../../../docs/results/spaces-cifar10-grid.json", import.meta.url),
  "spaces-cifar10-grid-defects": new URL("../../../docs/results/spaces-cifar10-grid-defects.json", import.meta.url),
  "spaces-reparametrized": new URL("../../../docs/results/spaces-reparametrized.json", import.meta.url),
  "spaces-cifar10": new URL("../../../docs/results/spaces-cifar10.json", import.meta.url),
  "spaces-cifar10-adam": new URL("../../../docs/results/spaces-cifar10-adam.json", import.meta.url),
  "dinh-figures": new URL("../../../docs/results/dinh-figures.json", import.meta.url),
  "jestaedt-figures": new URL("../../../docs/results/jestaedt-figures.json", import.meta.url),
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
