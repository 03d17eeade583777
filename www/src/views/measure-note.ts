/**
 * What a measure is, wherever its name stands: pressed, the name opens a note with the definition, the formula, the paper and what
 * the measure takes. A dialog beside the page: the focus goes into it and comes back, and Escape or a press elsewhere closes it.
 */

import type { MeasureDescription, MeasureKey } from "isoflat";
import { html, nothing, render, type TemplateResult } from "lit-html";
import type { App } from "../app";
import { html as element } from "../dom";
import type { Explained } from "../plots/invariance";
import { measureUnits } from "../units";
import type { aboutMeasure } from "./about-measure";
import { subscripted } from "./subscripted";

/** A question mark, which the style sheet draws, behind a name that is no button; `name` is what it is called to who does not see where it stands. */
export const measureMark = (key: MeasureKey, name: string): HTMLButtonElement =>
  element("button", {
    type: "button",
    class: "about-mark",
    "data-about": key,
    "aria-haspopup": "dialog",
    "aria-expanded": "false",
    "aria-label": `What ${name} is: definition, formula, paper`,
  });

/** What a measure takes at one point on this device, as if it were asked for alone, in seconds; null where too little is known. */
export function secondsOf({ progressing, store }: App, measure: MeasureDescription): number | null {
  const [unit] = measureUnits([measure]);
  return unit ? progressing.estimate({ what: "measures", point: "trained", unit }, store.state, null) : null;
}

/** Where its formula could not be loaded. */
export const withoutFormula = ({ description }: MeasureDescription): TemplateResult =>
  html`<p>${subscripted(description)}</p>
    <p class="fault">Its formula could not be loaded. Without a network it is there from the second visit on.</p>`;

/** From the window's edges, and from the name. */
const [EDGE, GAP] = [8, 6];

/** One note for all names of the page. */
export function measureNoteView(app: App): void {
  const note = element("div", { id: "measure-note", class: "measure-note", role: "dialog", popover: "manual" });
  note.tabIndex = -1;
  note.setAttribute("aria-labelledby", "measure-note-title");
  document.body.append(note);
  let of: HTMLElement | null = null;
  /** With all formulas it is loaded when it is first asked for. */
  let about: typeof aboutMeasure | "failed" | undefined;

  const draw = (measure: MeasureDescription): void => {
    const { state } = app.store;
    const { trained, bent } = state.measures;
    const values = { before: trained.get(measure.key), after: bent.get(measure.key) };
    render(
      html`<div class="measure-note-head">
          <h3 id="measure-note-title">${subscripted(measure.title)}</h3>
          <button type="button" class="quiet icon" aria-label="Close" @click=${() => close(true)}>×</button>
        </div>
        ${
          about === undefined
            ? html`<p>${subscripted(measure.description)}</p>`
            : about === "failed"
              ? withoutFormula(measure)
              : about(measure, state, values, secondsOf(app, measure))
        }`,
      note,
    );
  };
  const close = (isBack: boolean): void => {
    if (!of) return;
    // What is drawn anew meanwhile is another element of the same name.
    const again = document.querySelectorAll<HTMLElement>(`[data-about="${of.dataset.about}"]`);
    const back = of.isConnected ? of : ([...again].find((one) => one.checkVisibility()) ?? null);
    of.setAttribute("aria-expanded", "false");
    of = null;
    note.hidePopover();
    render(nothing, note);
    if (isBack) back?.focus({ preventScroll: true });
  };
  const open = async (name: HTMLElement): Promise<void> => {
    const measure = app.store.state.descriptions.find(({ key }) => key === name.dataset.about);
    if (!measure) return;
    of = name;
    name.setAttribute("aria-expanded", "true");
    draw(measure);
    note.showPopover();
    beside(note, name);
    note.focus({ preventScroll: true });
    if (typeof about === "function") return;
    about = await import("./about-measure").then(
      ({ aboutMeasure }) => aboutMeasure,
      () => "failed" as const,
    );
    if (of !== name) return;
    draw(measure);
    beside(note, name);
  };

  const isOver = (target: Element): boolean => note.contains(target) || target.closest("#term-note") !== null;
  /** In an element, which alone is a press' target. */
  let explained: HTMLElement | null = null;
  document.addEventListener("explain", (event) => {
    explained = (event as CustomEvent<Explained>).detail.name;
  });
  document.addEventListener("click", ({ target }) => {
    // What a press has drawn anew is nowhere any more.
    if (!(target instanceof Element) || !target.isConnected || isOver(target)) return;
    const name = explained ?? target.closest<HTMLElement>("[data-about]");
    explained = null;
    const isSame = name !== null && name === of;
    close(isSame);
    if (name && !isSame) void open(name);
  });
  document.addEventListener(
    "keydown",
    (event) => {
      // A word's note lies over this one, and goes first.
      if (event.key !== "Escape" || !of || event.defaultPrevented) return;
      event.stopPropagation();
      event.preventDefault();
      close(true);
    },
    true,
  );
  document.addEventListener("focusin", ({ target }) => {
    if (of && target instanceof Element && target !== of && !isOver(target)) close(false);
  });
  addEventListener("resize", () => close(false));
}

/** Below the name, or above it, or over it; always within the window. */
function beside(note: HTMLElement, name: HTMLElement): void {
  const at = name.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = note;
  const left = Math.max(EDGE, Math.min(at.left, document.documentElement.clientWidth - EDGE - width));
  const below = at.bottom + GAP;
  const above = at.top - GAP - height;
  const top = below + height + EDGE <= innerHeight ? below : above >= EDGE ? above : innerHeight - EDGE - height;
  note.style.left = `${left}px`;
  note.style.top = `${Math.max(top, EDGE)}px`;
}
