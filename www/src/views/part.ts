import { html, nothing, render, type TemplateResult } from "lit-html";

/** What a section of the spaces' part shows: a title with what can be pressed beside it, a few words, and its content. */
export interface Part {
  title: string;
  controls?: TemplateResult;
  note: string;
  content: TemplateResult;
}

/** Into its section, which has its name. */
export function renderPart(section: HTMLElement, { title, controls, note, content }: Part): void {
  const markup = html`
    <div class="heading">
      <h3 id="${section.id}-title">${title}</h3>
      ${controls ? html`<div class="row wrap">${controls}</div>` : nothing}
    </div>
    <p class="note">${note}</p>
    ${content}`;
  render(markup, section);
}
