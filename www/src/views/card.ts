/** A card: a title, a sentence or two, a button that begins the work, and a place for what it found. */

import { html } from "../dom";
import { disable } from "../focus";

export interface Card {
  root: HTMLElement;
  button: HTMLButtonElement;
  /** How long the work takes. */
  estimate: HTMLElement;
  /** Numbers and words. */
  body: HTMLElement;
  /** A drawing, under what it is, where it can be taken along; hidden while there is none. */
  head: HTMLElement;
  plot: HTMLElement;
}

/** `choice`: what is chosen before it begins. */
export function card(
  id: string,
  title: string,
  about: string,
  action: string,
  choice: HTMLElement | null = null,
): Card {
  const button = html("button", { type: "button", id: `${id}-button`, disabled: true }, action);
  const estimate = html("p", { id: `${id}-estimate`, class: "note estimate" });
  const body = html("div", { class: "finding", id: `${id}-finding`, role: "status" });
  const head = html("div", { class: "chart-head", hidden: true });
  const plot = html("div", { class: "chart small", id: `${id}-plot`, hidden: true });
  const root = html(
    "article",
    { class: "card", id, "aria-labelledby": `${id}-title` },
    html("h3", { id: `${id}-title` }, title),
    html("p", { class: "about-card" }, about),
    choice,
    html("div", { class: "row" }, button),
    estimate,
    head,
    plot,
    body,
  );
  return { root, button, estimate, body, head, plot };
}

/** Lets the card's work be begun; or says, in its place, why it never can be. */
export function offer({ button, estimate, body }: Card, isPossible: boolean, refusal: string | null): void {
  disable(button, !isPossible || refusal !== null);
  button.title = refusal ?? "";
  estimate.hidden = refusal !== null;
  if (refusal === null) button.removeAttribute("aria-describedby");
  else button.setAttribute("aria-describedby", body.id);
}

/** Name and value pairs; `null` entries are left out. */
export function facts(entries: ([name: string, value: string] | null)[]): HTMLElement {
  const rows = entries.flatMap((entry) =>
    entry ? [html("div", {}, html("dt", {}, entry[0]), html("dd", {}, entry[1]))] : [],
  );
  return html("dl", { class: "facts" }, ...rows);
}
