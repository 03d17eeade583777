/** Panels of the figures in docs/results: a frame with two axes, and lines and points in their coordinates. */

const round = (x) => Number(x.toFixed(1));
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 10⁻⁷, and 1 and 10 as themselves. */
export function power(exponent) {
  if (exponent === 0 || exponent === 1) return String(10 ** exponent);
  const digits = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[digit]).join("");
  return `10${exponent < 0 ? "⁻" : ""}${digits}`;
}

/** A scale takes values to shares of an axis. `ticks`: values with their labels. */
export const linear = (low, high, ticks) => ({
  share: (value) => (value - low) / (high - low),
  ticks: ticks.map((value) => [value, String(value).replace("-", "−")]),
});

/** By powers of ten from one exponent to another, with a tick at every so many. */
export const powers = (from, to, step = 1) => ({
  share: (value) => (Math.log10(Math.max(value, 10 ** from)) - from) / (to - from),
  ticks: Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step).map((exponent) => [
    10 ** exponent,
    power(exponent),
  ]),
});

/** The rules that panels need. */
export const PANEL_STYLE =
  ".grid{stroke:#ddd}.frame{fill:none;stroke:#bbb}.line{fill:none;stroke-width:1.5}.dashed{stroke-dasharray:4 3}";

let panels = 0;

/** A panel at these pixels. What is drawn in it with `line`, `dot`, `area` and `areas` is cut at its frame. */
export function panel({ x, y, width, height, title, across, down, acrossName = "", downName = "" }) {
  const id = `panel-${++panels}`;
  const at = (value) => round(x + width * across.share(value));
  const to = (value) => round(y + height * (1 - down.share(value)));
  const d = (points) => points.map(([px, py], i) => `${i === 0 ? "M" : "L"}${at(px)},${to(py)}`).join("");
  const inside = [];
  const ground = [
    `<text class="title" x="${x}" y="${y - 10}">${title}</text>`,
    ...across.ticks.map(
      ([value, label]) =>
        `<line class="grid" x1="${at(value)}" x2="${at(value)}" y1="${y}" y2="${y + height}"/>` +
        `<text class="tick" x="${at(value)}" y="${y + height + 14}" text-anchor="middle">${label}</text>`,
    ),
    ...down.ticks.map(
      ([value, label]) =>
        `<line class="grid" x1="${x}" x2="${x + width}" y1="${to(value)}" y2="${to(value)}"/>` +
        `<text class="tick" x="${x - 5}" y="${to(value) + 3.5}" text-anchor="end">${label}</text>`,
    ),
    `<text class="tick" x="${x + width / 2}" y="${y + height + 28}" text-anchor="middle">${acrossName}</text>`,
    `<text class="tick" transform="translate(${x - 34} ${y + height / 2}) rotate(-90)" text-anchor="middle">${downName}</text>`,
  ];
  return {
    at,
    to,
    line(points, colour, { opacity = 1, dashed = false, width: thick = 1.5 } = {}) {
      const more = `${opacity < 1 ? ` opacity="${opacity}"` : ""}${thick === 1.5 ? "" : ` style="stroke-width:${thick}"`}`;
      inside.push(`<path class="line${dashed ? " dashed" : ""}" stroke="${colour}"${more} d="${d(points)}"/>`);
    },
    /** Rings of one shape, of which some are its holes. */
    areas(rings, colour) {
      inside.push(`<path fill="${colour}" fill-rule="evenodd" d="${rings.map((ring) => `${d(ring)}z`).join("")}"/>`);
    },
    area(points, colour, opacity = 0.25) {
      inside.push(`<path fill="${colour}" opacity="${opacity}" d="${d(points)}z"/>`);
    },
    dot([px, py], colour, radius = 3.5) {
      inside.push(`<circle cx="${at(px)}" cy="${to(py)}" r="${radius}" fill="${colour}"/>`);
    },
    text([px, py], words, anchor = "start") {
      inside.push(`<text class="small" x="${at(px)}" y="${to(py)}" text-anchor="${anchor}">${words}</text>`);
    },
    /** All of it. */
    svg: () =>
      `${ground.join("")}<clipPath id="${id}"><rect x="${x}" y="${y}" width="${width}" height="${height}"/></clipPath>` +
      `<g clip-path="url(#${id})">${inside.join("")}</g>` +
      `<rect class="frame" x="${x}" y="${y}" width="${width}" height="${height}"/>`,
  };
}
