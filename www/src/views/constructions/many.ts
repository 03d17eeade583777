/** Theorem 5: many large eigenvalues at once. */

import { dots, level } from "../../charts/plot";
import { log } from "../../charts/scales";
import { judged } from "../../constructions";
import { integer, number } from "../../format";
import { facts } from "../card";
import { type ConstructionCard, outputsOf } from "./construction";

const positive = (values: number[]): number[] => [...values].reverse().filter((value) => value > 0);

export const many: ConstructionCard<"many"> = {
  title: "Many large eigenvalues",
  about:
    "Not one direction alone: shrinking all layers but the smallest makes nearly all positive eigenvalues of the Hessian exceed M at once (Theorem 5). M is the slider’s.",
  action: "Compute both spectra",
  asked: true,
  show: (many) => {
    const [before, after] = [positive(many.spectrumBefore), positive(many.spectrumAfter)];
    const high = Math.max(after[0] ?? 1, before[0] ?? 1, many.target) * 2;
    // Below it eigenvalues are rounding.
    const low = Math.max((before[0] ?? 1) * 1e-8, 1e-12);
    const ranks = (values: number[]) => values.map((_, index) => index + 1);
    const rows = ranks(before.length > after.length ? before : after);
    const padded = (values: number[]) => rows.map((rank) => values[rank - 1] ?? null);
    return {
      data: { holds: String(many.holds) },
      drawn: {
        title: "Positive eigenvalues, before and after",
        caption: `Dinh et al. 2017, Theorem 5, with M = ${number(many.target)}: circles as trained, diamonds after the rescaling`,
        plot: {
          x: log(1, Math.max(before.length, after.length, 2)),
          y: log(low, high),
          xLabel: "positive eigenvalues, largest first",
          yLabel: "eigenvalue",
          label: `Eigenvalues of the Hessian: ${many.before} above M as trained, ${many.measured} after the rescaling`,
          marks: (frame) => [
            level(frame, many.target, `M = ${number(many.target)}`),
            dots(frame, ranks(before), before, "trained", 2.5),
            dots(frame, ranks(after), after, "bent", 2.5),
          ],
        },
        columns: () => [
          { name: "rank", values: rows },
          { name: "eigenvalue_trained", values: padded(before) },
          { name: "eigenvalue_rescaled", values: padded(after) },
        ],
      },
      body: [
        facts([
          ["eigenvalues above M, as trained", integer(many.before)],
          ["promised by the theorem", integer(many.promised)],
          ["measured", `${integer(many.measured)} ${judged(many.holds, true, "fewer than promised")}`],
          ["β, by which the larger layers shrink", number(many.beta)],
          ["outputs", outputsOf(many.outputs, (value) => number(value, 1))],
        ]),
      ],
    };
  },
};
