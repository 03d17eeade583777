/** Before the work: how long it will take and how much memory, beside the button that begins it. */

import type { App } from "../app";
import { find, html } from "../dom";
import { estimateOf, hint, type Settings, type Work } from "../estimates";
import { bytes, duration } from "../format";

const PLACES: [Work, string, string][] = [
  ["training", "train-estimate", "Training takes"],
  ["landscape", "look-estimate", "The landscape takes"],
  ["measures", "measures-estimate", "All measures at one point take"],
  ["spectrum", "spectrum-estimate", "The spectrum of one point takes"],
  ["check", "check-estimate", "The check takes"],
];

export function estimateView(app: App): void {
  const show = () => {
    for (const [work, id, begin] of PLACES) showOne(app, work, id, begin);
  };
  app.store.watch(["costs", "model", "landscapeChoice", "spectrumChoice"], show);
  for (const id of ["epochs", "batch"]) find("input", id).addEventListener("input", show);
  // Setting another field may set these.
  find("select", "network").addEventListener("change", show);
}

function showOne(app: App, work: Work, id: string, begin: string): void {
  const { costs, model, landscapeChoice, spectrumChoice, engine } = app.store.state;
  const place = find("p", id);
  const epochs = Number(find("input", "epochs").value);
  const batchSize = Number(find("input", "batch").value);
  // Of fields that are empty there is nothing to be said.
  const isKnown = work !== "training" || (epochs > 0 && batchSize > 0);
  if (!costs || !model || !isKnown) {
    place.replaceChildren();
    delete place.dataset.seconds;
    delete place.dataset.bytes;
    return;
  }
  const { points, directions } = landscapeChoice;
  const density = spectrumChoice.probes * spectrumChoice.steps;
  const threads = engine?.info.threads ?? 1;
  const settings: Settings = { threads, points, directions, density, training: { epochs, batchSize } };
  const estimate = estimateOf(work, costs, model, settings);
  const advice = hint(work, estimate);
  place.dataset.seconds = String(estimate.seconds);
  place.dataset.bytes = String(estimate.bytes);
  place.replaceChildren(
    `${begin} ${duration(estimate.seconds)} and ${bytes(estimate.bytes)} of memory.`,
    advice && html("strong", { class: "hint" }, ` ${advice}`),
  );
}
