/** A small menu beside a chart or a table: what is shown there, as a picture, a drawing, numbers or text. */

import { ref } from "lit-html/directives/ref.js";
import { download, html, svg } from "../dom";
import { csvOf, markdownOf, tabbed } from "../figures/columns";
import type { Figure } from "../figures/figure";
import { pngFile } from "../figures/picture";
import { svgFile } from "../figures/sheet";
import { copy } from "./copy";

interface Way {
  text: string;
  /** What is said when it is done. */
  take: () => Promise<string> | string;
}

/** How long it is said that something was taken, in milliseconds. */
const SAID_MS = 2500;
const GAP = 4;

/**
 * Puts the button at the end of `place`. `describe` is asked when the menu is opened, and gives nothing while there is nothing to
 * take.
 */
export function takeAlong(
  place: HTMLElement | null,
  describe: () => Figure | null,
  what: "figure" | "table" = "figure",
): void {
  if (!place) return;
  const button = html(
    "button",
    {
      type: "button",
      class: "take quiet",
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      "aria-label": `Take this ${what} along`,
      title: `Take this ${what} along: ${what === "figure" ? "picture, drawing, numbers" : "its numbers in full"}`,
    },
    svg(
      "svg",
      { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
      svg("path", { d: "M8,2V10M4.5,6.8L8,10.3L11.5,6.8M2.5,10.5V13.5H13.5V10.5" }),
    ),
  );
  button.addEventListener("click", () => open(button, describe));
  place.append(place.localName === "ul" ? html("li", { class: "taken" }, button) : button);
}

/** The same as lit-html puts a place there: each gets its button once. */
export const takenAlong = (...[describe, what]: [() => Figure | null, ("figure" | "table")?]) =>
  ref((place) => {
    if (place instanceof HTMLElement && !place.querySelector("button.take")) takeAlong(place, describe, what);
  });

function waysOf(figure: Figure): Way[] {
  const { name, drawing, columns } = figure;
  const save = (extension: string, content: string | Blob): string => {
    const file = `isoflat-${name}.${extension}`;
    download(file, content);
    return `Saved as ${file}`;
  };
  const copied = async (text: string) => ((await copy(text)) ? "Copied" : "");
  return [
    ...(drawing
      ? [
          { text: "Picture (PNG)", take: async () => save("png", await pngFile(figure, drawing)) },
          { text: "Drawing (SVG)", take: () => save("svg", svgFile(figure, drawing)) },
        ]
      : []),
    { text: "Numbers (CSV)", take: () => save("csv", csvOf(columns())) },
    { text: "Copy, for spreadsheets", take: () => copied(tabbed(columns())) },
    { text: "Copy as Markdown", take: () => copied(markdownOf(columns())) },
  ];
}

/** What closes a menu may be a press on its button, which is not to open it again. */
let closed = { button: null as HTMLButtonElement | null, at: 0 };
const PRESS_MS = 250;

function open(button: HTMLButtonElement, describe: () => Figure | null): void {
  if (closed.button === button && performance.now() - closed.at < PRESS_MS) return;
  const figure = describe();
  if (!figure) {
    say(button, "There is nothing to take along yet");
    return;
  }
  const items = waysOf(figure).map(({ text, take }) => {
    const item = html("button", { type: "button", role: "menuitem", tabindex: -1 }, text);
    item.addEventListener("click", async () => {
      menu.hidePopover();
      closed.button = null;
      try {
        const said = await take();
        if (said) say(button, said);
      } catch (error) {
        say(button, `This did not work: ${error instanceof Error ? error.message : String(error)}`);
      }
    });
    return item;
  });
  const menu = html("div", { class: "take-menu", role: "menu", "aria-label": figure.title, popover: "auto" }, ...items);
  menu.addEventListener("keydown", (event) => {
    const at = items.indexOf(document.activeElement as HTMLButtonElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      items.at(next % items.length)?.focus();
    }
    // The focus goes on from the button.
    if (event.key === "Tab") menu.hidePopover();
  });
  menu.addEventListener("toggle", (event) => {
    if ((event as ToggleEvent).newState === "open") return;
    menu.remove();
    button.setAttribute("aria-expanded", "false");
  });
  menu.addEventListener("beforetoggle", (event) => {
    if ((event as ToggleEvent).newState !== "closed") return;
    closed = { button, at: performance.now() };
    if (menu.contains(document.activeElement)) button.focus({ preventScroll: true });
  });
  button.after(menu);
  menu.showPopover();
  button.setAttribute("aria-expanded", "true");
  beside(menu, button);
  items[0]?.focus({ preventScroll: true });
}

/** Below the button, or above it where there is no room; always within the window. */
function beside(box: HTMLElement, button: HTMLElement): void {
  const { left, right, top, bottom } = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = box;
  const [wide, high] = [document.documentElement.clientWidth, innerHeight];
  const x = Math.min(
    Math.max(left + width > wide - GAP ? right - width : left, GAP),
    Math.max(wide - width - GAP, GAP),
  );
  const y = bottom + GAP + height <= high ? bottom + GAP : Math.max(top - GAP - height, GAP);
  box.style.left = `${x}px`;
  box.style.top = `${y}px`;
}

let saying: ReturnType<typeof setTimeout> | undefined;
let bubble: HTMLElement | undefined;

function say(button: HTMLElement, text: string): void {
  bubble ??= html("div", { class: "take-said", role: "status", popover: "manual" });
  if (!bubble.isConnected) document.body.append(bubble);
  if (!bubble.matches(":popover-open")) bubble.showPopover();
  bubble.textContent = text;
  beside(bubble, button);
  clearTimeout(saying);
  saying = setTimeout(() => bubble?.hidePopover(), SAID_MS);
}
