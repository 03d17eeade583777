/** `isoflat/plots` where a page, or its browser, has less than others: fewer WebGL contexts, no observers, no styles but in sheets. */

import assert from "node:assert/strict";
import { article, map, until, visit } from "./article.mjs";

const side = "[-1, -0.5, 0, 0.5, 1]";
const bowl = `{ s: ${side}, t: ${side}, loss: ${side}.flatMap((t) => ${side}.map((s) => s * s + 2 * t * t)), center: 0 }`;

const filled = `
  import "isoflat/plots";
  for (const element of document.querySelectorAll("isoflat-landscape")) {
    element.addEventListener("fallback", () => (globalThis.fallbacks = (globalThis.fallbacks ?? 0) + 1));
    element.landscape = ${bowl};
  }`;

/** How many surfaces have nothing to be seen: a context that is taken away leaves a canvas of one colour. */
const lost = (page) =>
  page.evaluate(
    () =>
      [...document.querySelectorAll("isoflat-landscape")].filter(({ shadowRoot }) => {
        const canvas = shadowRoot.querySelector("canvas");
        return canvas?.getContext("webgl2")?.isContextLost();
      }).length,
  );

const MANY = 24;

/** Each is where it was when somebody comes back to it. */
const many = async (project) => {
  const body = `${"<isoflat-landscape></isoflat-landscape>".repeat(MANY)}<script type="module">${filled}</script>`;
  article(project, "many.html", map + body);
  return visit(project, "many.html", async (page) => {
    const elements = page.locator("isoflat-landscape");
    for (let index = 0; index < MANY; index++) {
      await elements.nth(index).scrollIntoViewIfNeeded();
      await elements.nth(index).locator("canvas").waitFor({ timeout: 60_000 });
    }
    await elements.first().scrollIntoViewIfNeeded();
    const isDrawn = () =>
      elements.first().evaluate(({ shadowRoot }) => {
        const canvas = shadowRoot.querySelector("canvas");
        return canvas !== null && !canvas.getContext("webgl2").isContextLost();
      });
    await until("the first, when it is in sight again", isDrawn, 30);
    assert.equal(await page.evaluate(() => globalThis.fallbacks), undefined, "maps in place of surfaces");
    return `${MANY} surfaces, one below the other`;
  });
};

/** More than a browser has contexts for, and all in sight: what it takes away becomes a map. */
const crowded = async (project) => {
  const style = "<style>isoflat-landscape { float: left; width: 140px; --isoflat-height: 90px; }</style>";
  const element = "<isoflat-landscape no-scale></isoflat-landscape>";
  const body = `${style}${element.repeat(MANY)}<script type="module">${filled}</script>`;
  article(project, "crowded.html", map + body);
  return visit(project, "crowded.html", async (page) => {
    await until(
      "surfaces, and maps where there are too many",
      async () => {
        const maps = await page.locator("svg.contour").count();
        const surfaces = await page.locator("isoflat-landscape canvas").count();
        return maps > 0 && maps + surfaces === MANY && (await lost(page)) === 0;
      },
      30,
    );
    const maps = await page.locator("svg.contour").count();
    assert.equal(await page.evaluate(() => globalThis.fallbacks), maps, "a fallback for each map");
    return `${MANY} surfaces in sight, ${maps} of them as maps`;
  });
};

const withoutObservers = async (project) => {
  const bare = "<script>delete window.IntersectionObserver; delete window.ResizeObserver;</script>";
  const ends = "{ top: [{ value: 1, residual: 0, converged: true }], bottom: [], products: 3, converged: true }";
  const body = `${bare}<isoflat-landscape></isoflat-landscape><isoflat-landscape view="contour"></isoflat-landscape>
<isoflat-spectrum></isoflat-spectrum><script type="module">${filled}
  document.querySelector("isoflat-spectrum").eigenvalues = ${ends};</script>`;
  article(project, "bare.html", map + body);
  return visit(project, "bare.html", async (page) => {
    await page.locator("isoflat-landscape canvas").waitFor({ timeout: 60_000 });
    await page.getByRole("img", { name: /^Contour map of the loss: 0 at the weights/ }).waitFor();
    await page.getByRole("img", { name: "Ends of the spectrum: λ up to 1.00", exact: true }).waitFor();
    return "drawn at once where nobody observes";
  });
};

