/** The options, the Train button, the numbers and the curve while it learns. */

import type { App } from "../app";
import { type Learning, TrainingChart } from "../charts/training";
import { html, networkSummary } from "../dom";
import { LabError } from "../errors";
import type { Training } from "../estimates";
import { FieldFault } from "../fields";
import { alternate, disable } from "../focus";
import { integer } from "../format";
import { defaultsOf, MNIST_SAMPLES, networkGroups, unfitForMnist } from "../networks";
import { isComplete } from "../plan";
import {
  accuracySaid,
  canTrain,
  DIVERGED,
  divergenceSaid,
  epochsSaid,
  hasDiverged,
  lossSaid,
  unfinishedSaid,
} from "../training";
import type { ModelChoice, NetworkChoice, TrainChoice } from "../worker/protocol";
import type { Unfinished } from "../worker/unfinished";
import { ESTIMATED, showEstimate } from "./estimate";
import { part, renderForm } from "./train-form";
import {
  clearFaults,
  isScaled,
  readMeasured,
  readModelChoice,
  readNetwork,
  readTrainChoice,
  showAtField,
  writeChoices,
} from "./training-choice";

export { readModelChoice };

/** The learning rate that suits each optimiser; set when the optimiser is chosen. */
const RATES: Record<TrainChoice["optimizer"], string> = { sgd: "0.2", momentum: "0.02", adam: "0.001" };

/** Of the run that is shown. */
let epochs = 1;
/** Networks of the options that are being made. */
let choosing = 0;
/** Fields that were written in before there was a network: the page's first one leaves them as they are. */
const early = new Set<string>();
/** Of networks that were trained since the page was opened, by the names of what is kept of them. */
const curves = new Map<string, Learning>();

export function trainView(app: App): TrainingChart {
  const chart = new TrainingChart(part("div", "training-chart"));
  actions(app, chart);
  app.store.watch(["model", "modelChoice"], () => showModel(app));
  let written: TrainChoice | null = null;
  app.store.watch(["modelChoice", "trainChoice"], () => {
    const { modelChoice, trainChoice, task } = app.store.state;
    const isNew = trainChoice !== written;
    written = trainChoice;
    // A reload, a result or a link brings a network: its options come with it. What has come from the fields has been changed there since.
    if (task === "training") return;
    writeChoices(choosing === 0 ? modelChoice : null, isNew ? trainChoice : null, early);
    if (modelChoice) early.clear();
    fitData();
    showFields();
  });
  watchRun(app, chart);
  continuing(app, chart);
  app.store.watch(["progress"], () => showProgress(app, chart));
  app.store.watch(["training"], () => showTraining(app, chart));
  app.store.watch(["training", "stamp"], () => showCurve(app, chart));
  app.store.watch(["task", "model", "ready", "bend", "surfaces", "measures", "isWanted"], () => showButtons(app));
  const estimate = () => showEstimate(app, "training", part("p", "train-estimate"), { training: trainingWritten(app) });
  app.store.watch(ESTIMATED, estimate);
  // A field that has changed may set others.
  for (const event of ["input", "change"]) part("form", "train-form").addEventListener(event, estimate);
  return chart;
}

/** Of a training that was stopped or broken off: the button beside *Train* that goes on with it, and how far it had come. */
function continuing(app: App, chart: TrainingChart): void {
  const [button, stop, note] = [
    part("button", "continue-button"),
    part("button", "stop-button"),
    part("p", "unfinished-note"),
  ];
  app.trainings.goesOn = (from) => {
    bringIntoSight(chart);
    epochs = from.choice.epochs;
    showHistory(chart, from.choice.epochs, from.history);
  };
  button.addEventListener("click", async () => {
    await app.trainings.goOn();
    if (app.store.state.training === null && app.messages.code === "not_finite") showDiverged();
  });
  app.store.watch(["unfinished", "task"], () => {
    const { unfinished, task } = app.store.state;
    const isOff = unfinished === null || task === "training";
    const hadFocus = document.activeElement === button;
    button.hidden = isOff || unfinished.isElsewhere === true;
    note.hidden = isOff;
    note.textContent = unfinished ? unfinishedSaid(unfinished) : "";
    if (button.hidden && hadFocus)
      (task === "training" ? stop : part("button", "train-button")).focus({ preventScroll: true });
  });
}

/** What *Train* would do; null where a field has what is refused: of the network before there is nothing to be said. */
function trainingWritten(app: App): Training | null {
  try {
    if (app.store.state.modelChoice) readModelChoice();
    return readTrainChoice();
  } catch {
    return null;
  }
}

function showButtons(app: App): void {
  const { task, model, ready, isWanted } = app.store.state;
  const can = { begin: canTrain(task, choosing > 0), end: task === "training" };
  const begin = part("button", "train-button");
  alternate(begin, part("button", "stop-button"), can);
  const look = part("button", "untrained-button");
  const isLast = document.activeElement === look;
  disable(look, !model || task !== "idle");
  look.textContent = ready ? "Go on: compute what is missing" : "Look without training";
  look.hidden = ready && (task !== "idle" || !isWanted || isComplete(app.store.state));
  if (isLast && look.hidden) begin.focus({ preventScroll: true });
}

