/** The thesis' experiments: which one, at which setting, its charts as they grow, and its findings beside ours. */

import { html } from "../dom";
import { alternate } from "../focus";
import { duration, integer } from "../format";
import type { SpacesApp } from "../spaces/app";
import { caveat, EXPERIMENTS, type ExperimentId, QUICK, THESIS } from "../spaces/experiments";
import type { Setting } from "../worker/spaces-protocol";
import { part } from "./part";
import { ThesisCharts } from "./thesis-charts";

const FIELDS: { key: keyof Setting; name: string; most: number }[] = [
  { key: "images", name: "Training images", most: 60000 },
  { key: "testImages", name: "Test images", most: 2000 },
  { key: "epochs", name: "Epochs", most: 1000 },
  { key: "batch", name: "Batch", most: 60000 },
  { key: "repeats", name: "Runs of each kind", most: 10 },
  { key: "seed", name: "Seed", most: 4294967295 },
];

const SETTINGS: { value: string; name: string; setting: Setting }[] = [
  { value: "quick", name: "quick: 12,000 images, 3 epochs", setting: QUICK },
  { value: "thesis", name: "the thesis’: 60,000 images, 20 epochs", setting: THESIS },
];

export class ThesisView {
  readonly element: HTMLElement;
  readonly #run = html("button", { id: "spaces-run", type: "button", class: "primary" }, "Run");
  readonly #stop = html("button", { id: "spaces-stop", type: "button", disabled: true }, "Stop");
  readonly #preset = html("select", { id: "spaces-setting" });
  readonly #inputs = new Map<keyof Setting, HTMLInputElement>();
  readonly #about = html("p", { class: "note" });
  readonly #estimate = html("p", { id: "spaces-estimate", class: "note estimate" });
  readonly #bar = html("progress", { max: 1, value: 0, "aria-label": "Progress of the experiment" });
  readonly #findings = html("ul", { id: "spaces-findings", class: "findings", tabindex: -1 });
  readonly #caveat = html("p", { class: "note" });
  readonly #charts: ThesisCharts;

