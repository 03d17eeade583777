/** A question before something is given up that took a while. */

import { html as element } from "../dom";

export interface Answer<T> {
  text: string;
  value: T;
  /** Which Enter gives. */
  isFirst?: boolean;
}

/** Resolves to the answer, or to `otherwise` where the question is closed. */
export function ask<T>(title: string, about: string, answers: Answer<T>[], otherwise: T): Promise<T> {
  // An address that is followed may ask while something else does: that one is not done then.
  document.querySelector<HTMLDialogElement>("dialog.ask")?.close();
  return new Promise((resolve) => {
    const before = document.activeElement;
    let given = otherwise;
    const dialog = element("dialog", { class: "ask", "aria-labelledby": "ask-title", "aria-describedby": "ask-about" });
    const buttons = answers.map(({ text, value, isFirst }) => {
      const button = element("button", { type: "button", class: isFirst ? "primary" : "", autofocus: isFirst }, text);
      button.addEventListener("click", () => {
        given = value;
        dialog.close();
      });
      return button;
    });
    dialog.append(
      element("h2", { id: "ask-title" }, title),
      element("p", { id: "ask-about" }, about),
      element("div", { class: "row wrap" }, ...buttons),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
      resolve(given);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
