/** The thesis' experiments: which runs each has, and what is read from them. Runs that several have are run once. */

import {
  type Finding,
  gridFindings,
  HIGH_RATE,
  keptFindings,
  LOW_RATE,
  lowHighFindings,
  RATES,
  rateFindings,
  rescaledFindings,
  VALUES,
} from "./findings";
import { type MethodId, type Run, run } from "./methods";
import { begun, type Results } from "./results";
import type { ExperimentId } from "./settings";

export interface Experiment {
  title: string;
  /** Of the thesis. */
  figures: string;
  about: string;
  methods: MethodId[];
  runs: Run[];
  findings: (results: Results) => Finding[];
}

const SIX: MethodId[] = ["sgd", "g_sgd", "fixed_sgd", "adam", "g_adam", "fixed_adam"];
const KEPT: MethodId[] = ["sgd", "fixed_sgd", "fixed_sgd_kept", "g_sgd", "g_sgd_kept"];
const RESCALED: MethodId[] = ["sgd", "fixed_sgd_rescaled", "fixed_sgd_rescaled_distance", "fixed_sgd_rescaled_factors"];
const all = (methods: MethodId[], rates: number[]): Run[] =>
  methods.flatMap((method) => rates.map((rate) => run(method, rate)));

export const EXPERIMENTS: Record<ExperimentId, Experiment> = {
  rates: {
    title: "Learning rates",
    figures: "Figures 4.1, 4.2, 4.4, 4.5, 4.10",
    about:
      "SGD and Adam on the weights, in the G-space and with fixed weights (both set to one), at five learning rates.",
    methods: SIX,
    runs: all(SIX, RATES),
    findings: rateFindings,
  },
  low_high: {
    title: "Low and high",
    figures: "Figure 4.3",
    about: `The same six at a low rate, ${LOW_RATE}, and at a high one, ${HIGH_RATE}: what happens where the rate is not chosen well?`,
    methods: SIX,
    runs: all(SIX, [LOW_RATE, HIGH_RATE]),
    findings: lowHighFindings,
  },
  kept: {
    title: "Set to one, or kept",
    figures: "Figure 4.6",
    about:
      "Setting the fixed weights to one changes the function that training begins with. Is it that which helps, or the symmetry that is gone? " +
      "With the skeleton kept as drawn there is nothing but the symmetry.",
    methods: KEPT,
    runs: all(KEPT, RATES),
    findings: keptFindings,
  },
  rescaled: {
    title: "Rescaled to ±1",
    figures: "section 4.2.2",
    about:
      "The network is rescaled until its fixed weights are ±1, which leaves its function as it is. Which weights are fixed decides by how much: " +
      "those of the diagonal; by the Hungarian method those nearest to ±1, the thesis’ advanced choice; or, ours, those that need the least factors. " +
      "A run explodes if it diverges, or if its training loss passes twice that of guessing.",
    methods: RESCALED,
    runs: all(RESCALED, RATES),
    findings: rescaledFindings,
  },
  grid: {
    title: "Rate × fixed value",
    figures: "Figure 4.7",
    about: "Fixed SGD with its fixed weights set to other values than one, at five learning rates.",
    methods: ["fixed_sgd"],
    runs: VALUES.flatMap((value) => RATES.map((rate) => run("fixed_sgd", rate, value))),
    findings: gridFindings,
  },
};

/** What a reader must know who compares verdicts with the thesis; empty where there is nothing. */
export function caveat(experiment: ExperimentId, results: Results): string {
  if (!EXPERIMENTS[experiment].methods.includes("sgd")) return "";
  const sgd = results.winner(EXPERIMENTS[experiment].runs.filter(({ method }) => method === "sgd"));
  return sgd && begun(sgd.loss)
    ? ""
    : "In so few steps SGD on the weights has hardly begun to learn at any rate. How good it is at its best would be seen over more images or epochs.";
}
