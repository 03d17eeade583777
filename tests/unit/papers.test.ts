import { expect, test } from "vitest";
import README from "../../README.md?raw";
import { byPaper } from "../../www/src/papers";
import { REFERENCES } from "../../www/src/references";
import { DESCRIPTIONS, described } from "./states";

const SOURCES = import.meta.glob<string>("../../src/measure/**/*.rs", {
  query: "?raw",
  import: "default",
  eager: true,
});

test("every measure stands under one paper, and papers without one are left out", () => {
  const groups = byPaper(DESCRIPTIONS);
  const keys = groups.flatMap(({ measures }) => measures.map(({ key }) => key));
  expect(keys.sort()).toEqual(DESCRIPTIONS.map(({ key }) => key).sort());
  expect(byPaper([described("loss")]).map(({ measures }) => measures.length)).toEqual([1]);
  const [sharpness] = byPaper([
    described("hessian.trace", { family: "curvature" }),
    described("epsilon_sharpness", { family: "sharpness" }),
  ]);
  expect(sharpness?.measures).toHaveLength(2);
});

test("a paper is of the same year wherever it is named: in a measure's row, above its group, in the README, among the references", () => {
  const known = new Set(Object.values(REFERENCES).map(({ authors, year }) => `${authors.split(", ")[0]} ${year}`));
  const authors = new Set([...known].map((name) => name.slice(0, -5)));
  const rows = Object.values(SOURCES).flatMap((text) =>
    [...text.matchAll(/paper: "([^"]+)"/g)].map(([, paper]) => paper ?? ""),
  );
  const titles = byPaper(DESCRIPTIONS).map(({ paper }) => paper.title);
  const named = [...rows, ...titles, README].flatMap((text) =>
    [...text.matchAll(/(\p{Lu}\p{L}+) et al\. (\d{4})((?:, \d{4})*)/gu)].flatMap(([, name, year, more = ""]) =>
      [year, ...more.split(", ").slice(1)].map((year) => `${name} ${year}`),
    ),
  );
  expect(rows.length).toBeGreaterThan(20);
  expect(named).toContain("Neyshabur 2017");
  expect(named.filter((name) => name.startsWith("Petzka")).length).toBeGreaterThan(3);
  const measured = [...new Set(named)].filter((name) => authors.has(name.slice(0, -5)));
  expect(measured.filter((name) => !known.has(name))).toEqual([]);
});