/** Runs with what the fields say, and shows what is wrong with them; `go`: there, too. */
function guarded(app: App, body: () => void, go = false): void {
  try {
    clearFaults();
    body();
  } catch (error) {
    app.messages.clear();
    app.messages.error(error);
    if (error instanceof FieldFault) showAtField(error, () => app.messages.clear(), go);
  }
}

function choose(app: App): void {
  guarded(app, () => {
    const choice = readModelChoice();
    choosing++;
    void app.chooseModel(choice).finally(() => {
      choosing--;
      showButtons(app);
    });
  });
}

async function train(app: App, chart: TrainingChart, model: ModelChoice | null, choice: TrainChoice): Promise<void> {
  if (!(await app.mayGo())) return;
  bringIntoSight(chart);
  await app.trainings.begin(model, choice);
}

/** Where the curve is below its button it may be out of sight: whoever has pressed wants to see it, and the button too where both have room. */
function bringIntoSight({ box }: TrainingChart): void {
  if (matchMedia("(max-width: 62rem)").matches) box.scrollIntoView({ block: "nearest" });
}

/** Whoever has begun it: the form, an address, or a result that was opened. */
function watchRun(app: App, chart: TrainingChart): void {
  let run: TrainChoice | null = null;
  app.store.watch(["task", "trainChoice"], () => {
    const { task, trainChoice, training } = app.store.state;
    if (task === "training" && trainChoice && trainChoice !== run && training === null) {
      run = trainChoice;
      epochs = trainChoice.epochs;
      chart.begin(epochs);
    }
    // The message says in which step; numbers of the steps before it would look like a result.
    if (task === "idle" && training === null && app.messages.code === "not_finite") showDiverged();
  });
}

function actions(app: App, chart: TrainingChart): void {
  const form = part("form", "train-form");
  // The browser shows no fault of a field that is folded away, and refuses without a word.
  form.noValidate = true;
  form.addEventListener("input", ({ target }) => {
    if (app.store.state.model === null && target instanceof HTMLElement) early.add(target.id);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const begin = () => {
      const { model: there, modelChoice } = app.store.state;
      const fromFile = there !== null && modelChoice === null && choosing === 0;
      const model = fromFile ? null : readModelChoice();
      void train(app, chart, model, readTrainChoice());
    };
    guarded(app, begin, true);
  });
  part("button", "stop-button").addEventListener("click", () => app.stop());
  part("button", "untrained-button").addEventListener("click", () => {
    const { ready, stamp } = app.store.state;
    void (ready && stamp !== null ? app.goOn() : app.look());
  });
  part("select", "network").addEventListener("change", () => {
    fitData();
    useDefaults(true);
    showFields();
    choose(app);
  });
  part("input", "widths").addEventListener("change", () => {
    if (fitData()) useDefaults(false);
    showFields();
    choose(app);
  });
  part("select", "data").addEventListener("change", () => {
    useDefaults(false);
    showFields();
    choose(app);
  });
  part("select", "init").addEventListener("change", () => {
    showFields();
    choose(app);
  });
  for (const id of ["bias", "samples", "scale", "seed"])
    part("input", id).addEventListener("change", () => choose(app));
  part("input", "measured").addEventListener("change", () => {
    const { ready, model, task } = app.store.state;
    // What has been trained is not to be lost for looking at more or less of the data. But where another option has just been changed, this
    // is of the network that is being made: the one that is still there comes with options of its own.
    if (ready && model && task !== "training" && choosing === 0)
      guarded(app, () => void app.setMeasured(readMeasured()));
    else choose(app);
  });
  for (const id of ["learning-rate", "batch", "epochs"]) {
    part("input", id).addEventListener("change", () => guarded(app, readTrainChoice));
  }
  const optimizer = part("select", "optimizer");
  optimizer.addEventListener("change", () => {
    part("input", "learning-rate").value = RATES[optimizer.value as TrainChoice["optimizer"]];
    clearFaults();
  });
}

/** Fills the list of networks; before the first choice is read. */
export function fillNetworks(): void {
  renderForm();
  const own = part("select", "network");
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
  const data = part("select", "data");
  const digits = data.querySelector<HTMLOptionElement>("option[value=mnist]");
  const note = part("p", "data-note");
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
  note.textContent = unfit === null ? "" : `${unfit}: it gets random samples with random labels instead.`;
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
  const samples = part("select", "data").value === "synthetic" ? random : training;
  part("input", "samples").value = String(samples);
  part("input", "measured").value = String(Math.min(measured, samples));
  if (anew) part("input", "epochs").value = String(epochs);
}

