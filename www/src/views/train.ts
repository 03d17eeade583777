/** Step 1: the options, the Train button, the numbers and the curve while it learns. */

import type { PresetName } from "isoflat";
import type { App } from "../app";
import { TrainingChart } from "../charts/training";
import { find, html, networkSummary } from "../dom";
import { LabError } from "../errors";
import { integer, number, percent } from "../format";
import { defaultsOf, MNIST_SAMPLES, networkGroups, unfitForMnist } from "../networks";
import { isComplete } from "../store";
import type { InitScheme, ModelChoice, NetworkChoice, TrainChoice } from "../worker/protocol";

/** The learning rate that suits each optimiser; set when the optimiser is chosen. */
const RATES: Record<TrainChoice["optimizer"], string> = { sgd: "0.2", momentum: "0.02", adam: "0.001" };

function wholeNumber(id: string, name: string): number {
  const value = Number(find("input", id).value);
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new LabError("invalid_option", `${name} must be a whole number, not “${find("input", id).value}”`);
  }
  return value;
}

function positive(id: string, name: string): number {
  const value = Number(find("input", id).value);
  if (!(value > 0))
    throw new LabError("invalid_option", `${name} must be above zero, not “${find("input", id).value}”`);
  return value;
}

function widths(): number[] {
  const text = find("input", "widths").value;
  const parts = text.split(/[^0-9]+/).filter((part) => part !== "");
  const numbers = parts.map(Number);
  if (/[^0-9\s,;x×–-]/.test(text) || numbers.length < 2 || numbers.some((width) => width < 1)) {
    throw new LabError("invalid_network", `“${text}” are no widths; write them like 784-100-10, input first`);
  }
  return numbers;
}

function readNetwork(): NetworkChoice {
  const network = find("select", "network").value;
  return network === "widths"
    ? { kind: "widths", widths: widths(), bias: find("input", "bias").checked }
    : { kind: "preset", name: network as PresetName };
}

function atLeastOne(id: string, name: string): number {
  const value = wholeNumber(id, name);
  if (value < 1) throw new LabError("invalid_option", `${name} must be at least 1`);
  return value;
}

export function readModelChoice(): ModelChoice {
  const seed = wholeNumber("seed", "The seed");
  const scheme = find("select", "init").value as InitScheme;
  const scaled = scheme === "uniform" || scheme === "normal";
  const samples = atLeastOne("samples", "The number of samples");
  return {
    network: readNetwork(),
    init: { scheme, scale: scaled ? positive("scale", "The initialisation’s scale") : 1, seed },
    data:
      find("select", "data").value === "synthetic"
        ? { kind: "synthetic", samples, seed }
        : { kind: "mnist", samples: Math.min(samples, MNIST_SAMPLES) },
    measured: readMeasured(),
  };
}

const readMeasured = (): number => atLeastOne("measured", "The number of samples measured");

export function readTrainChoice(): TrainChoice {
  return {
    optimizer: find("select", "optimizer").value as TrainChoice["optimizer"],
    learningRate: positive("learning-rate", "The learning rate"),
    batchSize: wholeNumber("batch", "The batch size"),
    epochs: wholeNumber("epochs", "The number of epochs"),
    seed: wholeNumber("seed", "The seed"),
  };
}

export function trainView(app: App): TrainingChart {
  const chart = new TrainingChart(find("div", "training-chart"));
  actions(app, chart);
  app.store.watch(["model", "modelChoice"], () => showModel(app));
  app.store.watch(["progress"], () => showProgress(app, chart));
  app.store.watch(["training"], () => showTraining(app));
  app.store.watch(["task", "model", "ready", "bend", "surfaces", "measures"], () => {
    const { task, model, ready } = app.store.state;
    find("button", "train-button").disabled = task === "training" || task === "starting";
    find("button", "stop-button").disabled = task !== "training";
    const look = find("button", "untrained-button");
    look.disabled = !model || task !== "idle";
    look.textContent = ready ? "Go on: compute what is missing" : "Look without training";
    look.hidden = ready && (task !== "idle" || isComplete(app.store.state));
  });
  return chart;
}

