/** What was opened: how it was read, the data as they came in, and what files do not say, to be chosen. */

import { render, html as template } from "lit-html";
import type { App } from "../app";
import { html, picture } from "../dom";
import { integer, number, percent, sentence } from "../format";
import { networkGroups } from "../networks";
import type { DataSummary, OpenChoice, OpenedFiles, Picture } from "../worker/protocol";
import { place, within } from "./place";
import { proposalView } from "./proposal";

const markup = template`
  <h3 id="opened-title">Your model</h3>
  <p id="opened-summary" class="note"></p>
  <p id="opened-figures"></p>
  <p id="opened-fault" class="fault" role="alert" hidden></p>
  <div id="opened-images" class="images" hidden></div>
  <p id="opened-counts" class="note"></p>
  <ul id="opened-notes" class="note"></ul>
  <fieldset id="opened-choices" class="fields of-words" aria-label="What files do not say">
    <label>Normalisation
      <select id="opened-normalization">
        <option value="">pixels / 255, other data as they are</option>
        <option value="mnist">MNIST’s mean and deviation</option>
        <option value="fashion_mnist">Fashion-MNIST’s</option>
        <option value="cifar10">CIFAR-10’s</option>
        <option value="cifar100">CIFAR-100’s</option>
        <option value="imagenet">ImageNet’s</option>
        <option value="minus_one_to_one">−1 to 1</option>
      </select>
    </label>
    <label>Of two sets
      <select id="opened-split">
        <option value="">the test set</option>
        <option value="train">the training set</option>
      </select>
    </label>
    <label>Batch normalisations
      <select id="opened-batch-norm">
        <option value="fold">folded, unless the network has scales</option>
        <option value="scale">as scales</option>
      </select>
    </label>
    <label class="whole">Network of weights alone
      <select id="opened-network">
        <option value="">the one that they fit</option>
        <option value="json">another one, as JSON…</option>
      </select>
    </label>
    <label id="opened-json-field" class="whole" hidden>Its JSON
      <textarea id="opened-json" rows="6" spellcheck="false" placeholder='{"input": [3, 32, 32], "layers": [{"type": "conv2d", "channels": 16, "kernel": 3}, …]}'></textarea>
    </label>
  </fieldset>
  <details id="opened-layers" class="options" hidden>
    <summary>Layer by layer: what weights do not tell</summary>
    <p class="note">Shapes of weights say which layers there are; activations, pools, strides, padding and shortcuts are yours to set. At the right is what each layer gives.</p>
    <div class="row wrap"><label class="inline">One input <input id="opened-input" type="text" size="14" autocomplete="off"></label><span id="opened-first"></span></div>
    <div class="scroll"><table>
      <thead><tr><th scope="col">layer</th><th scope="col">gives</th><th scope="col">behind it</th></tr></thead>
      <tbody id="opened-rows"></tbody>
    </table></div>
    <p id="opened-layers-fault" class="fault" role="alert" hidden></p>
    <button id="opened-apply" type="button">Open it so</button>
  </details>`;

/** Once, and then the elements in it are the view's. */
function rendered() {
  const section = place("opened");
  render(markup, section);
  const own = within(section);
  const groups = networkGroups().map(({ title, networks }) =>
    html("optgroup", { label: title }, ...networks.map(({ name, label }) => html("option", { value: name }, label))),
  );
  own("select", "opened-network").append(...groups);
  return {
    section,
    title: own("h3", "opened-title"),
    summary: own("p", "opened-summary"),
    figures: own("p", "opened-figures"),
    fault: own("p", "opened-fault"),
    images: own("div", "opened-images"),
    counts: own("p", "opened-counts"),
    notes: own("ul", "opened-notes"),
    choices: own("fieldset", "opened-choices"),
    network: own("select", "opened-network"),
    jsonField: own("label", "opened-json-field"),
    json: own("textarea", "opened-json"),
    batchNorm: own("select", "opened-batch-norm"),
    normalization: own("select", "opened-normalization"),
    split: own("select", "opened-split"),
    layers: own("details", "opened-layers"),
  };
}

