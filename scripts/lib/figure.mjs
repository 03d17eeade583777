/** What the figures in docs/results have in common: SVG with its own type and ground, for light and dark pages alike. */

/** `style`: rules beside those of all; `note` stands at the bottom. */
export function figure({ width, height, label, style, parts, note }) {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">` +
    "<style>text{font:12px system-ui,sans-serif;fill:#444}.title{font-weight:600}.tick,.small{font-size:10px}" +
    `${style}.ground{fill:#fff}</style>` +
    `<rect class="ground" width="${width}" height="${height}" rx="8"/>${parts.join("")}` +
    `<text class="small" x="50" y="${height - 12}">${note}</text></svg>\n`
  );
}
