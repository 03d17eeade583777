/** Section 5.1 with Appendix A: other coordinates around the minimum, as Figure 6 has them. */

import { judged } from "../../constructions";
import { factor, integer, number, power } from "../../format";
import { facts } from "../card";
import { type ConstructionCard, note } from "./construction";

/** Two spectra, one by iteration: to as many digits as its residual leaves, and those of products in single precision. */
const [RESIDUALS, ROUNDING] = [2, 1e-4];

export const radial: ConstructionCard<"radial"> = {
  title: "Other coordinates at this minimum",
  about:
    "A radial map stretches what is near the weights and moves nothing far away: η = θ̂ + ψ(r) (θ − θ̂)/r with r = ‖θ − θ̂‖. Not a weight changes, nor a loss, and curvature at θ̂ is multiplied by (r̂/ρ)² (section 5.1, Figure 6).",
  action: "Compute the Hessian in η",
  asked: {
    label: "In η it is to be",
    options: [
      [100, "100 times as flat"],
      [10_000, `${integer(10_000)} times as flat`],
      [0.01, "100 times as sharp"],
      [0.0001, `${integer(10_000)} times as sharp`],
    ],
  },
  show: ({ flatter, before, after, inner, rho, delta, relativeTerm }) => {
    const predicted = before.value / flatter;
    const error = Math.abs(after / predicted - 1);
    const holds = error <= ROUNDING + (RESIDUALS * before.residual) / before.value;
    return {
      data: { holds: String(holds && before.converged), ratio: String(before.value / after) },
      body: [
        facts([
          ["largest eigenvalue in θ", `${number(before.value)}${before.converged ? "" : ", not converged"}`],
          ["predicted in η, (r̂/ρ)² times that", number(predicted)],
          ["computed in η", `${number(after)} ${judged(holds, before.converged, "not the predicted one")}`],
          ["its change", factor(after / before.value)],
          ["the two differ by", power(error)],
          ["r̂ goes to ρ, within δ", `${number(inner)} to ${number(rho)}, ${number(delta)}`],
        ]),
        note(
          relativeTerm === 0
            ? "The map is linear next to θ̂, so that its second derivatives add nothing, at a minimum or not."
            : `The map’s second derivatives are ${power(relativeTerm)} of the Hessian in η.`,
        ),
      ],
    };
  },
};
