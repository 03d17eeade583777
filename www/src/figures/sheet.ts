/** A figure as an SVG file that stands alone: title, drawing, keys and caption on white, with every style written out. */

import { html, paperToken, svg } from "../dom";
import type { Drawing, Figure, Key } from "./figure";
import { VERSION } from "./version";
import { wrapped } from "./wrap";

const EDGE = 20;
const FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif";
const TITLE = 15;
const TEXT = 12;
const LINE = 17;
const KEY = { width: 34, height: 14, gap: 8, apart: 22 };

/** Style properties of drawings that a file has to say itself. */
const PROPERTIES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linejoin",
  "font-size",
  "font-weight",
  "text-anchor",
] as const;

let measuring: CanvasRenderingContext2D | null | undefined;

function widthAt(size: number): (text: string) => number {
  measuring ??= document.createElement("canvas").getContext("2d");
  return (text) => {
    if (!measuring) return 0.55 * size * text.length;
    measuring.font = `${size}px ${FONT}`;
    return measuring.measureText(text).width;
  };
}

/** As text of a file. */
export function svgFile(figure: Figure, drawing: Drawing): string {
  const { sheet } = sheetOf(figure, drawing);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(sheet)}\n`;
}

export function sheetOf(
  { title, caption }: Figure,
  drawing: Drawing,
): { sheet: SVGSVGElement; width: number; height: number } {
  const { width: inner, height: drawn, draw, keys = [] } = drawing;
  const width = inner + 2 * EDGE;
  const titles = wrapped(title, inner, widthAt(TITLE * 1.06));
  const words = wrapped(`${caption} isoflat ${VERSION}.`, inner, widthAt(TEXT));
  const rows = keyRows(keys, inner);
  const top = EDGE + titles.length * (LINE + 3) + 6;
  const keysTop = top + drawn + 10;
  const wordsTop = keysTop + rows.length * (LINE + 3) + (rows.length > 0 ? 8 : 2);
  const height = wordsTop + words.length * LINE + EDGE - 6;
  const lines = (texts: string[], y: number, size: number, step: number, more: Record<string, string>) =>
    texts.map((text, index) => svg("text", { x: EDGE, y: y + size + index * step, "font-size": size, ...more }, text));
  const sheet = svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT },
    svg("title", {}, title),
    svg("desc", {}, caption),
    svg("rect", { width, height, fill: "#fff" }),
    ...lines(titles, EDGE, TITLE, LINE + 3, { fill: paperToken("ink"), "font-weight": "600" }),
    placed(
      written(() => draw(inner, drawn)),
      EDGE,
      top,
      inner,
      drawn,
    ),
    ...rows.flatMap((row, index) => row.flatMap(({ key, x }) => keyAt(key, EDGE + x, keysTop + index * (LINE + 3)))),
    ...lines(words, wordsTop, TEXT, LINE, { fill: paperToken("ink-soft") }),
  );
  return { sheet, width, height };
}

function placed(drawing: SVGSVGElement, x: number, y: number, width: number, height: number): SVGSVGElement {
  for (const [name, value] of Object.entries({ x, y, width, height })) drawing.setAttribute(name, String(value));
  return drawing;
}

function keyRows(keys: Key[], room: number): { key: Key; x: number }[][] {
  const rows: { key: Key; x: number }[][] = [];
  let x = room;
  for (const key of keys) {
    const needed = KEY.width + KEY.gap + widthAt(TEXT)(key.name);
    if (rows.length === 0 || x + needed > room) {
      rows.push([]);
      x = 0;
    }
    rows.at(-1)?.push({ key, x });
    x += needed + KEY.apart;
  }
  return rows;
}

const keyAt = ({ name, drawing }: Key, x: number, y: number): SVGElement[] => [
  placed(written(drawing), x, y, KEY.width, KEY.height),
  svg("text", { x: x + KEY.width + KEY.gap, y: y + TEXT - 1, "font-size": TEXT, fill: paperToken("ink") }, name),
];

/** A drawing with the styles that the page gives it in the light theme as attributes, and nothing else of the page's. */
function written(draw: () => SVGSVGElement): SVGSVGElement {
  const host = html("div", { class: "on-paper off-screen", "aria-hidden": "true" });
  const drawing = draw();
  host.append(drawing);
  document.body.append(host);
  const all: SVGElement[] = [drawing, ...drawing.querySelectorAll<SVGElement>("*")];
  const styles = all.map((element) => {
    const own = getComputedStyle(element);
    const given = element === drawing || !element.parentElement ? null : getComputedStyle(element.parentElement);
    const said: [string, string][] = [];
    for (const name of PROPERTIES) {
      const value = own.getPropertyValue(name);
      if (!given || value !== given.getPropertyValue(name)) said.push([name, value]);
    }
    if (own.opacity !== "1") said.push(["opacity", own.opacity]);
    return said;
  });
  const outlined = all.filter((element) => {
    if (element.localName !== "text") return false;
    const { paintOrder, stroke } = getComputedStyle(element);
    return paintOrder.startsWith("stroke") && stroke !== "none";
  });
  host.remove();
  all.forEach((element, index) => {
    for (const { name } of [...element.attributes]) {
      if (/^(class|style|role|tabindex|data-.*|aria-.*)$/.test(name)) element.removeAttribute(name);
    }
    for (const [name, value] of styles[index] ?? []) attribute(element, name, value);
  });
  outlined.forEach(outlinedApart);
  return drawing;
}

/** The outline as a text of its own below: programs that do not know an order of painting would have it over the letters. */
function outlinedApart(text: SVGElement): void {
  const outline = text.cloneNode(true) as SVGElement;
  outline.setAttribute("fill", "none");
  text.before(outline);
  text.setAttribute("stroke", "none");
}

/** Colours that let something through are one with its share beside it: not every program reads them in one. */
function attribute(element: SVGElement, name: string, value: string): void {
  const plain = plainColour(value);
  const through = /^rgba\((.+), ([\d.]+)\)$/.exec(plain);
  element.setAttribute(name, through ? `rgb(${through[1]})` : plain);
  if (through?.[2]) element.setAttribute(`${name}-opacity`, through[2]);
}

/** Mixed colours, which few programs read in a style sheet's words, as the screen shows them. */
function plainColour(value: string): string {
  if (!/^(oklab|oklch|lab|lch|color)\(/.test(value)) return value;
  const known = plainColours.get(value);
  if (known !== undefined) return known;
  painting ??= html("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  if (!painting) return value;
  painting.clearRect(0, 0, 1, 1);
  painting.fillStyle = value;
  painting.fillRect(0, 0, 1, 1);
  const [red, green, blue, opacity = 255] = painting.getImageData(0, 0, 1, 1).data;
  const colours = `${red}, ${green}, ${blue}`;
  const plain = opacity === 255 ? `rgb(${colours})` : `rgba(${colours}, ${(opacity / 255).toFixed(3)})`;
  plainColours.set(value, plain);
  return plain;
}

const plainColours = new Map<string, string>();
let painting: CanvasRenderingContext2D | null | undefined;
