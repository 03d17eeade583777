/** What docs/papers/README.md says, as pieces: code, words that are stressed, and the rest with numbers as people write them. */

import { power } from "../format";

export type Piece = string | { code: string } | { strong: string } | { stressed: string };

const MARKED = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|!?\[([^\]]+)\]\([^)]*\)/g;

export function piecesOf(text: string): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(MARKED)) {
    const [all, code, strong, stressed, link] = match;
    found.push(typeset(text.slice(end, match.index)));
    if (code !== undefined) found.push({ code });
    else if (strong !== undefined) found.push({ strong: typeset(strong) });
    else if (stressed !== undefined) found.push({ stressed });
    else found.push(typeset(link ?? ""));
    end = match.index + all.length;
  }
  found.push(typeset(text.slice(end)));
  return found.filter((piece) => piece !== "");
}

const ITEM = /^(-|\d+\.) /;

/** A paragraph's items where it is a list, and whether they are numbered. */
export function listOf(paragraph: string): { items: string[]; isNumbered: boolean } | null {
  const lines = paragraph.split("\n");
  if (!lines.every((line) => ITEM.test(line))) return null;
  return { items: lines.map((line) => line.replace(ITEM, "")), isNumbered: !paragraph.startsWith("-") };
}

/**
 * `1.7e-7` as 1.7 × 10⁻⁷ and `1e-1` as 0.1; a number, what it is give or take and its percent sign stay in one line; apostrophes are
 * curved.
 */
export const typeset = (text: string): string =>
  text
    .replace(/(?<![\w.])(\d+(?:\.\d+)?)e(-?\d+)(?!\w)/g, (all, mantissa: string, exponent: string) => {
      if (Math.abs(Number(exponent)) <= 2) return String(Number(all));
      const ten = power(10 ** Number(exponent));
      return mantissa === "1" ? ten : `${mantissa} × ${ten}`;
    })
    .replace(/(?<=\d) (?=[×±%])|(?<=[×±]) (?=\d)/g, "\u00a0")
    .replaceAll("'", "’");
