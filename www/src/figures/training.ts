/** A training run as a figure. */

import { type Learning, trainingPlot } from "../charts/training";
import type { State } from "../store";
import { captionOf, joined, trainedBy } from "./caption";
import type { Column } from "./columns";
import type { Figure } from "./figure";
import { lineKey, plotted } from "./plots";

export function trainingFigure(state: State, learning: Learning): Figure | null {
  const { epoch, loss, accuracy, test } = learning;
  if (epoch.length === 0) return null;
  const has = (values: (number | null)[]) => values.some((value) => value !== null);
  const column = (name: string, values: (number | null)[]): Column[] => (has(values) ? [{ name, values }] : []);
  return {
    name: "training",
    title: "Loss and accuracy during training",
    caption: joined(captionOf(state), trainedBy(state)),
    columns: () => [
      { name: "epoch", values: epoch },
      { name: "loss", values: loss },
      ...column("accuracy", accuracy),
      ...column("test_accuracy", test),
    ],
    drawing: plotted(trainingPlot(learning), [
      lineKey("loss", "loss"),
      ...(has(accuracy) ? [lineKey("accuracy", "accuracy")] : []),
      ...(has(test) ? [lineKey("test accuracy", "test", "dots")] : []),
    ]),
  };
}
