/** Theorem 2: boxes of one volume without end. */

import { curve, dots } from "../../charts/plot";
import { linear } from "../../charts/scales";
import { number } from "../../format";
import { facts } from "../card";
import { type ConstructionCard, note } from "./construction";

export const boxes: ConstructionCard<"boxes"> = {
  title: "Boxes without end",
  about:
    "Around the weights lies a box in which the loss stays below L + ε. Stretching the layers moves it elsewhere, no smaller and with the same losses, as often as one likes: the flat region’s volume is infinite (Theorem 2).",
  action: "Build the boxes",
  asked: true,
  show: (volume) => {
    const ks = volume.boxes.map(({ power }) => power + 1);
    const volumes = volume.boxes.map(({ totalLogVolume }) => totalLogVolume / Math.LN10);
    const [low, high] = [Math.min(...volumes), Math.max(...volumes)];
    const room = (high - low) * 0.08 || 1;
    const largest = Math.max(...volume.boxes.map(({ largestDifference }) => largestDifference));
    return {
      data: { disjoint: String(volume.disjoint) },
      drawn: {
        title: "Volume of the boxes together",
        caption: "Dinh et al. 2017, Theorem 2: disjoint boxes of the same losses",
        plot: {
          x: linear(0.5, ks.length + 0.5),
          y: linear(low - room, high + room, 5),
          xLabel: "boxes",
          yLabel: "log₁₀ of their volume",
          label: `Volume of the boxes together: a power of ten of ${number(low)} with one box, ${number(high)} with ${ks.length}`,
          left: 76,
          marks: (frame) => [curve(frame, ks, volumes, "bent"), dots(frame, ks, volumes, "bent", 4)],
        },
        columns: () => [
          { name: "boxes", values: ks },
          { name: "log10_volume", values: volumes },
        ],
      },
      body: [
        facts([
          ["ε", number(volume.epsilon)],
          ["half a side", `${number(volume.radius)}${volume.radiusFound ? ", by a search for higher points" : ""}`],
          ["from box to box, layers × and ÷", number(volume.alpha)],
          ["largest rise of the loss found inside", number(volume.largestRise, 2)],
          ["losses in all boxes the same to", number(largest, 1)],
          ["boxes disjoint", volume.disjoint ? "✓ yes" : "✗ no"],
        ]),
        note(`Sampled at ${volume.samples} points a box, half of them corners.`),
      ],
    };
  },
};
