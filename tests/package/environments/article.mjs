/** Pages with `isoflat/plots`, beside the package's folder. */

import assert from "node:assert/strict";
import { seen } from "./chrome.mjs";

const head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>An article</title>\n';
export const map = `<script type="importmap">${JSON.stringify({
  imports: { isoflat: "./isoflat/pkg/isoflat.js", "isoflat/plots": "./isoflat/pkg/plots/plots.js" },
})}</script>\n`;

/** Beside the package's folder, where the guide's pages find it. */
export const article = (project, name, body) => project.write({ [`node_modules/${name}`]: head + body });
export const visit = (project, name, work) => seen(project.at("node_modules"), name, work);

/** A picture of a surface comes some frames after its canvas. */
export async function until(what, isSo, seconds = 5) {
  for (let tries = 0; tries < 20 * seconds; tries++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`${what}: not within ${seconds} seconds`);
}
