/** The thesis' experiments: which one, at which setting, its charts as they grow, and its findings beside ours. */

import { html, nothing, type TemplateResult } from "lit-html";
import { alternate } from "../focus";
import { duration, integer } from "../format";
import type { SpacesApp } from "../spaces/app";
import { caveat, EXPERIMENTS } from "../spaces/experiments";
import type { Finding } from "../spaces/findings";
import { LEAST_SEEDS } from "../spaces/paired";
import { type ExperimentId, LIMITS, LONGER, QUICK, type SpacesChoice, unlikeThesis } from "../spaces/settings";
import type { Setting } from "../worker/spaces-protocol";
import { ask } from "./ask";
import { numberIn } from "./fields";
import { renderPart } from "./part";
import { within } from "./place";
import { subscripted } from "./subscripted";
import { ThesisCharts } from "./thesis-charts";

const FIELDS: { key: keyof Setting; name: string; said: string }[] = [
  { key: "images", name: "Training images", said: "The number of training images" },
  { key: "testImages", name: "Test images", said: "The number of test images" },
  { key: "epochs", name: "Epochs", said: "The number of epochs" },
  { key: "batch", name: "Batch", said: "The batch size" },
  { key: "repeats", name: "Runs of each kind", said: "The number of runs" },
  { key: "seed", name: "Seed", said: "The seed" },
];

const SETTINGS: { value: string; name: string; setting: Setting }[] = [
  { value: "quick", name: "Quick", setting: QUICK },
  { value: "longer", name: "Longer", setting: LONGER },
].map(({ name, setting, ...rest }) => ({
  ...rest,
  name: `${name}: ${integer(setting.images)} images, ${setting.epochs} epochs`,
  setting,
}));

export function thesisView(app: SpacesApp, section: HTMLElement): void {
  const draw = (): void => renderPart(section, part(app));
  app.mayForget = mayForget;
  draw();
  const find = within(section);
  new ThesisCharts(app, find("div", "spaces-charts"));
  const [run, stop] = [find("button", "spaces-run"), find("button", "spaces-stop")];
  app.store.watch(["task", "experiment", "setting", "speed", "curves", "remaining"], () => {
    draw();
    const { task } = app.store.state;
    const { missing } = stateOf(app);
    const wasHere = document.activeElement === run || document.activeElement === stop;
    alternate(run, stop, { begin: task === "idle" && missing > 0, end: task === "training" });
    // Neither can be pressed when all is done: what came of it is what is read next.
    if (wasHere && run.disabled && stop.disabled) find("ul", "spaces-findings").focus({ preventScroll: true });
  });
}

/** Some took hours. */
const mayForget = (runs: number): Promise<boolean> =>
  ask(
    "Other settings are other results",
    `${runs === 1 ? "One run that has" : `${integer(runs)} runs that have`} come to an end here would be lost, and cannot be brought back.`,
    [
      { text: "Keep them", value: false, isFirst: true },
      { text: "Begin anew", value: true },
    ],
    false,
  );

/** How far the experiment is, at the setting that there is. */
function stateOf({ store, results }: SpacesApp) {
  const { experiment, setting } = store.state;
  const { runs } = EXPERIMENTS[experiment];
  const missing = runs.filter((run) => !results.complete([run])).length;
  const all = runs.length * setting.repeats;
  const epochs = runs.flatMap((run) => results.of(run).map((curve) => epochsOf(curve, setting)));
  return { runs, missing, all, share: epochs.reduce((sum, done) => sum + done, 0) / (all * setting.epochs) };
}

function part(app: SpacesApp) {
  const { experiment, task } = app.store.state;
  const { about, figures } = EXPERIMENTS[experiment];
  const { runs, missing, share } = stateOf(app);
  const seconds = app.estimate();
  const run = missing === 0 ? "Done" : missing < runs.length ? "Run what is missing" : "Run";
  return {
    title: "The thesis’ experiments, on real digits",
    note:
      "784-64-64-64-64-10 without biases on MNIST, batches of 64, all runs from the same weights and over the same batches; a run counts " +
      "with the lowest validation loss of its epochs. They are computed in a worker of their own: the rest of the lab stays free.",
    content: html`
      ${choice(app)}
      <div class="space-columns">
        <div class="controls">
          <p class="note">${subscripted(about)}<br /><span class="faint">Jestädt 2025, ${figures}</span></p>
          ${settings(app)}
          <div class="row">
            <button id="spaces-run" type="button" class="primary" @click=${() => void app.run()}>${run}</button>
            <button id="spaces-stop" type="button" @click=${() => app.stop()}>Stop</button>
          </div>
          <progress max="1" .value=${share} ?hidden=${task !== "training"} aria-label="Progress of the experiment"></progress>
          <p id="spaces-estimate" class="note estimate" data-seconds=${seconds ?? nothing}>${estimated(app)}</p>
        </div>
        <div id="spaces-charts" class="space-charts"></div>
      </div>
      <ul id="spaces-findings" class="findings" tabindex="-1">${findings(app)}</ul>
      <p id="spaces-decided" class="note">${decided(app)}</p>
      <p class="note">${missing === 0 ? subscripted(caveat(experiment, app.results)) : nothing}</p>`,
  };
}

const choice = (app: SpacesApp): TemplateResult => html`<fieldset class="field">
  <legend class="visually-hidden">Experiment</legend>
  <div class="segments experiments">
    ${(Object.keys(EXPERIMENTS) as ExperimentId[]).map(
      (id) =>
        html`<label
          ><input
            type="radio"
            name="experiment"
            value=${id}
            .checked=${id === app.store.state.experiment}
            @change=${() => app.choose(id)} /><span>${EXPERIMENTS[id].title}</span></label
        >`,
    )}
  </div>
</fieldset>`;