function actions(app: App, chart: TrainingChart): void {
  const guarded = (body: () => void) => () => {
    try {
      body();
    } catch (error) {
      app.messages.clear();
      app.messages.error(error);
    }
  };
  find("form", "train-form").addEventListener("submit", (event) => {
    event.preventDefault();
    guarded(() => {
      const choice = readTrainChoice();
      const fromFile = app.store.state.model !== null && app.store.state.modelChoice === null;
      const model = fromFile ? null : readModelChoice();
      chart.begin(choice.epochs);
      void app.train(model, choice);
    })();
  });
  find("button", "stop-button").addEventListener("click", () => app.stop());
  find("button", "untrained-button").addEventListener("click", () => void app.look());
  const choose = guarded(() => void app.chooseModel(readModelChoice()));
  find("select", "network").addEventListener("change", () => {
    fitData();
    useDefaults(true);
    showFields();
    choose();
  });
  find("input", "widths").addEventListener("change", () => {
    if (fitData()) useDefaults(false);
    showFields();
    choose();
  });
  find("select", "data").addEventListener("change", () => {
    useDefaults(false);
    showFields();
    choose();
  });
  find("select", "init").addEventListener("change", () => {
    showFields();
    choose();
  });
  for (const id of ["bias", "samples", "scale", "seed"]) find("input", id).addEventListener("change", choose);
  find("input", "measured").addEventListener(
    "change",
    guarded(() => {
      const samples = readMeasured();
      const { ready, model, task } = app.store.state;
      // What has been trained is not to be lost for looking at more or less of the data.
      if (ready && model && task !== "training") void app.setMeasured(samples);
      else void app.chooseModel(readModelChoice());
    }),
  );
  const optimizer = find("select", "optimizer");
  optimizer.addEventListener("change", () => {
    find("input", "learning-rate").value = RATES[optimizer.value as TrainChoice["optimizer"]];
  });
}

/** Fills the list of networks; before the first choice is read. */
export function fillNetworks(): void {
  const own = find("select", "network");
  const groups = networkGroups().map(({ title, networks }) =>
    html(
      "optgroup",
      { label: title },
      ...networks.map(({ name, label }) => html("option", { value: name, selected: name === "small" }, label)),
    ),
  );
  own.prepend(...groups);
  useDefaults(true);
  showFields();
}

/** Were the digits left for a network that they do not fit? They come back with one that they fit. */
let digitsWanted = true;

/** Random samples where the network does not take MNIST's digits, and says so; whether the data are others now. */
function fitData(): boolean {
  const data = find("select", "data");
  const digits = data.querySelector<HTMLOptionElement>("option[value=mnist]");
  const note = find("p", "data-note");
  let unfit: string | null = null;
  try {
    unfit = unfitForMnist(readNetwork());
  } catch {
    // Widths that are none are refused where they are read.
  }
  const before = data.value;
  if (unfit !== null && !note.textContent) digitsWanted = before === "mnist";
  if (unfit !== null) data.value = "synthetic";
  else if (note.textContent) data.value = digitsWanted ? "mnist" : "synthetic";
  if (digits) digits.disabled = unfit !== null;
  note.textContent = unfit ?? "";
  note.hidden = unfit === null;
  return data.value !== before;
}

/** As many samples as the network is quick with; `anew`: another network, so its epochs too. */
function useDefaults(anew: boolean): void {
  let network: NetworkChoice = { kind: "preset", name: "small" };
  try {
    network = readNetwork();
  } catch {
    // Widths that are none are refused where they are read.
  }
  const { training, random, measured, epochs } = defaultsOf(network);
  const samples = find("select", "data").value === "synthetic" ? random : training;
  find("input", "samples").value = String(samples);
  find("input", "measured").value = String(Math.min(measured, samples));
  if (anew) find("input", "epochs").value = String(epochs);
}

