/** Section 5.2: other coordinates of the inputs. */

import { dots } from "../../charts/plot";
import { linear, log } from "../../charts/scales";
import { lineKey } from "../../figures/plots";
import { integer, number, power } from "../../format";
import type { InputMap, InputsFinding } from "../../worker/protocol";
import { facts } from "../card";
import { type ConstructionCard, note, outputsOf } from "./construction";

const NAMES: Record<InputMap, string> = {
  standardize: "mean 0 and variance 1",
  whiten: "mean 0 and covariance 1",
  gaussianize: "each normally distributed",
};

/** What the chain rule leaves in single precision. */
const ROUNDING = 1e-3;

export const inputs: ConstructionCard<"inputs"> = {
  title: "The input’s representation",
  about:
    "The same function of inputs in other units: x = ξ(u), and the first layer takes ξ into its weights where it is affine. No output changes, but the gradients by the inputs do, by as much as ξ makes them: how long they are is no measure of flatness either (section 5.2).",
  action: "Compare the gradients",
  asked: {
    label: "Features u",
    options: [
      ["standardize", "of mean 0 and variance 1"],
      ["whiten", "of mean 0 and covariance 1, whitened"],
      ["gaussianize", "gaussianised, one by one"],
    ],
  },
  show: (found) => {
    const { map, samples, predictionGradients, lossGradients, chainRuleError, outputs } = found;
    const { meanBefore, meanAfter, ratios } = predictionGradients;
    const agrees = chainRuleError <= ROUNDING && outputs.relative <= ROUNDING;
    return {
      data: { agrees: String(agrees), map },
      drawn: drawn(found),
      body: [
        note("● by x, ◆ by u: the length of each sample’s gradient of the prediction function."),
        facts([
          ["mean ‖∂f/∂x‖, as trained", number(meanBefore)],
          [`mean ‖∂f/∂u‖, ${NAMES[map]}`, `${number(meanAfter)}, ${times(meanAfter / meanBefore)}`],
          ratios ? ["sample by sample", `× ${number(ratios[0])} to × ${number(ratios[1])}`] : null,
          [
            "mean gradient of the loss, by x and by u",
            `${number(lossGradients.meanBefore)} and ${number(lossGradients.meanAfter)}`,
          ],
          [
            "as the chain rule says",
            chainRuleError <= ROUNDING ? `✓ to ${power(chainRuleError)}` : `✗ off by ${power(chainRuleError)}`,
          ],
          [
            "outputs",
            outputs.relative <= ROUNDING ? outputsOf(outputs, power) : `✗ differ by ${power(outputs.relative)}`,
          ],
        ]),
        note(
          map === "gaussianize"
            ? `Of the first ${integer(samples)} samples. No weights can take such a map: the network is given ξ(u).`
            : `Of ${integer(samples)} samples. The gradients by u are those of the network whose first layer has taken ξ.`,
        ),
      ],
    };
  },
};

const times = (ratio: number): string => `× ${number(ratio)}`;

function drawn({ map, samples, predictionGradients: { before, after } }: InputsFinding) {
  // In the order of their gradients by x.
  const order = before.map((_, index) => index).sort((a, b) => (before[a] ?? 0) - (before[b] ?? 0));
  const ranks = order.map((_, rank) => rank + 1);
  const sorted = (values: number[]) => order.map((index) => values[index] ?? Number.NaN);
  const [byX, byU] = [sorted(before), sorted(after)];
  const all = [...byX, ...byU].filter((value) => value > 0);
  const [low, high] = all.length > 0 ? [Math.min(...all), Math.max(...all)] : [0.1, 1];
  return {
    title: "Gradients by the inputs, sample by sample",
    caption: `Dinh et al. 2017, section 5.2, of ${samples} samples: circles by the inputs as they are, diamonds by inputs u, ${NAMES[map]}`,
    plot: {
      x: linear(0, ranks.length + 1, 5),
      y: log(low / 1.3, high * 1.3),
      xLabel: "samples, in the order of ‖∂f/∂x‖",
      yLabel: "gradient’s length",
      label: `Length of each sample’s gradient by x, ${number(low)} at the least of both, and by u`,
      marks: (frame: Parameters<typeof dots>[0]) => [
        dots(frame, ranks, byX, "trained", 2),
        dots(frame, ranks, byU, "bent", 2),
      ],
    },
    keys: [lineKey("by x", "trained", "dots alone"), lineKey("by u", "bent", "dots alone")],
    columns: () => [
      { name: "sample", values: order.map((index) => index + 1) },
      { name: "gradient_by_x", values: byX },
      { name: "gradient_by_u", values: byU },
    ],
  };
}
