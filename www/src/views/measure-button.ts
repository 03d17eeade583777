/** A measure's name that says what it is when it is pressed. */

import { html, nothing, type TemplateResult } from "lit-html";
import { subscripted } from "./subscripted";

/** `pressed`: what else happens then. */
export const measureButton = (
  key: string,
  text: string,
  { stop = true, pressed }: { stop?: boolean; pressed?: (name: HTMLElement) => void } = {},
): TemplateResult =>
  html`<button type="button" class="about-name" data-about=${key} aria-haspopup="dialog" aria-expanded="false"
    title=${`What ${text} is`} tabindex=${stop ? nothing : "-1"}
    @click=${({ currentTarget }: Event) => pressed?.(currentTarget as HTMLElement)}>${subscripted(text)}</button>`;