/** Fields that belong to another field's choice. */
function showFields(): void {
  const own = find("select", "network").value === "widths";
  find("label", "widths-field").hidden = !own;
  find("label", "bias-field").hidden = !own;
  const random = find("select", "data").value === "synthetic";
  find("span", "samples-label").textContent = random ? "Random samples" : "Training samples";
  find("input", "samples").max = String(random ? 100000 : MNIST_SAMPLES);
  const scheme = find("select", "init").value;
  find("label", "scale-field").hidden = scheme !== "uniform" && scheme !== "normal";
  find("span", "scale-label").textContent = scheme === "normal" ? "σ" : "b";
}

/** How long it takes is said below, once it is known. */
function story({ network, data }: ModelChoice): (string | HTMLElement)[] {
  const small = network.kind === "preset" && network.name === "small" && data.kind === "mnist";
  const what =
    data.kind === "synthetic"
      ? "A network learns the labels of random samples by heart, here in your browser. Press "
      : `A ${small ? "small " : ""}network learns handwritten digits, here in your browser. Press `;
  return [what, html("em", {}, "Train"), small ? ": it takes a few seconds." : "."];
}

function showModel(app: App): void {
  const { model, modelChoice } = app.store.state;
  const summary = find("p", "model-summary");
  if (!model) {
    summary.textContent = "";
    return;
  }
  const random = modelChoice?.data.kind === "synthetic";
  if (modelChoice) find("p", "train-story").replaceChildren(...story(modelChoice));
  const data = modelChoice ? model.data : `the file “${model.data}”`;
  const test = model.validationSamples > 0 ? `, ${integer(model.validationSamples)} test` : "";
  summary.replaceChildren(
    networkSummary(model.summary),
    ` · ${integer(model.parameterCount)} parameters · ${data}${random ? "" : ` (${integer(model.samples)} samples${test})`}`,
  );
  find("li", "legend-test").hidden = model.validationSamples === 0;
  if (modelChoice) return;
  const back = html("button", { type: "button", class: "link", id: "close-file" }, "Close the file");
  back.addEventListener("click", () => void app.chooseModel(readModelChoice()));
  summary.append(" ", back);
}

function showProgress(app: App, chart: TrainingChart): void {
  const { progress, task } = app.store.state;
  if (task !== "training" || !progress || progress.loss === undefined) return;
  const epochs = Number(find("input", "epochs").value);
  const at = (progress.done / Math.max(progress.total, 1)) * epochs;
  chart.add(at, {
    loss: progress.loss,
    ...(progress.accuracy !== undefined && { accuracy: progress.accuracy }),
    ...(progress.validationAccuracy !== undefined && { test: progress.validationAccuracy }),
  });
  find("output", "r-epoch").textContent = `${progress.epoch ?? 1} / ${epochs}`;
  find("output", "r-loss").textContent = number(progress.loss);
  if (progress.accuracy !== undefined) find("output", "r-accuracy").textContent = percent(progress.accuracy);
  if (progress.validationAccuracy !== undefined) showTestAccuracy(progress.validationAccuracy);
}

function showTestAccuracy(accuracy: number): void {
  const output = find("output", "r-validation");
  output.textContent = percent(accuracy);
  output.dataset.value = String(accuracy);
}

function showTraining(app: App): void {
  const { training, model } = app.store.state;
  if (!training) {
    for (const id of ["r-epoch", "r-loss", "r-accuracy", "r-validation"]) {
      find("output", id).textContent = "–";
      delete find("output", id).dataset.value;
    }
    return;
  }
  const epoch = find("output", "r-epoch");
  if (training.stopped) epoch.textContent = `${epoch.textContent} stopped`;
  find("output", "r-loss").textContent = number(training.loss);
  if (model?.loss === "cross_entropy") find("output", "r-accuracy").textContent = percent(training.accuracy);
  if (training.validationAccuracy !== undefined) showTestAccuracy(training.validationAccuracy);
}
