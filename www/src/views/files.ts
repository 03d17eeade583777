/** Opening by button or drop, and saving. */

import type { App } from "../app";
import { download, find } from "../dom";
import { found } from "../store";
import type { SaveChoice, SavedPoint } from "../worker/protocol";
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
  saving(app);
  app.store.watch(["ready"], () => {
    find("button", "save-report").disabled = !app.store.state.ready;
  });
}

/** Weights as trained, bent, balanced or sharpened, each in the format that is chosen. */
function saving(app: App): void {
  const format = find("select", "save-format");
  const points = {
    trained: "save-problem",
    bent: "save-bent",
    balanced: "save-balanced",
    sharpened: "save-sharpened",
  } as const;
  for (const [point, id] of Object.entries(points)) {
    find("button", id).addEventListener("click", async () => {
      const file = await app.savedFile(point as SavedPoint, format.value as SaveChoice);
      if (file) download(file.name, file.bytes);
    });
  }
  app.store.watch(["model", "bendSummary", "dinh", "opened"], () => {
    const { model, bendSummary, dinh, opened } = app.store.state;
    find("button", points.trained).disabled = model === null;
    find("button", points.bent).disabled = bendSummary === null;
    find("button", points.balanced).disabled = !model?.homogeneous;
    find("button", points.sharpened).disabled = !found(dinh.sharpened);
    const onnx = find("option", "save-onnx");
    onnx.disabled = opened?.format !== "ONNX";
    if (onnx.disabled && onnx.selected) format.selectedIndex = 0;
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
