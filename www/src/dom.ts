/** Small helpers for elements. */

import { pieces, plain } from "./subscripts";
import type { Picture } from "./worker/protocol";

const SVG = "http://www.w3.org/2000/svg";

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined>;

/** Attributes that people read or hear. */
const SAID: ReadonlySet<string> = new Set(["aria-label", "aria-valuetext", "title", "placeholder", "data-label"]);
/** Elements whose text is text alone, or as programs read it. */
const VERBATIM: ReadonlySet<string> = new Set(["code", "textarea"]);

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    const text = value === true ? "" : String(value);
    // An attribute would need more of a page's Content-Security-Policy.
    if (name === "style") (element as HTMLElement | SVGElement).style.cssText = text;
    else element.setAttribute(name, SAID.has(name) ? plain(text) : text);
  }
  for (const child of children) {
    if (child) element.append(...(typeof child === "string" ? formulas(element, child) : [child]));
  }
}

/** Text whose subscripts stand below the line, where an element can have that. */
function formulas({ localName, namespaceURI }: Element, text: string): (Node | string)[] {
  if (VERBATIM.has(localName)) return [text];
  if (localName === "option" || namespaceURI === SVG) return [plain(text)];
  return pieces(text).flatMap((piece) => {
    if (typeof piece === "string") return piece;
    const sub = document.createElement("sub");
    sub.append(piece.sub);
    return [piece.base, sub];
  });
}

export function html<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  fill(element, attributes, children);
  return element;
}

/** A network's summary that may break before a layer and nowhere else; a short one not at all. */
export function networkSummary(summary: string): HTMLElement {
  if (summary.length <= 30) return html("span", { class: "nowrap" }, summary);
  const parts = summary.split("-").map((part, index) => (index === 0 ? part : `-${part}`));
  return html("span", {}, ...parts.flatMap((part) => [html("wbr"), html("span", { class: "nowrap" }, part)]));
}

/** An input as a canvas. */
export function picture({ width, height, pixels }: Picture, attributes: Attributes): HTMLCanvasElement {
  const canvas = html("canvas", { width, height, ...attributes });
  const image = new ImageData(width, height);
  image.data.set(pixels);
  // In memory: the GPU, where there is one, would be waited for, and be of no use.
  canvas.getContext("2d", { willReadFrequently: true })?.putImageData(image, 0, 0);
  return canvas;
}

/** Colours by name, as the theme has them now; asked of the browser once a theme. */
const colours = new Map<string, string>();

/** One of the page's colours, as canvases take them: a colour of two themes is one only where it is used. */
export const token = (name: string): string => colourOf(name, "");

/** The same on paper, which is light whatever the theme. */
export const paperToken = (name: string): string => colourOf(name, "on-paper");

function colourOf(name: string, where: string): string {
  const known = colours.get(`${where} ${name}`);
  if (known !== undefined) return known;
  const probe = html("span", { class: where, style: `color: var(--${name})`, hidden: true });
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  colours.set(`${where} ${name}`, color);
  return color;
}

/** The theme is another one. */
export const forgetColours = (): void => colours.clear();

let systemIsDark: MediaQueryList | undefined;

export function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  systemIsDark ??= matchMedia("(prefers-color-scheme: dark)");
  return theme === "dark" || (theme !== "light" && systemIsDark.matches);
}

/** What a file's name ends in, and what it is; all else is bytes. */
const TYPES: Record<string, string> = {
  json: "application/json",
  csv: "text/csv;charset=utf-8",
  svg: "image/svg+xml",
  bib: "text/plain;charset=utf-8",
  txt: "text/plain;charset=utf-8",
};

export function download(name: string, content: string | Uint8Array<ArrayBuffer> | Blob): void {
  const type = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = html("a", { href: url, download: name });
  link.click();
  // The browser reads the blob after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
