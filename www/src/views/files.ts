/** Opening by button or drop. */

import { render, html as template } from "lit-html";
import type { App } from "../app";
import { type Dropped, filesOf, foldersOf, notOpened, Openings } from "../openings";
import { settingsOf } from "../reopen";
import { reportTextOf } from "../report/report";
import type { OpenChoice } from "../worker/protocol";
import { place } from "./place";
import type { ReportView } from "./report";

/** What a person presses to choose files; both are of the form that trains. */
interface Door {
  button: HTMLButtonElement;
  input: HTMLInputElement;
}

/** `choice`: how files are read that come on top of those that are open, or are new. A saved report is shown by `report`. */
export function filesView(
  app: App,
  { button, input }: Door,
  choice: (isNew: boolean) => OpenChoice,
  report: ReportView,
): void {
  const openings = openingsOf(app, choice, report);
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    const files = Array.from(input.files ?? []);
    // So that the same file can be chosen again after it has been mended.
    input.value = "";
    if (files.length > 0) void openings.add(files);
  });
  dropping(app, openings);
}

/** What was chosen for other files stays, as long as a model is open: these may be its data. */
function openingsOf(app: App, choice: (isNew: boolean) => OpenChoice, report: ReportView): Openings {
  let wake = (): void => {};
  app.store.watch(["opened"], () => wake());
  const taken = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  const open = async (files: File[]): Promise<void> => {
    try {
      const text = await reportTextOf(files);
      const settings = text === null ? await settingsOf(files) : null;
      if (text !== null) report.show(text);
      else if (settings) await app.opener.result(settings);
      else await app.opener.files(files, choice(app.store.state.opened === null));
    } catch (error) {
      app.messages.clear();
      app.messages.error(error);
    }
  };
  return new Openings(open, taken);
}

function dropping(app: App, openings: Openings): void {
  const veil = place("drop");
  render(template`<p>Drop a model, its data, or both</p>`, veil);
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
    const all = dropped(event);
    const [files, folders] = [filesOf(all), foldersOf(all)];
    if (files.length + folders.length === 0) return;
    event.preventDefault();
    void (async () => {
      // Opening begins with no messages, and says itself what is wrong.
      if (files.length > 0) await openings.add(files);
      if (folders.length === 0 || app.messages.code !== null) return;
      app.messages.notice(`${notOpened(folders)}.`, "Drop the files in it, or a zip of it.");
    })();
  });
}

function dropped(event: DragEvent): Dropped[] {
  const items = Array.from(event.dataTransfer?.items ?? []).filter(({ kind }) => kind === "file");
  return items.map((item) => {
    const entry = item.webkitGetAsEntry();
    return { file: item.getAsFile(), folder: entry?.isDirectory ? entry.name : null };
  });
}
