/** Every measure says what it is, and words of the trade what they mean: by mouse, by keys, and to a screen reader. */

import { Lab } from "./lab.mjs";

export async function checkWords(browser, url, check) {
  const lab = await Lab.open(browser, url, { rests: true });
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
  await lab.scrolled();
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
  await checkNotes(lab, check);
  check("the console is quiet", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}

/** Where a measure is shown, its name says what it is: on the stage, among layers, in tables, in the check and in a report. */
async function checkNotes(lab, check) {
  const { page } = lab;
  const note = page.locator("#measure-note");
  const opens = (what, name) => checkNote(page, check, what, name);
  await opens("a gauge", page.locator("#gauge-swings [data-about]"));

  const mark = page.locator("#gauge-stands [data-about]");
  await mark.focus();
  await page.keyboard.press("Enter");
  await note.locator(".formula math").first().waitFor();
  check("by keyboard: it is a dialog with a name", (await note.getAttribute("role")) === "dialog");
  const labelled = await note.evaluate(
    (note) => document.getElementById(note.getAttribute("aria-labelledby"))?.textContent,
  );
  check("by keyboard: of the measure", /^Riemannian/.test(labelled ?? ""), labelled);
  check("by keyboard: the focus is in it", await note.evaluate((note) => note.contains(document.activeElement)));
  check("by keyboard: its name says that it is open", (await mark.getAttribute("aria-expanded")) === "true");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  check(
    "by keyboard: its links and words can be reached",
    await note.evaluate((note) => note.contains(document.activeElement)),
  );
  const word = note.locator(".term").first();
  await word.focus();
  await page.keyboard.press("Enter");
  check("by keyboard: a word in it says what it means", await page.locator("#term-note").isVisible());
  await page.keyboard.press("Escape");
  check(
    "by keyboard: Escape closes the word first",
    (await note.isVisible()) && !(await page.locator("#term-note").isVisible()),
  );
  await page.keyboard.press("Escape");
  check(
    "by keyboard: then the note, and the focus is back",
    !(await note.isVisible()) && (await mark.evaluate((mark) => mark === document.activeElement)),
  );
  await mark.click();
  await page.locator("#riddle").click();
  check("a press elsewhere closes it", !(await note.isVisible()));
  await mark.click();
  await mark.click();
  check("so does the name itself", !(await note.isVisible()));

  await lab.goTo("layers");
  await page.locator("#layers").waitFor();
  const marks = page.locator("#layers [data-about]");
  check("κ, κ_τ, relative flatness and ρ have each its own", (await marks.count()) === 4, `${await marks.count()}`);
  for (const index of [0, 1, 2, 3]) await opens(`layers, ${index + 1}`, marks.nth(index));

  await lab.idle();
  await lab.goTo("check");
  await page.click("#check-button");
  await page.waitForSelector("table.invariance [data-about]");
  await opens("the check", page.locator('table.invariance [data-about^="hessian"]').first());
  await lab.idle();
  await page.locator('table.invariance tr:has([data-about^="hessian"]) [data-cell]').first().click();
  await opens("the check's details", page.locator("#cell-detail [data-about]"));

  await page.setViewportSize({ width: 320, height: 640 });
  await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
  await opens("on a small phone", page.locator("#gauge-swings [data-about]"));
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** Pressed, a measure's name says what the measure is. */
export async function checkNote(page, check, what, name) {
  const note = page.locator("#measure-note");
  const facts = () =>
    note.evaluate((note) => ({
      title: note.querySelector("h3")?.textContent,
      formula: note.querySelector(".formula math")?.getBoundingClientRect().height ?? 0,
      papers: [...note.querySelectorAll(".reference a")].map(({ href }) => href),
      takes: /Takes/.test(note.textContent),
      ...note.getBoundingClientRect().toJSON(),
      wide: innerWidth,
      high: innerHeight,
    }));
  await name.scrollIntoViewIfNeeded();
  await name.click();
  await note.locator(".formula math").first().waitFor();
  const { title, formula, papers, takes, left, right, top, bottom, wide, high } = await facts();
  const isWhole =
    formula > 10 && takes && papers.length > 0 && papers.every((href) => /^https:\/\/doi\.org/.test(href));
  check(`${what}: the name opens definition, formula, paper and cost`, isWhole, `${title}, ${formula} px, ${papers}`);
  check(`${what}: within the window`, left >= 0 && top >= 0 && right <= wide && bottom <= high, `${left} ${top}`);
  await page.keyboard.press("Escape");
  check(`${what}: Escape closes it`, !(await note.isVisible()));
}