function settings(app: SpacesApp): TemplateResult {
  const { task, experiment, setting } = app.store.state;
  const isBusy = task === "training";
  const same = SETTINGS.find((preset) => FIELDS.every(({ key }) => preset.setting[key] === setting[key]));
  const preset = async ({ currentTarget }: Event): Promise<void> => {
    const select = currentTarget as HTMLSelectElement;
    const found = SETTINGS.find(({ value }) => value === select.value);
    if (found && !(await app.set(found.setting))) select.value = same?.value ?? "own";
  };
  return html`<div class="controls">
    <label
      >Setting<select id="spaces-setting" ?disabled=${isBusy} @change=${preset}>
        ${SETTINGS.map(({ value, name }) => html`<option value=${value} .selected=${value === same?.value}>${name}</option>`)}
        <option value="own" hidden .selected=${!same}>as below</option>
      </select></label
    >
    <details class="options">
      <summary>Options</summary>
      <div class="fields">${FIELDS.map((field) => input(app, field, isBusy))}</div>
      <p class="note faint">Another setting begins all runs anew.</p>
    </details>
    <p id="spaces-unlike" class="note faint">${unlike({ experiment, setting })}</p>
  </div>`;
}

function input(app: SpacesApp, { key, name, said }: (typeof FIELDS)[number], isBusy: boolean): TemplateResult {
  const { setting } = app.store.state;
  const [least, most] = LIMITS[key];
  const change = async ({ currentTarget }: Event): Promise<void> => {
    const field = currentTarget as HTMLInputElement;
    const value = numberIn(field, { name: said, whole: true });
    if (value === null) return;
    const { setting } = app.store.state;
    if (!(await app.set({ ...setting, [key]: value }))) field.value = String(setting[key]);
  };
  return html`<label
    >${name}<input
      id="spaces-${key}"
      type="number"
      min=${least}
      max=${most}
      step="1"
      .value=${String(setting[key])}
      ?disabled=${isBusy}
      @change=${change}
  /></label>`;
}

function estimated(app: SpacesApp): string {
  const { task, setting, remaining } = app.store.state;
  const { runs, missing, all } = stateOf(app);
  const seconds = app.estimate();
  const toCome = runs.reduce((sum, run) => sum + app.missing(run), 0);
  if (task === "training") return remaining === null ? "Beginning…" : `${left(remaining)} left`;
  if (missing === 0) return `${all} runs of ${setting.epochs} epochs, all at their end.`;
  const count = `${integer(toCome)} ${missing < runs.length || toCome < all ? "more runs" : "runs"}`;
  return seconds === null ? count : `${count}: ${duration(seconds)} on this device.`;
}

/** In one sentence: the thesis’ own setting is out of a page’s reach, and what is taken instead is said. */
function unlike(choice: SpacesChoice): string {
  const { thesis, here } = unlikeThesis(choice);
  return `The thesis has ${inWords(thesis)}, where this has ${inWords(here)}; the page has no more than ${integer(LIMITS.testImages[1])} test images.`;
}

const inWords = (parts: string[]): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;

/** Marks that differ in shape, and words beside them: nothing is said by colour alone. */
const VERDICTS: Record<Finding["verdict"] | "waiting", { symbol: string; words: string }> = {
  waiting: { symbol: "·", words: "not decided yet" },
  agrees: { symbol: "✓", words: "agrees" },
  differs: { symbol: "✗", words: "differs" },
  "cannot say": { symbol: "?", words: "cannot say" },
  "the ones": { symbol: "→", words: "here it is the ones" },
  "the space": { symbol: "→", words: "here the space itself helps" },
};

function findings({ store, results }: SpacesApp): TemplateResult[] {
  const { runs, findings } = EXPERIMENTS[store.state.experiment];
  const complete = results.complete(runs);
  const waiting = runs.some((run) => results.of(run).length > 0) ? "the runs are not at their end" : "not run yet";
  return findings(results).map(({ place, thesis, verdict, here }) => {
    const state = complete ? verdict : "waiting";
    const { symbol, words } = VERDICTS[state];
    return html`<li data-verdict=${state}>
      <span class="verdict"><span class="symbol" aria-hidden="true">${symbol}</span> ${words}</span>
      <p>${subscripted(thesis)}<small> ${place}</small></p>
      <p class="note">${subscripted(`Here: ${complete ? here : waiting}.`)}</p>
    </li>`;
  });
}

/** How verdicts come about; first of all where there can be none. */
function decided({ store }: SpacesApp): TemplateResult {
  const { repeats } = store.state.setting;
  const few =
    repeats < LEAST_SEEDS
      ? html`<strong>No verdict without ${LEAST_SEEDS} runs of each kind, from as many seeds: here ${
          repeats === 1 ? "is 1" : `are ${repeats}`
        }.</strong> `
      : nothing;
  return html`${few}How it is decided: from a seed all methods begin with the same weights, so they are compared seed by seed. In brackets
    is where the true value lies, with a confidence of 95 %, as far as these seeds can tell (Student’s t). A finding
    agrees where all of that is as claimed. It differs where none of it is. Else these runs cannot say. The thesis has
    no numbers for words like “slightly”: the limits that are claimed here are this page’s.`;
}

function epochsOf({ points, end }: { points: { epoch: number }[]; end: string }, { epochs }: Setting): number {
  return end === "done" || end === "diverged" ? epochs : (points.at(-1)?.epoch ?? 0);
}

const left = (seconds: number): string => {
  const text = duration(seconds);
  return text.charAt(0).toUpperCase() + text.slice(1);
};
