import { describe, expect, test } from "vitest";
import { version } from "../../package.json";
import README from "../../README.md?raw";
import { bibtex, PAPERS, plainCitation } from "../../www/src/figures/cite";

const ADDRESS = "https://example.org/a_b/lab/";

describe("citations", () => {
  test("are of this version, at the page's own address", () => {
    for (const text of [bibtex(ADDRESS, "2026-01-02"), plainCitation(ADDRESS, "2026-01-02")]) {
      for (const part of [version, ADDRESS, "2026-01-02", "isoflat"]) expect(text).toContain(part);
    }
    expect(bibtex(ADDRESS, "2026-01-02")).toMatch(/year = {\d{4}}/);
  });

  test("name the papers as the README does", () => {
    const readme = README.split("## The papers")[1] ?? "";
    const words = plainCitation(ADDRESS, "2026-01-02");
    const lines = [...readme.matchAll(/^- (.+?): \*(.+?)\* \((\d{4})\)/gm)];
    expect(lines.length).toBe(PAPERS.length);
    for (const [, authors, title, year] of lines) expect(words).toContain(`${authors}: ${title} (${year})`);
    expect(words).toContain("(2025). Bachelor thesis, Eberhard Karls Universität Tübingen.");
  });

  test("are BibTeX: braces in pairs, a key each, no letter that classic BibTeX cannot read", () => {
    const text = bibtex(ADDRESS, "2026-01-02");
    let depth = 0;
    for (const letter of text) {
      depth += letter === "{" ? 1 : letter === "}" ? -1 : 0;
      expect(depth).toBeGreaterThanOrEqual(0);
    }
    expect(depth).toBe(0);
    const keys = [...text.matchAll(/^@\w+{(\w+),$/gm)].map(([, key]) => key);
    expect(new Set(keys).size).toBe(PAPERS.length + 1);
    expect([...text].every((letter) => letter.charCodeAt(0) < 128)).toBe(true);
    expect(text).toContain('author = {Jest{\\"a}dt, Christian}');
    expect(text).toContain('school = {Eberhard Karls Universit{\\"a}t T{\\"u}bingen}');
    expect(text).toContain("eprint = {1703.04933}");
  });
});
