/** How wide a label is in a chart, about. */

/** Powers' exponents are small, spaces and points narrow; the rest is as wide as a digit. */
const SMALL = /[⁰¹²³⁴-⁹⁻]/u;
const NARROW = /[\s.,:]/u;

/** In pixels, at the size of the labels: enough to see whether they have room. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += SMALL.test(character) ? 4.4 : NARROW.test(character) ? 3.4 : 6.8;
  return width;
}
