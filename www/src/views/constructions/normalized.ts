/** Section 5.1: weight normalisation, and v → αv. */

import { curve, dots } from "../../charts/plot";
import { linear, log } from "../../charts/scales";
import { judged } from "../../constructions";
import { lineKey } from "../../figures/plots";
import { number, power } from "../../format";
import type { NormalizedFinding } from "../../worker/protocol";
import { facts } from "../card";
import { type ConstructionCard, note, outputsOf } from "./construction";

type Scale = NormalizedFinding["scales"][number];

/** What two ascents to one summit leave of it. */
const TOLERANCE = 1e-2;

export const normalized: ConstructionCard<"normalized"> = {
  title: "Weight normalisation",
  about:
    "Write each row of weights as w = s v/‖v‖. Then v → αv leaves the function as it is, and every minimum is as flat in v as one likes: a ball of radius ε around αv is one of radius ε/α around v, and a box in v has α times the side (section 5.1).",
  action: "Measure it for five α",
  asked: true,
  show: (found) => {
    const { scales, volumes, epsilon, boxes } = found;
    const [first, last] = [scales[0], scales.at(-1)];
    const converged = scales.every(({ directions }) => directions.converged);
    const falls = isFalling(scales);
    const worst = scales.reduce((worst, { outputs }) => (outputs.relative > worst.relative ? outputs : worst), {
      bitwise: true,
      relative: 0,
    });
    const grows = volumes.every(({ logVolume }, index) => logVolume > (volumes[index - 1]?.logVolume ?? -Infinity));
    return {
      data: { falls: String(falls && converged), grows: String(grows && boxes.disjoint) },
      drawn: drawn(found),
      body: [
        note(
          "◆ sharpness where v alone moves, ● where s and the biases do too; on the right, the line, a box’s volume.",
        ),
        facts([
          ["ε of the ball", number(epsilon)],
          ...(first && last
            ? ([
                [`sharpness in v, α = ${number(first.alpha)}`, number(first.directions.value)],
                [
                  `sharpness in v, α = ${number(last.alpha)}`,
                  `${number(last.directions.value)} ${judged(falls, converged, "does not fall everywhere")}`,
                ],
              ] as [string, string][])
            : []),
          ["outputs for all α", outputsOf(worst, power)],
          ["boxes grow with α, and are disjoint", grows && boxes.disjoint ? "✓ yes" : "✗ no"],
          ["half a side of the first box", number(boxes.radius)],
          ["losses in all boxes the same to", number(boxes.largestDifference, 1)],
        ]),
        note("Sharpness by ascent from several starts: lower bounds. s and the biases keep what is theirs of it."),
      ],
    };
  },
};

const isFalling = (scales: readonly Scale[]): boolean =>
  scales.every(({ directions }, index) => {
    const before = scales[index - 1];
    return !before || directions.value <= before.directions.value * (1 + TOLERANCE);
  });

function drawn({ scales, volumes, epsilon }: NormalizedFinding) {
  const alphas = scales.map(({ alpha }) => alpha);
  const directions = scales.map(({ directions }) => directions.value);
  const whole = scales.map(({ whole }) => whole.value);
  const all = [...directions, ...whole].filter((value) => value > 0);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const powers = volumes.map(({ logVolume }) => logVolume / Math.LN10);
  const [least, most] = [Math.min(...powers), Math.max(...powers)];
  const room = (most - least) * 0.08 || 1;
  const boxed = volumes.map(({ alpha }) => alpha);
  const furthest = Math.max(...alphas, ...boxed);
  const none = (values: readonly number[]) => values.map(() => null);
  return {
    title: "Sharpness and volume over α",
    caption: `Dinh et al. 2017, section 5.1: weight normalisation w = s v/‖v‖ after v → αv; sharpness in balls of radius ${epsilon}, and the volume of boxes of the same losses`,
    plot: {
      x: log((alphas[0] ?? 0.1) / 1.3, furthest * 1.3),
      y: log(low / 2, high * 2),
      xLabel: "α",
      yLabel: "ε-sharpness",
      right: { scale: linear(least - room, most + room, 4), label: "log₁₀ of volume" },
      label: `ε-sharpness where v alone moves: ${number(directions[0] ?? Number.NaN)} at the smallest α, ${number(directions.at(-1) ?? Number.NaN)} at the largest; a box’s volume grows from a power of ten of ${number(least)} to ${number(most)}`,
      marks: (frame: Parameters<typeof curve>[0]) => {
        const right = { ...frame, y: frame.yRight ?? frame.y };
        return [
          curve(right, boxed, powers, "loss"),
          curve(frame, alphas, whole, "trained"),
          dots(frame, alphas, whole, "trained", 3),
          curve(frame, alphas, directions, "bent"),
          dots(frame, alphas, directions, "bent", 3.5),
        ];
      },
    },
    keys: [
      lineKey("where v alone moves", "bent", "dots"),
      lineKey("where s and the biases move too", "trained", "dots"),
      lineKey("volume of a box", "loss"),
    ],
    columns: () => [
      { name: "alpha", values: [...alphas, ...boxed] },
      { name: "sharpness_v", values: [...directions, ...none(boxed)] },
      { name: "sharpness_all", values: [...whole, ...none(boxed)] },
      { name: "log10_box_volume", values: [...none(alphas), ...powers] },
    ],
  };
}
