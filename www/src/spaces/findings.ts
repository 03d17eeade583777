/** What the thesis finds in each experiment, and whether these runs agree: decided by their numbers alone. */

import { number } from "../format";
import { METHODS, type MethodId, type Run, run } from "./methods";
import { begun, learns, type Results } from "./results";

export const RATES = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5];
/** Figure 4.3's. */
export const HIGH_RATE = 0.05;
export const LOW_RATE = 0.0005;
export const VALUES = [0.1, 0.3, 0.6, 1, 1.7, 3];

export interface Finding {
  /** Where it is in the thesis. */
  place: string;
  thesis: string;
  /** Null where the runs do not decide it. */
  agrees: boolean | null;
  here: string;
}

const at = (method: MethodId, rates = RATES): Run[] => rates.map((rate) => run(method, rate));
const best = (results: Results, method: MethodId): number =>
  results.winner(at(method))?.loss ?? Number.POSITIVE_INFINITY;
const say = (loss: number): string => (Number.isFinite(loss) ? number(loss) : "diverged or above 10");
const said = (results: Results, ...methods: MethodId[]): string =>
  methods.map((method) => `${METHODS[method].name} ${say(best(results, method))}`).join(", ");

const learned = (results: Results, method: MethodId): number =>
  at(method).filter((each) => learns(results.best(each))).length;

/** Losses within a tenth of each other count as the same. */
const CLOSE = 1.1;

export function rateFindings(results: Results): Finding[] {
  const [sgd, g, fixed] = [best(results, "sgd"), best(results, "g_sgd"), best(results, "fixed_sgd")];
  const [adam, gAdam, fixedAdam] = [best(results, "adam"), best(results, "g_adam"), best(results, "fixed_adam")];
  const counts = (["sgd", "g_sgd", "fixed_sgd"] as const).map((method) => learned(results, method));
  const [ofSgd = 0, ofG = 0, ofFixed = 0] = counts;
  return [
    {
      place: "Figures 4.1, 4.4",
      thesis: "G-SGD and Fixed SGD care less about the learning rate than SGD does.",
      agrees: ofG > ofSgd && ofFixed > ofSgd,
      here: `below half the loss of guessing at ${ofSgd} of ${RATES.length} rates with SGD, ${ofG} with G-SGD, ${ofFixed} with Fixed SGD`,
    },
    {
      place: "Figures 4.1, 4.2",
      thesis: "The G-space brings no significant gain at the best rate.",
      agrees: g * CLOSE > sgd && gAdam * CLOSE > adam,
      here: `best losses: ${said(results, "sgd", "g_sgd", "adam", "g_adam")}`,
    },
    {
      place: "Figures 4.1, 4.2",
      thesis: "Adam on the G-space is the worst of SGD, Adam, G-SGD and G-Adam.",
      agrees: gAdam > Math.max(sgd, adam, g),
      here: `best losses: ${said(results, "sgd", "adam", "g_sgd", "g_adam")}`,
    },
    {
      place: "Figures 4.4, 4.5",
      thesis: "Fixed SGD is a little better than SGD.",
      agrees: fixed < sgd,
      here: `best losses: ${said(results, "sgd", "fixed_sgd")}`,
    },
    {
      place: "Figures 4.4, 4.5",
      thesis: "Fixed Adam is a little worse than Adam.",
      agrees: fixedAdam > adam,
      here: `best losses: ${said(results, "adam", "fixed_adam")}`,
    },
    {
      place: "Figure 4.10",
      thesis: "G-SGD and Fixed SGD are alike, and Fixed SGD is slightly ahead.",
      agrees: fixed < g && Math.abs(ofG - ofFixed) <= 1,
      here: `best losses: ${said(results, "g_sgd", "fixed_sgd")}; they learn at ${ofG} and ${ofFixed} of ${RATES.length} rates`,
    },
  ];
}

export function lowHighFindings(results: Results): Finding[] {
  const loss = (method: MethodId, rate: number): number => results.best(run(method, rate)) ?? Number.POSITIVE_INFINITY;
  const pair = (method: MethodId): string =>
    `${METHODS[method].name} ${say(loss(method, LOW_RATE))} and ${say(loss(method, HIGH_RATE))}`;
  return [
    {
      place: "Figure 4.3",
      thesis: "At the low rate G-SGD gets further than SGD.",
      agrees: loss("g_sgd", LOW_RATE) < loss("sgd", LOW_RATE),
      here: `losses at ${LOW_RATE} and at ${HIGH_RATE}: ${pair("sgd")}; ${pair("g_sgd")}`,
    },
    {
      place: "Figure 4.3",
      thesis: "Adam does well only at the low rate, SGD only at the high one.",
      // Where SGD has not begun to learn at either rate, they cannot be told apart.
      agrees: begun(Math.min(loss("sgd", LOW_RATE), loss("sgd", HIGH_RATE)))
        ? loss("adam", LOW_RATE) < loss("adam", HIGH_RATE) && loss("sgd", HIGH_RATE) < loss("sgd", LOW_RATE)
        : null,
      here: `losses at ${LOW_RATE} and at ${HIGH_RATE}: ${pair("adam")}; ${pair("sgd")}`,
    },
  ];
}

export function keptFindings(results: Results): Finding[] {
  const [sgd, fixed, kept] = [best(results, "sgd"), best(results, "fixed_sgd"), best(results, "fixed_sgd_kept")];
  const [g, gKept] = [best(results, "g_sgd"), best(results, "g_sgd_kept")];
  return [
    {
      place: "Figure 4.6",
      thesis: "Fixed weights help only when they are set to one; kept as drawn, they do no better than SGD.",
      agrees: fixed < kept && kept * CLOSE > sgd,
      here: `best losses: ${said(results, "sgd", "fixed_sgd", "fixed_sgd_kept")}`,
    },
    {
      place: "Section 4.3, left open there",
      thesis: "Is it the G-space that helps G-SGD, or only the ones on its skeleton?",
      agrees: null,
      here: `best losses: G-SGD with ones ${say(g)}, with the skeleton kept as drawn ${say(gKept)}, SGD ${say(sgd)}${
        gKept > g ? ": here it is the ones" : ": here the space itself helps too"
      }`,
    },
  ];
}

/** The rate of the lowest loss for each value of the fixed weights that learns at all. */
export function bestRates(results: Results): { value: number; rate: number; loss: number }[] {
  return VALUES.flatMap((value) => {
    const winner = results.winner(RATES.map((rate) => run("fixed_sgd", rate, value)));
    return winner && begun(winner.loss) ? [{ value, rate: winner.run.rate, loss: winner.loss }] : [];
  });
}

export function gridFindings(results: Results): Finding[] {
  const rows = bestRates(results);
  const rates = rows.map(({ rate }) => rate);
  const [first = 0, last = 0] = [rates[0], rates.at(-1)];
  const falls = rates.every((rate, index) => rate <= (rates[index - 1] ?? rate));
  const losses = rows.map(({ loss }) => loss).sort((a, b) => a - b);
  const [least = 0, second = 0] = losses;
  return [
    {
      place: "Figure 4.7",
      thesis: "Rate and fixed value go together: the larger the value, the smaller the rate it needs.",
      agrees: falls && last < first,
      here: `best rate by fixed value: ${rows.map(({ value, rate }) => `${value} → ${rate}`).join(", ")}`,
    },
    {
      place: "Figure 4.7",
      thesis: "No value of the fixed weights stands out.",
      agrees: second < least * 1.25,
      here: `lowest losses of the values, each at its best rate: ${losses.slice(0, 3).map(say).join(", ")}`,
    },
  ];
}
