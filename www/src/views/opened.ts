/** What was opened: how it was read, the data as they came in, and what files do not say, to be chosen. */

import type { App } from "../app";
import { find, html, picture } from "../dom";
import { integer, number, percent, sentence } from "../format";
import { networkGroups } from "../networks";
import type { DataSummary, OpenChoice, OpenedFiles, Picture } from "../worker/protocol";
import { proposalView } from "./proposal";

export function openedView(app: App): void {
  const choices = ["opened-network", "opened-batch-norm", "opened-normalization", "opened-split"] as const;
  fillNetworks();
  const json = find("textarea", "opened-json");
  const choose = (): void => {
    const isOwn = find("select", "opened-network").value === "json";
    find("label", "opened-json-field").hidden = !isOwn;
    if (isOwn && json.value.trim() === "") return;
    void app.opener.files([], readChoice());
  };
  proposalView(app, (network) => void app.opener.files([], { ...readChoice(), network }));
  for (const id of choices) find("select", id).addEventListener("change", choose);
  json.addEventListener("change", choose);
  app.store.watch(["opened"], () => show(app.store.state.opened));
  app.store.watch(["task"], () => {
    find("fieldset", "opened-choices").disabled = app.store.state.task === "training";
  });
}

function fillNetworks(): void {
  const groups = networkGroups().map(({ title, networks }) =>
    html("optgroup", { label: title }, ...networks.map(({ name, label }) => html("option", { value: name }, label))),
  );
  find("select", "opened-network").append(...groups);
}

function readChoice(): OpenChoice {
  const network = find("select", "opened-network").value;
  return {
    network: network === "json" ? find("textarea", "opened-json").value : network,
    batchNorm: find("select", "opened-batch-norm").value as OpenChoice["batchNorm"],
    normalization: find("select", "opened-normalization").value as OpenChoice["normalization"],
    split: find("select", "opened-split").value as OpenChoice["split"],
  };
}

/** The controls as they stand, for files that are opened on top. */
export const openChoice = (isNew: boolean): OpenChoice => (isNew ? NOTHING_CHOSEN : readChoice());

const NOTHING_CHOSEN: OpenChoice = { network: "", batchNorm: "fold", normalization: "", split: "" };

function show(opened: OpenedFiles | null): void {
  find("section", "opened").hidden = opened === null;
  if (!opened) return;
  find("h3", "opened-title").textContent = opened.name;
  const parts = [
    opened.format,
    opened.summary,
    opened.parameterCount && `${integer(opened.parameterCount)} parameters`,
  ];
  find("p", "opened-summary").textContent = parts.filter(Boolean).join(" · ");
  const notes = opened.notes.map((note) => html("li", {}, sentence(note)));
  find("ul", "opened-notes").replaceChildren(...notes);
  find("p", "opened-fault").textContent = opened.fault ?? "";
  find("p", "opened-fault").hidden = opened.fault === null;
  find("p", "opened-figures").textContent = figures(opened);
  showData(opened.data);
  const { choice } = opened;
  const isOwn = choice.network.trimStart().startsWith("{");
  find("select", "opened-network").value = isOwn ? "json" : choice.network;
  find("label", "opened-json-field").hidden = !isOwn;
  if (isOwn) find("textarea", "opened-json").value = choice.network;
  find("select", "opened-batch-norm").value = choice.batchNorm;
  find("select", "opened-normalization").value = choice.normalization;
  find("select", "opened-split").value = choice.split;
}

function figures({ model, loss, accuracy, fault, data }: OpenedFiles): string {
  if (fault !== null) return "";
  if (!model || !data)
    return "Now drop the data that it was trained or tested on: npz, npy, IDX, CIFAR, CSV, or a zip of images.";
  const of = model.measuredSamples < model.samples ? `the first ${integer(model.measuredSamples)} of ` : "";
  const right = model.loss === "cross_entropy" ? `, accuracy ${percent(accuracy)}` : "";
  return `Loss ${number(loss)}${right} on ${of}${integer(model.samples)} samples from ${data.from}. Are these the numbers that you know? If not, try another normalisation.`;
}

function showData(data: DataSummary | null): void {
  const shown = find("div", "opened-images");
  shown.hidden = !data || data.images.length === 0;
  shown.replaceChildren(...(data?.images.map((image, index) => labelled(image, data.labels[index])) ?? []));
  const counts = data?.counts.map((count, label) => `${label}: ${integer(count)}`) ?? [];
  const values = data ? `Inputs from ${number(data.minimum)} to ${number(data.maximum)}.` : "";
  find("p", "opened-counts").textContent =
    counts.length > 0 ? `${values} Samples a class: ${counts.join(", ")}.` : values;
}

function labelled(image: Picture, label = 0): HTMLElement {
  const canvas = picture(image, { role: "img", "aria-label": `an input of class ${label}` });
  return html("figure", {}, canvas, html("figcaption", {}, String(label)));
}
