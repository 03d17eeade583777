/** What is running and how far the whole of it is, with Pause and Continue in one place; its steps are folded under it. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import type { App } from "../app";
import { duration, integer, number } from "../format";
import { goesOnWith } from "../plan";
import type { State, Task, Waiting } from "../store";
import { place } from "./place";

const TASKS: Record<Task, string> = {
  idle: "",
  starting: "Getting ready",
  training: "Training",
  looking: "Looking around",
  bending: "Bending",
  sharpening: "Sharpening",
  spectrum: "Spectrum",
  checking: "Checking",
  table2: "Table 2",
  table3: "Table 3",
  reporting: "Report",
};

/**
 * What this button does not go on with: the report does, where it says what is missing; and what is opened or set up leaves nothing
 * behind, takes seconds, and its files are where they were.
 */
const STOPPED: ReadonlySet<Task> = new Set(["starting", "reporting"]);

/** Shorter work than this shows no bar: it would only flicker. */
const DELAY_MS = 150;

/** Whether the steps were unfolded, where the browser keeps that. */
const UNFOLDED = "isoflat-steps";

export function statusView(app: App): void {
  const box = place("status");
  const { store } = app;
  let before: EventTarget | null = null;
  let label = "";
  let isOpen = kept();

  const draw = (): void => {
    render(template(store.state, label, press, { isOpen, fold }), box);
  };
  const fold = (): void => {
    isOpen = !isOpen;
    keep(isOpen);
    draw();
  };
  const press = (): void => {
    const { task, paused } = store.state;
    if (task !== "idle") app.stop();
    else if (paused) void app.resume();
  };
  draw();

  const button = box.querySelector<HTMLButtonElement>("#status-stop");
  // Where the keyboard was before it came here, and goes back to when the button goes away.
  button?.addEventListener("focus", ({ relatedTarget }) => {
    before = relatedTarget;
  });
  let timer = 0;
  store.watch(["task", "paused"], () => {
    const { task, paused } = store.state;
    clearTimeout(timer);
    if (task !== "idle") label = paused ? "Pausing" : TASKS[task];
    // A chain of tasks should not blink between two of them.
    timer = window.setTimeout(() => {
      const isOver = task === "idle" && !paused;
      if (isOver && document.activeElement === button && before instanceof HTMLElement) {
        before.focus({ preventScroll: true });
      }
      if (task === "idle") label = paused ? "Paused" : "";
      box.dataset.state = task;
      box.dataset.paused = String(task === "idle" && paused);
      draw();
    }, DELAY_MS);
    draw();
  });
  store.watch(["progress", "waiting", "unfinished", "growing"], draw);
}

interface Steps {
  isOpen: boolean;
  fold: () => void;
}

function template(state: State, label: string, press: () => void, { isOpen, fold }: Steps): TemplateResult {
  const { task, paused, progress, waiting } = state;
  const isPaused = task === "idle" && paused;
  const fraction = waiting?.fraction ?? null;
  return html`
    <span id="status-phase" class="phase" role="status">${label}</span>
    <span id="status-detail" class="detail">${label === "" ? nothing : detail(waiting, isPaused)}</span>
    <progress id="status-bar" max="1" aria-label="Progress"
      value=${fraction === null ? nothing : String(fraction)}></progress>
    <button id="status-stop" type="button" ?disabled=${label === ""} aria-disabled=${paused && task !== "idle" ? "true" : nothing}
      title=${isPaused ? goesOnWith(state) : nothing}
      @click=${press}>${isPaused ? "Continue" : STOPPED.has(task) ? "Stop" : "Pause"}</button>
    <button id="status-more" type="button" class="link" aria-expanded=${String(isOpen)} aria-controls="status-step"
      @click=${fold}>Steps</button>
    <p id="status-step" ?hidden=${!isOpen}>${label === "" ? "Nothing is running." : step(waiting, isPaused ? null : progress)}</p>`;
}

/** The whole: what is counted, and the time that is left, which is written whole where there is no room for both. */
export function said(waiting: Waiting | null, isPaused: boolean): { count: string; left: string } {
  if (!waiting) return { count: "", left: "" };
  const { count, left, after } = waiting;
  const isTimed = left !== null && !isPaused;
  // What is counted is not always all that is to come.
  const inAll = count?.of === "measures" || after === 0 ? "" : " in all";
  return { count: count ? counted(count) : "", left: isTimed ? `${duration(left)} left${inAll}` : "" };
}

function detail(waiting: Waiting | null, isPaused: boolean): TemplateResult {
  const { count, left } = said(waiting, isPaused);
  return html`<span class="count">${count && left ? `${count},` : count}</span><span class="left">${left}</span>`;
}

function counted({ done, total, of }: NonNullable<Waiting["count"]>): string {
  const [now, all] = [integer(done), integer(total)];
  if (of === "epochs") return `epoch ${now} of ${all}`;
  return of === "sections" ? `section ${now} of ${all}` : `${now} of ${all} ${of}`;
}

/** The step that runs, in its own numbers, and how many come after it. */
export function step(waiting: Waiting | null, progress: State["progress"]): string {
  const parts = waiting ? [waiting.step] : [];
  if (progress && progress.total > 0) {
    parts.push(`${progress.phase.replaceAll("_", " ")}, ${integer(progress.done)} of ${integer(progress.total)}`);
    if (progress.estimate !== undefined) parts.push(`≈ ${number(progress.estimate)}`);
    if (progress.residual !== undefined) parts.push(`residual ${number(progress.residual, 1)}`);
  }
  if (waiting && waiting.after > 0) parts.push(`${waiting.after} more ${waiting.after === 1 ? "step" : "steps"}`);
  return parts.join(" · ");
}

function kept(): boolean {
  try {
    return localStorage.getItem(UNFOLDED) === "true";
  } catch {
    return false;
  }
}

function keep(isOpen: boolean): void {
  try {
    localStorage.setItem(UNFOLDED, String(isOpen));
  } catch {
    // It is as one left it until the page is closed.
  }
}
