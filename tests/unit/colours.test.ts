import { expect, test } from "vitest";
import page from "../../www/index.html?raw";

const sources = import.meta.glob<string>("../../www/src/**/*.ts", { query: "?raw", import: "default", eager: true });

test("Colours stand in style sheets, and the surfaces’ ramp in a table: no other file repeats one", () => {
  const files = Object.entries(sources);
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap(([name, text]) => {
    // White is paper's, whatever the theme.
    const colours = text.match(/["'` ]#(?!fff\b)([\da-f]{3}|[\da-f]{6})\b/gi) ?? [];
    return colours.length > 0 && !name.endsWith("palette.ts") ? [`${name}: ${colours.join()}`] : [];
  });
  expect(found).toEqual([]);
  expect(page.match(/content="#[\da-f]+"/gi)).toBeNull();
});
