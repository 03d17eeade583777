/** Text as people read it: subscripts below the line, and words of the trade that explain themselves when they are pressed. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import { GLOSSARY, type TermId, withTerms } from "../glossary";
import { subscripted } from "./subscripted";

/** A word that says what it means: pressed, by mouse, finger or key. */
export const term = (id: TermId, text: string = GLOSSARY[id].name): TemplateResult =>
  html`<button type="button" class="term" data-term=${id} aria-expanded="false">${subscripted(text)}</button>`;

/** A text whose terms are such words, each where it comes first. */
export const explained = (text: string, known?: ReadonlySet<TermId>): (string | TemplateResult)[] =>
  withTerms(text, known).flatMap((piece) =>
    typeof piece === "string" ? subscripted(piece) : [term(piece.id, piece.text)],
  );

/** The same as an element, for views without templates. */
export function explainedText(text: string): HTMLElement {
  const place = document.createElement("span");
  render(explained(text), place);
  return place;
}

/** From the window's edges, and from the word. */
const [EDGE, GAP] = [8, 6];

/**
 * One note for all words of the page, in the top layer: nothing cuts it off. It is a live region, so that what a word means is
 * said when it is pressed; the focus stays where it is.
 */
export function glossaryView(): void {
  const note = document.createElement("div");
  note.id = "term-note";
  note.className = "term-note";
  note.popover = "manual";
  note.setAttribute("role", "status");
  document.body.append(note);
  let of: HTMLElement | null = null;

  const close = (): void => {
    if (!of) return;
    of.setAttribute("aria-expanded", "false");
    of = null;
    render(nothing, note);
    note.hidePopover();
  };
  const open = (word: HTMLElement): void => {
    const entry = GLOSSARY[word.dataset.term as TermId];
    of = word;
    word.setAttribute("aria-expanded", "true");
    note.showPopover();
    render(html`<strong>${subscripted(entry.name)}</strong> ${subscripted(entry.about)}`, note);
    const at = word.getBoundingClientRect();
    const { width, height } = note.getBoundingClientRect();
    const left = Math.max(EDGE, Math.min(at.left, innerWidth - EDGE - width));
    const below = at.bottom + GAP;
    const isAbove = below + height + EDGE > innerHeight && at.top - GAP - height > EDGE;
    note.style.left = `${left}px`;
    note.style.top = `${isAbove ? at.top - GAP - height : below}px`;
  };

  document.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element) || note.contains(target)) return;
    const word = target.closest<HTMLElement>(".term");
    const isOpen = word !== null && word === of;
    close();
    if (word && !isOpen) open(word);
  });
  // Before others hear it: one press closes one thing.
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || !of) return;
      event.stopPropagation();
      event.preventDefault();
      close();
    },
    true,
  );
  document.addEventListener("focusin", ({ target }) => {
    if (of && target !== of) close();
  });
  addEventListener("resize", close);
  addEventListener("scroll", close, { capture: true, passive: true });
}
