/**
 * Dinh et al. 2017: the constructions that a person can ask for, a row each. What runs, what an address says, what is estimated and what is
 * refused before it is tried follow from the rows; their numbers come from `worker/constructions.ts`, their cards are in `views/constructions/`.
 */

import { refusalToRescale } from "./bends";
import { integer } from "./format";
import type { AskedWith, Constructed, Construction, InputMap, ModelInfo } from "./worker/protocol";

/** Parameters up to which the engine computes whole spectra. */
const WHOLE_SPECTRUM = 4096;
/** And up to which whole Hessians in other coordinates. */
const WHOLE_HESSIAN = 2048;

/** α at which sharpness under weight normalisation is looked for. */
export const ALPHAS = [0.1, 10 ** -0.5, 1, 10 ** 0.5, 10] as const;

export const INPUT_MAPS = ["standardize", "whiten", "gaussianize"] as const satisfies readonly InputMap[];

type Network = Pick<
  ModelInfo,
  "homogeneous" | "depth" | "tensors" | "parameterCount" | "inputs" | "outputs" | "beginsDense" | "measuredSamples"
>;

/** What the work is made of. */
export interface Takes {
  /** Products with the Hessian, one after the other. */
  products?: number;
  /** Those that go through many together. */
  columns?: number;
  /** Times that all eigenvalues of a matrix as large as the Hessian are computed, or parts of that. */
  spectra?: number;
  /** Multiplications in a dense layer, all samples together. */
  multiplied?: number;
  /** Arithmetic in which no device helps. */
  seconds?: number;
}

interface Row<K extends Construction> {
  /** The step that runs. */
  step: string;
  /** Of an estimate's sentence. */
  begins: string;
  /** Does its target come from the valley, which is then computed before? */
  wantsValley?: true;
  takes: (network: Network, asked: Constructed[K]["asked"]) => Takes;
  /** Why the engine will refuse; null where it may find something. */
  refuses: (network: Network, asked: Constructed[K]["asked"]) => string | null;
  /** Where there is something to choose: what an address says of it, null for what is none, and what a finding was asked with. */
  choice?: {
    read: (text: string) => Constructed[K]["asked"] | null;
    of: (found: Constructed[K]["found"]) => Constructed[K]["asked"];
  };
}

const positive = (text: string): number | null => {
  const value = Number(text);
  return value > 0 && Number.isFinite(value) ? value : null;
};

/** By how much a radial map may flatten or sharpen: beyond it ρ or r̂ would be next to nothing. */
const MOST_FLATTER = 1e8;

const ROWS: { readonly [K in Construction]: Row<K> } = {
  boxes: {
    step: "Boxes",
    begins: "The boxes take",
    // Gradients and losses of the search for a box; fewer where the first one that is tried is small enough.
    takes: () => ({ products: 850 }),
    refuses: refusalToRescale,
  },
  ball: {
    step: "A constant function",
    begins: "Both ascents take",
    takes: () => ({ products: 200 }),
    refuses: refusalToRescale,
    choice: { read: positive, of: ({ epsilon }) => epsilon },
  },
  many: {
    step: "Many large eigenvalues",
    begins: "Both spectra take",
    wantsValley: true,
    takes: ({ parameterCount }) => ({ columns: 2 * parameterCount, spectra: 2 }),
    refuses: (network) =>
      // One layer grows, whatever leads to it.
      refusalToRescale({ ...network, tensors: null }) ??
      tooLarge(network, WHOLE_SPECTRUM, "Whole spectra are", "784-5-10"),
  },
  radial: {
    step: "Other coordinates",
    begins: "The Hessian in η takes",
    takes: ({ parameterCount }) => ({ columns: parameterCount, spectra: 3, products: 15 }),
    refuses: (network) => tooLarge(network, WHOLE_HESSIAN, "Whole Hessians in other coordinates are", "784-2-10"),
    choice: {
      read: (text) => {
        const flatter = positive(text);
        return flatter !== null && Math.max(flatter, 1 / flatter) <= MOST_FLATTER ? flatter : null;
      },
      of: ({ flatter }) => flatter,
    },
  },
  normalized: {
    step: "Weight normalisation",
    begins: "Sharpness and volume take",
    // Ascents at each α, and the search for a box.
    takes: () => ({ products: 80 * ALPHAS.length + 365 }),
    refuses: () => null,
  },
  inputs: {
    step: "The input’s representation",
    begins: "All gradients by the inputs take",
    takes: takesOfInputs,
    refuses: ({ beginsDense }, map) =>
      beginsDense || map !== "whiten"
        ? null
        : "Whitening mixes all inputs, which only a dense first layer can take into its weights; this network begins with another one.",
    choice: {
      read: (text) => INPUT_MAPS.find((map) => map === text) ?? null,
      of: ({ map }) => map,
    },
  },
};

