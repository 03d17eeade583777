/** Every measure says what it is, and words of the trade what they mean: by mouse, by keys, and to a screen reader. */

import { Lab } from "./lab.mjs";

export async function checkWords(browser, url, check) {
  const lab = await Lab.open(browser, url);
  const { page } = lab;
  await lab.goTo("measures");
  const buttons = page.locator(".measures button.name");
  const count = await buttons.count();
  for (let i = 0; i < count; i++) await buttons.nth(i).click();
  await page.waitForFunction((count) => document.querySelectorAll(".formula math").length >= count, count);
  const abouts = await page.locator("tr.about").evaluateAll((rows) =>
    rows.map((row) => ({
      id: row.id,
      formula: row.querySelector(".formula math")?.getBoundingClientRect().height ?? 0,
      symbols: row.querySelectorAll(".symbols dt math").length,
      takes: [...row.querySelectorAll("dt")].some((name) => name.textContent === "Takes"),
      papers: [...row.querySelectorAll(".reference a")].map(({ href }) => href),
    })),
  );
  const lacking = abouts.filter(({ formula, symbols, takes }) => formula < 10 || symbols === 0 || !takes);
  check("every measure has its formula, its symbols and what it takes", lacking.length === 0 && count > 30, `${count}`);
  check("none is empty", lacking.length === 0, lacking.map(({ id }) => id).join());
  const dois = abouts.flatMap(({ papers }) => papers);
  check(
    "papers are cited by their DOI",
    dois.length > 30 && dois.every((href) => /^https:\/\/doi\.org\/10\.48550\/arXiv\.\d{4}\.\d{5}$/.test(href)),
    `${new Set(dois).size} papers`,
  );
  const wide = await page
    .locator(".formula")
    .evaluateAll((formulas) => formulas.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length);
  check("no formula is cut off", wide === 0);
  await page.setViewportSize({ width: 320, height: 640 });
  const narrow = await page
    .locator(".formula")
    .evaluateAll((formulas) =>
      formulas
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map((formula) => formula.closest("tr").id),
    );
  check("nor in a window of 320 pixels", narrow.length === 0 && (await lab.overflow()) <= 0, narrow.join());
  await page.setViewportSize({ width: 1440, height: 900 });

  const note = page.locator("#term-note");
  const word = page.locator("#gauge-stands .term");
  await page.evaluate(() => scrollTo(0, 0));
  check("a word says nothing until it is pressed", !(await note.isVisible()));
  await word.focus();
  await page.keyboard.press("Enter");
  check("pressed, it says what it means", /^Riemannian Measured with a ruler/.test(await note.innerText()));
  check(
    "in a live region, with the focus where it was",
    (await note.getAttribute("role")) === "status" &&
      (await word.getAttribute("aria-expanded")) === "true" &&
      (await page.evaluate(() => document.activeElement?.matches("#gauge-stands .term"))),
  );
  await page.keyboard.press("Escape");
  check("Escape takes it away", !(await note.isVisible()) && (await word.getAttribute("aria-expanded")) === "false");
  await word.click();
  await page.locator("#gauge-swings .term").click();
  check("another word takes its place", /^Hessian/.test(await note.innerText()));
  await page.locator("#gauge-swings .term").click();
  check("the same word closes it", !(await note.isVisible()));
  await word.click();
  await page.locator("#riddle").click();
  check("so does a press elsewhere", !(await note.isVisible()));
  await word.focus();
  await lab.drag("#sharpness", 0.4);
  await word.focus();
  await page.evaluate(() =>
    window.isoflatLab.app.store.set({ accuracy: { ...window.isoflatLab.app.store.state.accuracy } }),
  );
  check(
    "numbers that change leave the focus on a word",
    await page.evaluate(() => document.activeElement?.matches("#gauge-stands .term")),
  );
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}
