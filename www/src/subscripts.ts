/** Formulas in running text, as papers and the engine write them: `κ_τ`, `W_l`, `H_(s, s')`. */

export type Piece = string | { base: string; sub: string };

/** A single letter, so that names like `batch_norm` or `a_b.json` stay what they are. */
const SUBSCRIPT = /(?<![\p{L}\p{N}_./\\-])(\p{L})_(?:\(([^()]*)\)|(\p{L}|\p{N}+))(?![\p{L}\p{N}_]|\.[\p{L}\p{N}])/gu;

export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(SUBSCRIPT)) {
    const [all, base = "", list, one] = match;
    if (match.index > end) found.push(text.slice(end, match.index));
    found.push({ base, sub: list ?? one ?? "" });
    end = match.index + all.length;
  }
  if (end < text.length) found.push(text.slice(end));
  return found;
}

/** Where there is no place for small letters: a title, or what a screen reader says. */
export const plain = (text: string): string =>
  text.replace(SUBSCRIPT, (_, base, list, one) => `${base}${list === undefined ? one : `(${list})`}`);

/** Small digits as ordinary ones, `before` in front of each: for the names of columns, which every program reads. */
export const withOrdinaryDigits = (text: string, before = ""): string =>
  text.replace(/[₀-₉]/gu, (digit) => `${before}${"₀₁₂₃₄₅₆₇₈₉".indexOf(digit)}`);