/** In the order of their cards. */
export const CONSTRUCTIONS = [
  "boxes",
  "ball",
  "many",
  "radial",
  "normalized",
  "inputs",
] as const satisfies Construction[];

export const isConstruction = (name: string): name is Construction => Object.hasOwn(ROWS, name);

export const stepOfConstruction = (what: Construction): string => ROWS[what].step;

export const beginsOf = (what: Construction): string => ROWS[what].begins;

export const wantsValley = (what: Construction): boolean => ROWS[what].wantsValley === true;

/** Of a row its functions want what that row is asked with: who asks has it from there. */
const rowOf = (what: Construction) => ROWS[what] as Row<Construction>;

export const takesOf = (what: Construction, network: Network, asked: AskedWith): Takes =>
  rowOf(what).takes(network, asked);

export const refusalBefore = (what: Construction, network: Network, asked: AskedWith): string | null =>
  rowOf(what).refuses(network, asked);

/** Null of one that has nothing to choose. */
export const choiceOf = (what: Construction) => rowOf(what).choice ?? null;

function tooLarge({ parameterCount }: Network, most: number, those: string, fits: string): string | null {
  if (parameterCount <= most) return null;
  return (
    `${those} for networks of up to ${integer(most)} parameters; this one has ${integer(parameterCount)}. ` +
    `Among the options of training, other widths such as ${fits} are small enough.`
  );
}

/** Samples that share one network whose first layer holds them, a column each. */
const GROUP = 256;
/** Kernels of the distribution of one feature, at most. */
const KERNELS = 64;
/** Values times kernels up to which gaussianisation is tried: some 20 seconds. */
const GAUSSIANIZED = 3e6;
/** Of one value and kernel, with Newton's steps there and back, and of one entry of a covariance's eigenvectors. */
const [KERNEL_SECONDS, ENTRY_SECONDS] = [5e-6, 5e-9];

/** How many of the measured samples are seen in other coordinates. Each value's way to a normal one and back is long. */
export function samplesSeen(map: InputMap, inputs: number, measured: number): number {
  if (map !== "gaussianize") return measured;
  const most = GAUSSIANIZED / inputs;
  return Math.max(2, Math.min(measured, Math.floor(most > KERNELS ** 2 ? most / KERNELS : Math.sqrt(most))));
}

function takesOfInputs({ inputs, outputs, parameterCount, measuredSamples }: Network, map: InputMap): Takes {
  const samples = samplesSeen(map, inputs, measuredSamples);
  // Of the loss and of each output, by x and by u, through all weights and through those that hold the samples.
  const multiplied = 2 * (outputs + 1) * samples * (parameterCount + Math.min(samples, GROUP) * inputs);
  const seconds = {
    standardize: 0,
    whiten: ENTRY_SECONDS * inputs ** 3,
    gaussianize: KERNEL_SECONDS * samples * inputs * Math.min(samples, KERNELS),
  };
  return { multiplied, seconds: seconds[map] };
}

/** Does what was measured hold? What has not converged says neither. */
export function judged(holds: boolean, converged: boolean, otherwise: string, right = ""): string {
  if (!converged) return "? not converged";
  return holds ? `✓ ${right}`.trimEnd() : `✗ ${otherwise}`;
}
