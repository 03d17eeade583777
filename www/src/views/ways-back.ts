/** Undo and redo; the network that was put aside; and the question before one is given up. */

import { html, nothing, render } from "lit-html";
import type { App } from "../app";
import { freeName, nameFor } from "../networks-beside";
import { ask } from "./ask";
import { place } from "./place";

export function waysBackView(app: App): void {
  buttons(app);
  putAside(app);
  document.addEventListener("keydown", (event) => byKeys(app, event));
  app.mayReplace = () => mayReplace(app);
}

function buttons(app: App): void {
  const box = place("ways-back");
  app.store.watch(["undo", "redo", "engine"], () => {
    const { undo, redo, engine } = app.store.state;
    // aria-disabled: a button that disables itself under the finger would lose the focus.
    const button = (id: string, name: string, symbol: string, what: string | null, go: () => void) => html`<button
      type="button"
      id=${id}
      class="quiet icon"
      aria-label=${what ? `${name}: ${what}` : name}
      title=${what ? `${name}: ${what}` : `Nothing to ${name.toLowerCase()}`}
      aria-disabled=${engine === null || what === null}
      @click=${() => engine && what && go()}
    >${symbol}</button>`;
    render(
      html`${button("undo", "Undo", "↶", undo, () => void app.undo())}
      ${button("redo", "Redo", "↷", redo, () => void app.redo())}`,
      box,
    );
  });
}

function byKeys(app: App, event: KeyboardEvent): void {
  const { target, key, ctrlKey, metaKey, altKey, shiftKey } = event;
  if (!(ctrlKey || metaKey) || altKey || !app.store.state.engine) return;
  // In a field these are its own.
  const isText =
    target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && /text|number/.test(target.type));
  if (isText || document.querySelector("dialog[open]")) return;
  const redo = key.toLowerCase() === "y" || (key.toLowerCase() === "z" && shiftKey);
  if (!redo && key.toLowerCase() !== "z") return;
  event.preventDefault();
  void (redo ? app.redo() : app.undo());
}

/** Beside the button that has taken it from the stage. */
function putAside(app: App): void {
  const box = place("put-aside");
  app.store.watch(["ready", "task", "undo"], () => {
    const { ready, task, undo } = app.store.state;
    const isAside = !ready && task === "idle" && undo !== null;
    render(
      isAside
        ? html`<p class="note">Your trained network is put aside.
            <button type="button" class="link" @click=${() => void app.undo()}>Bring it back</button></p>`
        : nothing,
      box,
    );
  });
}

async function mayReplace(app: App): Promise<boolean> {
  const { stamp, shelf, model, trainChoice } = app.store.state;
  const entry = shelf.find((other) => other.stamp === stamp);
  const title = "Another network takes its place";
  const go = { text: "Replace it", value: "replace" } as const;
  const stay = { text: "Cancel", value: "cancel" } as const;
  if (!entry) {
    const name = nameFor({ summary: model?.summary ?? "", training: trainChoice });
    const about = `On the stage is ${name}, which this browser does not keep: it cannot be brought back.`;
    return (await ask<"replace" | "cancel">(title, about, [{ ...stay, isFirst: true }, go], "cancel")) === "replace";
  }
  const name = freeName(entry, shelf);
  const answer = await ask<"keep" | "replace" | "cancel">(
    title,
    `On the stage is ${name}, which has no name yet. Keep it, and both can be set side by side.`,
    [{ text: "Keep it, and go on", value: "keep", isFirst: true }, go, stay],
    "cancel",
  );
  if (answer === "keep") await app.shelf.name(entry.stamp, name);
  return answer !== "cancel";
}
