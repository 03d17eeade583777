import { html } from "../dom";

/** A section of a part: a title with what can be pressed beside it, a few words, and what is shown. */
export function part(id: string, title: string, controls: Node[], note: string, ...content: Node[]): HTMLElement {
  return html(
    "section",
    { id, class: "space-part", "aria-labelledby": `${id}-title` },
    html(
      "div",
      { class: "heading" },
      html("h3", { id: `${id}-title` }, title),
      controls.length > 0 && html("div", { class: "row wrap" }, ...controls),
    ),
    html("p", { class: "note" }, note),
    ...content,
  );
}