  constructor(private readonly app: SpacesApp) {
    this.#charts = new ThesisCharts(app);
    this.element = part(
      "thesis",
      "The thesis’ experiments, on real digits",
      [],
      "784-64-64-64-64-10 without biases on MNIST, batches of 64, all runs from the same weights and over the same batches; a run counts " +
        "with the lowest validation loss of its epochs. They are computed in a worker of their own: the rest of the lab stays free.",
      this.#choice(),
      html(
        "div",
        { class: "space-columns" },
        html("div", { class: "controls" }, this.#about, this.#settings(), this.#buttons(), this.#bar, this.#estimate),
        this.#charts.element,
      ),
      this.#findings,
      this.#caveat,
    );
    app.store.watch(["experiment"], () => this.#showExperiment());
    app.store.watch(["setting"], () => this.#showSetting());
    app.store.watch(["task", "experiment", "setting", "speed", "curves", "remaining"], () => this.#showState());
    app.store.watch(["task", "experiment", "curves"], () => this.#showFindings());
  }

  #choice(): HTMLElement {
    const labels = (Object.keys(EXPERIMENTS) as ExperimentId[]).map((id) => {
      const input = html("input", { type: "radio", name: "experiment", value: id, checked: id === "rates" });
      input.addEventListener("change", () => this.app.choose(id));
      return html("label", {}, input, html("span", {}, EXPERIMENTS[id].title));
    });
    return html(
      "fieldset",
      { class: "field" },
      html("legend", { class: "visually-hidden" }, "Experiment"),
      html("div", { class: "segments experiments" }, ...labels),
    );
  }

  #settings(): HTMLElement {
    for (const { value, name } of SETTINGS) this.#preset.append(html("option", { value }, name));
    this.#preset.append(html("option", { value: "own", hidden: true }, "as below"));
    this.#preset.addEventListener("change", () => {
      const found = SETTINGS.find(({ value }) => value === this.#preset.value);
      if (found) this.app.set(found.setting);
    });
    const fields = FIELDS.map(({ key, name, most }) => {
      const least = key === "seed" ? 0 : 1;
      const input = html("input", { id: `spaces-${key}`, type: "number", min: least, max: most, step: 1 });
      input.addEventListener("change", () => {
        const wanted = Math.round(Number(input.value));
        const { setting } = this.app.store.state;
        const value = Number.isFinite(wanted) ? Math.min(Math.max(wanted, least), most) : setting[key];
        this.app.set({ ...setting, [key]: value });
      });
      this.#inputs.set(key, input);
      return html("label", {}, name, input);
    });
    return html(
      "div",
      { class: "controls" },
      html("label", {}, "Setting", this.#preset),
      html(
        "details",
        { class: "options" },
        html("summary", {}, "Options"),
        html("div", { class: "fields" }, ...fields),
        html(
          "p",
          { class: "note faint" },
          "Another setting begins all runs anew. The thesis averages 10 runs of each kind.",
        ),
      ),
    );
  }

  #buttons(): HTMLElement {
    this.#run.addEventListener("click", () => void this.app.run());
    this.#stop.addEventListener("click", () => this.app.stop());
    return html("div", { class: "row" }, this.#run, this.#stop);
  }

  #showExperiment(): void {
    const { about, figures } = EXPERIMENTS[this.app.store.state.experiment];
    this.#about.replaceChildren(about, html("br"), html("span", { class: "faint" }, `Jestädt 2025, ${figures}`));
  }

  #showSetting(): void {
    const { setting } = this.app.store.state;
    const same = SETTINGS.find((preset) => FIELDS.every(({ key }) => preset.setting[key] === setting[key]));
    this.#preset.value = same?.value ?? "own";
    for (const { key } of FIELDS) {
      const input = this.#inputs.get(key);
      if (input) input.value = String(setting[key]);
    }
  }

  #showState(): void {
    const { task, experiment, setting, remaining } = this.app.store.state;
    const { runs } = EXPERIMENTS[experiment];
    const { results } = this.app;
    const missing = runs.filter((run) => !results.complete([run])).length;
    const training = task === "training";
    this.#run.textContent = missing === 0 ? "Done" : missing < runs.length ? "Run what is missing" : "Run";
    const wasHere = document.activeElement === this.#run || document.activeElement === this.#stop;
    alternate(this.#run, this.#stop, { begin: task === "idle" && missing > 0, end: training });
    // Neither can be pressed when all is done: what came of it is what is read next.
    if (wasHere && this.#run.disabled && this.#stop.disabled) this.#findings.focus({ preventScroll: true });
    this.#preset.disabled = training;
    for (const input of this.#inputs.values()) input.disabled = training;
    const all = runs.length * setting.repeats;
    const epochs = runs.flatMap((run) => results.of(run).map((curve) => epochsOf(curve, setting)));
    this.#bar.value = epochs.reduce((sum, done) => sum + done, 0) / (all * setting.epochs);
    this.#bar.hidden = !training;
    const count = `${integer(missing * setting.repeats)} ${missing < runs.length ? "more runs" : "runs"}`;
    const seconds = this.app.estimate();
    if (training) this.#estimate.textContent = remaining === null ? "Beginning…" : `${left(remaining)} left`;
    else if (missing === 0) this.#estimate.textContent = `${all} runs of ${setting.epochs} epochs, all at their end.`;
    else this.#estimate.textContent = seconds === null ? count : `${count}: ${duration(seconds)} on this device.`;
    if (seconds === null) delete this.#estimate.dataset.seconds;
    else this.#estimate.dataset.seconds = String(seconds);
  }

  #showFindings(): void {
    const { experiment } = this.app.store.state;
    const { runs, findings } = EXPERIMENTS[experiment];
    const { results } = this.app;
    const complete = results.complete(runs);
    const begun = runs.some((run) => results.of(run).length > 0);
    const items = findings(results).map(({ place, thesis, agrees, here }) => {
      const state = !complete ? "waiting" : agrees === null ? "open" : String(agrees);
      const verdict = { waiting: "·", open: "?", true: "✓", false: "✗" }[state] ?? "";
      const words = { waiting: "not decided yet", open: "open", true: "agrees", false: "differs" }[state] ?? "";
      const waiting = begun ? "the runs are not at their end" : "not run yet";
      return html(
        "li",
        { "data-agrees": state },
        html(
          "span",
          { class: "verdict" },
          html("span", { class: "symbol", "aria-hidden": "true" }, verdict),
          ` ${words}`,
        ),
        html("p", {}, thesis, html("small", {}, ` ${place}`)),
        html("p", { class: "note" }, `Here: ${complete ? here : waiting}.`),
      );
    });
    this.#findings.replaceChildren(...items);
    this.#caveat.textContent = complete ? caveat(experiment, results) : "";
  }
}

function epochsOf({ points, end }: { points: { epoch: number }[]; end: string }, { epochs }: Setting): number {
  return end === "done" || end === "diverged" ? epochs : (points.at(-1)?.epoch ?? 0);
}

const left = (seconds: number): string => {
  const text = duration(seconds);
  return text.charAt(0).toUpperCase() + text.slice(1);
};
