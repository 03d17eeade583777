import temml from "temml";
import { expect, test } from "vitest";
import { FORMULAS, piecesOf, SYMBOLS } from "../../www/src/formulas";
import { addressOf, REFERENCES } from "../../www/src/references";

const files = import.meta.glob<string>("../../src/measure/**/*.rs", { query: "?raw", import: "default", eager: true });

/** As the crate's rows spell them; the package's list is made of these. */
function crate(): { key: string; paper: string }[] {
  const rows = Object.values(files).flatMap((text) => text.split(/\bMeasure \{\n/).slice(1));
  return rows.flatMap((row) => {
    const key = /^\s*key: "([^"]+)"/m.exec(row)?.[1];
    return key === undefined ? [] : [{ key, paper: /^\s*paper: "([^"]+)"/m.exec(row)?.[1] ?? "" }];
  });
}

test("every measure of the crate has a formula, and there is none of a measure that is gone", () => {
  const keys = crate().map(({ key }) => key);
  expect(keys.length).toBeGreaterThan(30);
  expect(Object.keys(FORMULAS).sort()).toEqual(keys.sort());
});

test("every formula and symbol is TeX that can be read, and no formula names a symbol twice", () => {
  const read = (tex: string) => temml.renderToString(tex, { throwOnError: true });
  for (const [tex] of Object.values(SYMBOLS)) expect(read(tex)).toMatch(/^<math/);
  for (const [key, { tex, symbols }] of Object.entries(FORMULAS)) {
    for (const piece of piecesOf(tex)) expect(read(piece), key).toMatch(/^<math/);
    expect(new Set(symbols).size, key).toBe(symbols.length);
  }
});

test("a symbol that is explained is one that the formula has", () => {
  const bare = (tex: string) => tex.replace(/\\[lr]Vert|\\cdot|[{}\s]/g, "");
  for (const [key, { tex, symbols }] of Object.entries(FORMULAS)) {
    for (const symbol of symbols) expect(bare(tex), `${key}: ${symbol}`).toContain(bare(SYMBOLS[symbol][0]));
  }
  const used = new Set(Object.values(FORMULAS).flatMap(({ symbols }) => symbols));
  expect([...used].sort()).toEqual(Object.keys(SYMBOLS).sort());
});

test("the papers that a row of the crate names are those that are cited, and others are of no measure", () => {
  for (const { key, paper } of crate()) {
    const cited = FORMULAS[key as keyof typeof FORMULAS].papers.map((id) => REFERENCES[id].authors.split(",")[0] ?? "");
    for (const name of paper.match(/\p{Lu}\p{L}+(?= et al)/gu) ?? []) expect(cited, `${key}: ${paper}`).toContain(name);
  }
  const used = new Set(Object.values(FORMULAS).flatMap(({ papers }) => papers));
  expect([...used].sort()).toEqual(Object.keys(REFERENCES).sort());
});

test("a paper's address is its DOI", () => {
  expect(addressOf(REFERENCES.dinh)).toBe("https://doi.org/10.48550/arXiv.1703.04933");
  for (const { arxiv } of Object.values(REFERENCES)) expect(arxiv).toMatch(/^\d{4}\.\d{5}$/);
});
