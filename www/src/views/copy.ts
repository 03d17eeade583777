/** Text for the clipboard; where a page may not write there, the text itself, chosen, for who copies it by hand. */

import { html } from "../dom";

export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    show(text);
    return false;
  }
}

function show(text: string): void {
  const before = document.activeElement;
  const area = html("textarea", { rows: 12, readonly: true, "aria-labelledby": "copy-title", spellcheck: "false" });
  area.value = text;
  const close = html("button", { type: "button", class: "primary" }, "Close");
  const dialog = html(
    "dialog",
    { class: "ask", "aria-labelledby": "copy-title" },
    html("h2", { id: "copy-title" }, "This browser does not let the page copy"),
    html("p", {}, "Here is the text: copy it as you would any other."),
    area,
    html("div", { class: "row wrap" }, close),
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
  area.select();
}
