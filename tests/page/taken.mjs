/** What is taken along by the menus beside charts and tables: which menu is whose, and the files that come of it. */

import { readFileSync } from "node:fs";

/** Smaller ones are signs, digits and their bars. */
const CHART = { width: 150, height: 70 };

/**
 * Every chart and table that is to be seen in a part of the page, with the menu that takes it along: its own, or the nearest that
 * is no other chart's. Pictures of networks on the shelf are no charts: they are what one presses to see the network. Numbers over a
 * surface are the surface's.
 */
export function chartsIn({ page }, part) {
  return page.locator(part).evaluate((root, least) => {
    // As it is laid out: what an element draws is within it, and what it is given stands where the element puts it.
    const parentOf = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;
    const allIn = (root, selector) =>
      [...root.querySelectorAll("*")].flatMap((element) => [
        ...(element.matches(selector) ? [element] : []),
        ...(element.shadowRoot ? allIn(element.shadowRoot, selector) : []),
      ]);
    const holds = (outer, element) => {
      let up = element;
      while (up && up !== outer) up = parentOf(up);
      return up !== null;
    };
    const isSeen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const charts = allIn(root, "svg, canvas, table, .gauges").filter((element) => {
      const { width, height } = element.getBoundingClientRect();
      const isLarge = element.localName === "table" || (width >= least.width && height >= least.height);
      return isLarge && isSeen(element) && !element.closest(".shelved, button, .surface-axes");
    });
    const buttons = allIn(root, "button.take").filter(isSeen);
    const depth = (element) => {
      let up = element;
      while (up !== root && !buttons.some((button) => holds(up, button))) up = parentOf(up);
      let deep = 0;
      for (; up !== root; up = parentOf(up)) deep++;
      return deep;
    };
    const named = (chart) => {
      const [own, around] = [chart, parentOf(chart)].map(
        ({ id, className, localName }) => id || String(className.baseVal ?? className) || localName,
      );
      return `${chart.localName} ${own} in ${around}`;
    };
    const isTaken = new Set();
    for (const button of document.querySelectorAll("[data-chart]")) delete button.dataset.chart;
    // Those whose menu is nearest choose first.
    const order = charts.map((chart) => ({ chart, deep: depth(chart) })).sort((a, b) => b.deep - a.deep);
    return order.map(({ chart }, index) => {
      let button;
      for (let up = chart; up && !button; up = up === root ? null : parentOf(up)) {
        button = buttons.find((one) => holds(up, one) && !isTaken.has(one));
      }
      if (button) {
        isTaken.add(button);
        button.dataset.chart = String(index);
      }
      return { chart: named(chart), take: button ? `[data-chart="${index}"]` : null };
    });
  }, CHART);
}

/** None of what is to be seen there is without a menu; returns them. */
export async function checkMenus(lab, check, part) {
  const charts = await chartsIn(lab, part);
  const without = charts.filter(({ take }) => take === null).map(({ chart }) => chart);
  check(`${part}: each chart and table has its menu`, without.length === 0, without.join("; "));
  return charts.filter(({ take }) => take !== null);
}

export const buttonOf = (page, take) => page.locator(`${take} button.take, button.take${take}`);

/**
 * Null where it is said that there is nothing yet. By the mouse; `again`: once that has been tried, without waiting until the button and
 * the menu stand still for it.
 */
export async function taken({ page }, take, way, { again = false } = {}) {
  const press = (locator) => (again ? locator.evaluate((element) => element.click()) : locator.click());
  await press(buttonOf(page, take));
  // A press is answered at once.
  if (!(await page.locator(".take-menu").isVisible())) {
    await page.getByText("There is nothing to take along yet").waitFor();
    return null;
  }
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    press(page.getByRole("menuitem", { name: way })),
  ]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

/** By the browser's own parser. */
export async function readSvg({ page }, bytes) {
  const text = bytes.toString("utf8");
  const found = await page.evaluate((text) => {
    const { documentElement: root } = new DOMParser().parseFromString(text, "image/svg+xml");
    const fault = root.querySelector("parsererror")?.textContent ?? (root.localName === "svg" ? "" : root.localName);
    const say = (name) => root.querySelector(`:scope > ${name}`)?.textContent ?? "";
    return {
      fault,
      title: say("title"),
      desc: say("desc"),
      width: Number(root.getAttribute("width")),
      height: Number(root.getAttribute("height")),
    };
  }, text);
  return { text, ...found };
}

/** Has a picture more colours than so many? Those that look alike are one. */
export function hasMoreColours({ data }, count) {
  const seen = new Set();
  for (let i = 0; i < data.length && seen.size <= count; i += 4)
    seen.add(((data[i] >> 4) << 8) | ((data[i + 1] >> 4) << 4) | (data[i + 2] >> 4));
  return seen.size > count;
}

/** RFC 4180. */
export function readCsv(bytes) {
  const rows = [[]];
  for (const [, quoted, plain, end] of bytes
    .toString("utf8")
    .matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\r\n") rows.push([]);
    if (end === "") break;
  }
  rows.pop();
  return rows;
}
