/** Section 4.3: a constant function within reach. */

import { judged } from "../../constructions";
import { number, power } from "../../format";
import { facts } from "../card";
import { type ConstructionCard, note, outputsOf } from "./construction";

const EPSILON = 0.01;

export const ball: ConstructionCard<"ball"> = {
  title: "A constant function within reach",
  about:
    "Shrink the first layer until it is as short as ε. Then setting it to zero, which leaves a constant function, is a step of length ε: the ε-sharpness is at least that large (section 4.3).",
  action: `Measure it, ε = ${EPSILON}`,
  asked: EPSILON,
  show: ({ holds, distance, epsilon, loss, constantLoss, before, guaranteed, measured, outputs }) => ({
    data: { holds: String(holds) },
    body: [
      facts([
        ["length of the first layer, now", `${number(distance)} ≤ ε = ${number(epsilon)}`],
        ["loss", number(loss)],
        ["loss of the constant function", number(constantLoss)],
        ["ε-sharpness as trained", `${number(before.value)}${before.converged ? "" : ", not converged"}`],
        ["guaranteed after the rescaling", `≥ ${number(guaranteed)}`],
        ["measured", `${number(measured.value)} ${judged(holds, measured.converged, "less than guaranteed")}`],
        ["outputs", outputsOf(outputs, power)],
      ]),
      note("By ascent from several starts: lower bounds, in the same ball before and after."),
    ],
  }),
};