type Elements = ReturnType<typeof rendered>;

/** Returns the controls as they stand, for files that are opened on top; nothing is chosen for `isNew` ones. */
export function openedView(app: App): (isNew: boolean) => OpenChoice {
  const elements = rendered();
  const { network, jsonField, json, batchNorm, normalization, split, choices, layers } = elements;
  const choose = (): void => {
    const isOwn = network.value === "json";
    jsonField.hidden = !isOwn;
    if (isOwn && json.value.trim() === "") return;
    void app.opener.files([], readChoice(elements));
  };
  proposalView(app, layers, (own) => void app.opener.files([], { ...readChoice(elements), network: own }));
  for (const field of [network, batchNorm, normalization, split, json]) field.addEventListener("change", choose);
  app.store.watch(["opened"], () => show(elements, app.store.state.opened));
  app.store.watch(["task"], () => {
    choices.disabled = app.store.state.task === "training";
  });
  return (isNew) => (isNew ? NOTHING_CHOSEN : readChoice(elements));
}

function readChoice({ network, json, batchNorm, normalization, split }: Elements): OpenChoice {
  return {
    network: network.value === "json" ? json.value : network.value,
    batchNorm: batchNorm.value as OpenChoice["batchNorm"],
    normalization: normalization.value as OpenChoice["normalization"],
    split: split.value as OpenChoice["split"],
  };
}

const NOTHING_CHOSEN: OpenChoice = { network: "", batchNorm: "fold", normalization: "", split: "" };

function show(elements: Elements, opened: OpenedFiles | null): void {
  const { section, title, summary, notes, fault, network, jsonField, json, batchNorm, normalization, split } = elements;
  section.hidden = opened === null;
  if (!opened) return;
  title.textContent = opened.name;
  const parts = [
    opened.format,
    opened.summary,
    opened.parameterCount && `${integer(opened.parameterCount)} parameters`,
  ];
  summary.textContent = parts.filter(Boolean).join(" · ");
  notes.replaceChildren(...opened.notes.map((note) => html("li", {}, sentence(note))));
  fault.textContent = opened.fault ?? "";
  fault.hidden = opened.fault === null;
  elements.figures.textContent = figures(opened);
  showData(elements, opened.data);
  const { choice } = opened;
  const isOwn = choice.network.trimStart().startsWith("{");
  network.value = isOwn ? "json" : choice.network;
  jsonField.hidden = !isOwn;
  if (isOwn) json.value = choice.network;
  batchNorm.value = choice.batchNorm;
  normalization.value = choice.normalization;
  split.value = choice.split;
}

function figures({ model, loss, accuracy, fault, data }: OpenedFiles): string {
  if (fault !== null) return "";
  if (!model || !data)
    return "Now drop the data that it was trained or tested on: npz, npy, IDX, CIFAR, CSV, or a zip of images.";
  const of = model.measuredSamples < model.samples ? `the first ${integer(model.measuredSamples)} of ` : "";
  const right = model.loss === "cross_entropy" ? `, accuracy ${percent(accuracy)}` : "";
  return `Loss ${number(loss)}${right} on ${of}${integer(model.samples)} samples from ${data.from}. Are these the numbers that you know? If not, try another normalisation.`;
}

function showData({ images: shown, counts: words }: Elements, data: DataSummary | null): void {
  shown.hidden = !data || data.images.length === 0;
  shown.replaceChildren(...(data?.images.map((image, index) => labelled(image, data.labels[index])) ?? []));
  const counts = data?.counts.map((count, label) => `${label}: ${integer(count)}`) ?? [];
  const values = data ? `Inputs from ${number(data.minimum)} to ${number(data.maximum)}.` : "";
  words.textContent = counts.length > 0 ? `${values} Samples a class: ${counts.join(", ")}.` : values;
}

function labelled(image: Picture, label = 0): HTMLElement {
  const canvas = picture(image, { role: "img", "aria-label": `an input of class ${label}` });
  return html("figure", {}, canvas, html("figcaption", {}, String(label)));
}
