/** Opening by button or drop, and saving. */

import type { App } from "../app";
import { download, find } from "../dom";
import type { Point } from "../worker/protocol";
import { openChoice } from "./opened";

export function filesView(app: App): void {
  const input = find("input", "open-input");
  find("button", "open-button").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    const files = Array.from(input.files ?? []);
    // So that the same file can be chosen again after it has been mended.
    input.value = "";
    open(app, files);
  });
  dropping(app);

  find("button", "save-result").addEventListener("click", () => download("isoflat-result.json", app.resultFile()));
  find("button", "save-report").addEventListener("click", async () => {
    const text = await app.fullReport();
    if (text !== null) download("isoflat-report.json", text);
  });
  const save = async (point: Point) => {
    const text = await app.problemFile(point);
    if (text !== null) download(point === "bent" ? "isoflat-problem-bent.json" : "isoflat-problem.json", text);
  };
  find("button", "save-problem").addEventListener("click", () => void save("trained"));
  find("button", "save-bent").addEventListener("click", () => void save("bent"));
  app.store.watch(["model", "bendSummary"], () => {
    find("button", "save-problem").disabled = app.store.state.model === null;
    find("button", "save-bent").disabled = app.store.state.bendSummary === null;
  });
  app.store.watch(["ready"], () => {
    find("button", "save-report").disabled = !app.store.state.ready;
  });
}

/** What was chosen for other files stays, as long as a model is open: these may be its data. */
function open(app: App, files: File[]): void {
  if (files.length > 0) void app.openFiles(files, openChoice(app.store.state.opened === null));
}

function dropping(app: App): void {
  const veil = find("div", "drop");
  let depth = 0; // enter and leave come for every element on the way
  const show = (on: boolean): void => {
    veil.hidden = !on;
  };
  const hasFile = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
  document.addEventListener("dragenter", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    depth++;
    show(true);
  });
  document.addEventListener("dragover", (event) => {
    if (hasFile(event)) event.preventDefault();
  });
  document.addEventListener("dragleave", (event) => {
    if (!hasFile(event)) return;
    depth = Math.max(0, depth - 1);
    show(depth > 0);
  });
  document.addEventListener("drop", (event) => {
    depth = 0;
    show(false);
    const files = Array.from(event.dataTransfer?.files ?? []);
    if (files.length === 0) return;
    event.preventDefault();
    open(app, files);
  });
}
