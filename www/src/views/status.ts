/** What is running, how far it is, and Stop. */

import type { App } from "../app";
import { find } from "../dom";
import { duration, integer, number } from "../format";
import type { Task } from "../store";

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
  reporting: "Report",
};

/** Shorter work than this shows no bar: it would only flicker. */
const DELAY_MS = 150;

export function statusView(app: App): void {
  const box = find("section", "status");
  const phase = find("span", "status-phase");
  const bar = find("progress", "status-bar");
  const detail = find("span", "status-detail");
  const stop = find("button", "status-stop");
  stop.addEventListener("click", () => app.stop());
  /** Where the keyboard was before it came here, and goes back to when Stop goes away. */
  let before: EventTarget | null = null;
  stop.addEventListener("focus", ({ relatedTarget }) => {
    before = relatedTarget;
  });
  let timer = 0;
  app.store.watch(["task"], () => {
    const { task } = app.store.state;
    clearTimeout(timer);
    if (task === "idle") {
      // A chain of tasks should not blink between two of them.
      timer = window.setTimeout(() => {
        if (document.activeElement === stop && before instanceof HTMLElement) before.focus({ preventScroll: true });
        box.dataset.state = "idle";
        phase.textContent = "";
      }, DELAY_MS);
      return;
    }
    phase.textContent = TASKS[task];
    timer = window.setTimeout(() => {
      box.dataset.state = task;
    }, DELAY_MS);
  });
  app.store.watch(["progress"], () => {
    const { progress, task } = app.store.state;
    if (!progress || progress.total <= 0) {
      bar.removeAttribute("value");
      detail.textContent = "";
      return;
    }
    bar.max = progress.total;
    bar.value = progress.done;
    const parts = task === "training" ? [`epoch ${progress.epoch ?? 1}`] : [progress.phase.replaceAll("_", " ")];
    parts.push(`${integer(progress.done)} of ${integer(progress.total)}`);
    if (progress.estimate !== undefined) parts.push(`≈ ${number(progress.estimate)}`);
    if (progress.remainingSeconds !== undefined) parts.push(`${duration(progress.remainingSeconds)} left`);
    if (progress.residual !== undefined) parts.push(`residual ${number(progress.residual, 1)}`);
    detail.textContent = parts.join(" · ");
  });
}