const policy = `<meta http-equiv="Content-Security-Policy" content="style-src 'self'">
<script>
  globalThis.violations = [];
  addEventListener("securitypolicyviolation", ({ violatedDirective, sourceFile }) => violations.push([violatedDirective, sourceFile]));
</script>`;

const strictStyles = async (project) => {
  const cell = (change) => `{ measure: "loss", transformation: 0, before: 1, after: 1, relativeChange: ${change},
    expected: "invariant", verdict: "changed", agrees: false, tolerance: 1e-9, reason: "rounding" }`;
  const table = (change) => `{ transformations: [{ type: "layerwise", lambda: [2, 0.5] }], cells: [${cell(change)}] }`;
  const body = `${policy}<isoflat-invariance></isoflat-invariance><isoflat-invariance></isoflat-invariance>
<isoflat-landscape></isoflat-landscape><isoflat-landscape view="contour"></isoflat-landscape><script type="module">${filled}
  const [one, other] = document.querySelectorAll("isoflat-invariance");
  one.table = ${table("1e-16")};
  other.table = ${table("1e3")};</script>`;
  article(project, "policy.html", map + body);
  return visit(project, "policy.html", async (page) => {
    await page.locator("isoflat-landscape").nth(1).scrollIntoViewIfNeeded();
    await page.locator("isoflat-landscape canvas").waitFor({ timeout: 60_000 });
    await page.getByRole("img", { name: /^Contour map/ }).waitFor();
    const cells = page.locator("isoflat-invariance [data-cell]");
    await cells.nth(1).waitFor();
    const grounds = await cells.evaluateAll((all) => all.map((cell) => getComputedStyle(cell).backgroundColor));
    assert.notEqual(grounds[0], grounds[1], "cells that have moved far and not at all have one colour");
    const ramp = page.locator("isoflat-landscape .loss-scale .colours").first();
    assert.match(await ramp.evaluate((one) => getComputedStyle(one).backgroundImage), /^linear-gradient/);
    assert.deepEqual(await page.evaluate(() => globalThis.violations), []);
    return "colours where a page allows no styles but in sheets of its own";
  });
};

/** What screen readers say is true of what is given. */
const sentences = async (project) => {
  const body = `<style>isoflat-landscape { --isoflat-height: 180px; }</style><isoflat-landscape></isoflat-landscape>
<isoflat-landscape view="contour"></isoflat-landscape><isoflat-landscape view="contour"></isoflat-landscape><isoflat-invariance></isoflat-invariance><script type="module">
  import "isoflat/plots";
  const [surface, flat, deep] = document.querySelectorAll("isoflat-landscape");
  const { center, ...bowl } = ${bowl};
  surface.landscape = bowl;
  flat.landscape = { ...bowl, loss: bowl.loss.map(() => 1), path: { s: [0, 0.5], t: [0, 0.5] } };
  deep.landscape = { ...bowl, loss: bowl.loss.map((loss) => loss - 5), center: -5 };
  const cell = { measure: "loss", transformation: 0, before: NaN, after: 1, relativeChange: NaN, expected: "invariant",
    verdict: "unresolved", agrees: true, tolerance: 1e-9, reason: "no number" };
  const table = { transformations: [{ type: "layerwise", lambda: [2, 0.5] }], cells: [cell] };
  document.querySelector("isoflat-invariance").table = JSON.parse(JSON.stringify(table));
</script>`;
  article(project, "sentences.html", map + body);
  return visit(project, "sentences.html", async (page) => {
    const img = (name) => page.getByRole("img", { name }).first().waitFor({ timeout: 60_000 });
    await page
      .getByRole("application", { name: /^Loss surface: lowest 0 \(ring\)\. Arrow/ })
      .waitFor({ timeout: 60_000 });
    await img(/^Scale of colours and heights: loss 0 to 3/);
    await img(/^Contour map of the loss: lowest 1\.00, highest 1\.00; the way/);
    // There is no logarithm of 1 + loss.
    await img(/^Contour map of the loss: −5\.00 at the weights, lowest −5\.00, highest −2\.00; level lines at −4\./);
    await page.getByRole("button", { name: "unresolved, relative change not a number, should stand still" }).waitFor();
    return "sentences that are true of what there is";
  });
};

export const limits = [
  ["isoflat/plots, many surfaces", many],
  ["isoflat/plots, more surfaces in sight than contexts", crowded],
  ["isoflat/plots, without observers", withoutObservers],
  ["isoflat/plots, a strict style-src", strictStyles],
  ["isoflat/plots, what is said", sentences],
];