/** Fields that belong to another field's choice. */
function showFields(): void {
  const own = part("select", "network").value === "widths";
  part("label", "widths-field").hidden = !own;
  part("label", "bias-field").hidden = !own;
  const random = part("select", "data").value === "synthetic";
  part("span", "samples-label").textContent = random ? "Random samples" : "Training samples";
  part("input", "samples").max = String(random ? 100000 : MNIST_SAMPLES);
  const scheme = part("select", "init").value;
  part("label", "scale-field").hidden = !isScaled(scheme);
  part("span", "scale-label").textContent = scheme === "normal" ? "σ" : "b";
}

/** How long it takes is said below, once it is known. */
function story({ network, data }: ModelChoice): (string | HTMLElement)[] {
  const small = network.kind === "preset" && network.name === "small" && data.kind === "mnist";
  const what =
    data.kind === "synthetic"
      ? "A network learns the labels of random samples by heart, here in your browser. Press "
      : `A ${small ? "small " : ""}network learns handwritten digits, here in your browser. Press `;
  return [what, html("em", {}, "Train"), "."];
}

function showModel(app: App): void {
  const { model, modelChoice } = app.store.state;
  const summary = part("p", "model-summary");
  if (!model) {
    summary.textContent = "";
    return;
  }
  const random = modelChoice?.data.kind === "synthetic";
  if (modelChoice) part("p", "train-story").replaceChildren(...story(modelChoice));
  const data = modelChoice ? model.data : `the file “${model.data}”`;
  const test = model.validationSamples > 0 ? `, ${integer(model.validationSamples)} test` : "";
  summary.replaceChildren(
    networkSummary(model.summary),
    ` · ${integer(model.parameterCount)} parameters · ${data}${random ? "" : ` (${integer(model.samples)} samples${test})`}`,
  );
  part("li", "legend-test").hidden = model.validationSamples === 0;
  if (modelChoice) return;
  const back = html("button", { type: "button", class: "link", id: "close-file" }, "Close the file");
  back.addEventListener("click", () => choose(app));
  summary.append(" ", back);
}

function showProgress(app: App, chart: TrainingChart): void {
  const { progress, task, training } = app.store.state;
  // News of a run may come after what it came to.
  if (task !== "training" || training !== null || !progress || progress.loss === undefined) return;
  const at = (progress.done / Math.max(progress.total, 1)) * epochs;
  chart.add(at, {
    loss: progress.loss,
    ...(progress.accuracy !== undefined && { accuracy: progress.accuracy }),
    ...(progress.validationAccuracy !== undefined && { test: progress.validationAccuracy }),
  });
  part("output", "r-epoch").textContent = `${progress.epoch ?? 1} / ${epochs}`;
  part("output", "r-loss").textContent = lossSaid(progress.loss);
  if (progress.accuracy !== undefined) part("output", "r-accuracy").textContent = accuracySaid(progress.accuracy);
  if (progress.validationAccuracy !== undefined) showTestAccuracy(progress.validationAccuracy);
}

function showTestAccuracy(accuracy: number): void {
  const output = part("output", "r-validation");
  output.textContent = accuracySaid(accuracy);
  output.dataset.value = String(accuracy);
}

function showTraining(app: App, chart: TrainingChart): void {
  const { task, training, trainChoice, model } = app.store.state;
  // None of them is another network's, which may have had what this one has not.
  for (const id of ["r-epoch", "r-loss", "r-accuracy", "r-validation"]) showNothing(id);
  if (!training) {
    if (task !== "training") chart.begin(1);
    return;
  }
  part("output", "r-epoch").textContent = epochsSaid(training, trainChoice?.epochs);
  part("output", "r-loss").textContent = lossSaid(training.loss);
  if (model?.loss === "cross_entropy") part("output", "r-accuracy").textContent = accuracySaid(training.accuracy);
  if (training.validationAccuracy !== undefined) showTestAccuracy(training.validationAccuracy);
  if (!model || !hasDiverged(training, model)) return;
  showDiverged();
  app.messages.error(new LabError("not_finite", divergenceSaid(training, model)));
}

/** As far as it has come. */
function showHistory(chart: TrainingChart, epochs: number, history: Unfinished["history"]): void {
  chart.begin(epochs);
  for (const { epoch, loss, accuracy, validationAccuracy: test } of history) {
    chart.add(epoch, { loss, accuracy, ...(test !== undefined && { test }) });
  }
}

/** Of the network on the stage and no other: its own curve; of one that was trained before the page was opened, epoch by epoch. */
function showCurve(app: App, chart: TrainingChart): void {
  const { task, training, trainChoice, stamp } = app.store.state;
  if (task === "training") {
    // It has come to its end, and what is drawn is its own.
    if (training && stamp !== null) curves.set(stamp, chart.learning);
    return;
  }
  if (!training || stamp === null) return;
  const known = curves.get(stamp);
  if (known) chart.show(known);
  else showHistory(chart, trainChoice?.epochs ?? training.epochs, training.history ?? []);
}

function showDiverged(): void {
  part("output", "r-loss").textContent = DIVERGED;
  for (const id of ["r-accuracy", "r-validation"]) showNothing(id);
}

function showNothing(id: string): void {
  part("output", id).textContent = "–";
  delete part("output", id).dataset.value;
}
