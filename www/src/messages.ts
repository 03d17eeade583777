/** What went wrong and what to do, where a screen reader hears it at once. */

import { html } from "./dom";
import { advice, LabError } from "./errors";
import { sentence } from "./format";
import { canReload, isNotFetched } from "./later";

export class Messages {
  #code: LabError["code"] | null = null;
  #shown: Element | null = null;

  constructor(private readonly region: HTMLElement) {}

  /** Of the error that is shown; null where there is none. */
  get code(): LabError["code"] | null {
    return this.#code;
  }

  /** What is shown, for `clear`. `isFile`: the network on the stage came in one. */
  error(error: unknown, isFile = false): Element {
    if (isNotFetched(error))
      return this.error(new LabError("not_fetched", "this part of the page could not be fetched"));
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof LabError ? error.code : "unexpected";
    const isOfFile = isFile || (error instanceof LabError && error.isOfFiles);
    return this.#show("error", sentence(message), advice(code, message, isOfFile), code);
  }

  notice(text: string, detail = ""): void {
    this.#show("notice", text, detail && sentence(detail));
  }

  /** `own`: that message alone, and none that somebody else has shown since. */
  clear(own = this.#shown): void {
    if (own !== this.#shown) return;
    this.#code = null;
    this.#shown = null;
    this.region.replaceChildren();
  }

  #show(kind: "error" | "notice", text: string, detail: string, code?: LabError["code"]): Element {
    this.#code = code ?? null;
    const close = html("button", { type: "button", class: "quiet", "aria-label": "Dismiss" }, "✕");
    const symbol = html("span", { class: "symbol", "aria-hidden": "true" }, kind === "error" ? "!" : "i");
    const body = html("div", {}, html("strong", {}, text), detail && html("p", {}, detail));
    if (code === "not_fetched") body.append(reloading());
    const message = html("div", { class: `message ${kind}`, "data-code": code }, symbol, body, close);
    close.addEventListener("click", () => this.clear());
    this.region.replaceChildren(message);
    this.#shown = message;
    return message;
  }
}

/** The page anew, once there is one. */
function reloading(): HTMLElement {
  const button = html("button", { type: "button" }, "Load the page again");
  const said = html("span", { class: "note", role: "status" });
  button.addEventListener("click", async () => {
    said.textContent = "";
    if (await canReload()) location.reload();
    else said.textContent = "There is no connection yet.";
  });
  return html("p", { class: "row wrap" }, button, said);
}
