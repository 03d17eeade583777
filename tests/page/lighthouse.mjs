/**
 * Lighthouse's four scores of the built page in dist/, as on a slow phone and as on a desktop: `node tests/page/lighthouse.mjs`, or
 * `--only desktop`, or `--runs 5` for the medians of so many. No dependency, being larger than most of the others together: npm fetches it when this is run. Reports for people
 * are left in target/lighthouse/. Ends with an error where a score is below 95; how busy the computer is decides about performance.
 */

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromeArguments, findChrome } from "../../scripts/lib/browser.mjs";
import { Failure, fail, list, npmCommand, root, run } from "../../scripts/lib/process.mjs";
import { serve } from "./server.mjs";

/** The last one that runs on every Node.js that isoflat takes. */
const LIGHTHOUSE = "lighthouse@12.2.3";
const LEAST = 95;
const folder = join(root, "target", "lighthouse");
const screens = { phone: [], desktop: ["--preset=desktop"] };

/** Four scores out of a hundred, and what they were taken off for. */
async function measure(screen, address) {
  const [npm, ...first] = npmCommand();
  const report = join(folder, screen);
  const flags = [...chromeArguments(false), "--enable-unsafe-swiftshader"].join(" ");
  const args = [address, "--quiet", "--output=json", "--output=html", `--output-path=${report}`, ...screens[screen]];
  await run(
    npm,
    [...first, "exec", "--yes", `--package=${LIGHTHOUSE}`, "--", "lighthouse", ...args, `--chrome-flags=${flags}`],
    {
      env: { CHROME_PATH: findChrome() },
    },
  );
  const { categories, audits } = JSON.parse(readFileSync(`${report}.report.json`, "utf8"));
  return Object.values(categories).map(({ title, score, auditRefs }) => {
    const faults = auditRefs
      .filter(({ id, weight }) => weight > 0 && audits[id].score !== null && audits[id].score < 0.9)
      .map(({ id }) => `${audits[id].title} ${audits[id].displayValue ?? ""}`.trim());
    return { title, score: Math.round(100 * score), faults };
  });
}

/** Of each score on its own; faults are the last run's. */
async function medians(screen, address, runs) {
  const all = [];
  for (let run = 0; run < runs; run++) all.push(await measure(screen, address));
  return all.at(-1).map((last, index) => {
    const scores = all.map((categories) => categories[index].score).sort((a, b) => a - b);
    return { ...last, score: scores[Math.floor((runs - 1) / 2)], scores };
  });
}

async function main() {
  const { values } = parseArgs({ options: { only: { type: "string" }, runs: { type: "string", default: "1" } } });
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1) throw new Failure(`--runs takes a number from 1 on, and not ${values.runs}`);
  mkdirSync(folder, { recursive: true });
  const server = await serve(join(root, "dist"), {}, { compress: true });
  let below = 0;
  try {
    for (const screen of list(values.only, Object.keys(screens), "screen")) {
      const scores = await medians(screen, server.url, runs);
      console.log(`\n${screen}: target/lighthouse/${screen}.report.html`);
      for (const { title, score, scores: each, faults } of scores) {
        if (score < LEAST) below++;
        const range = each.at(0) < each.at(-1) ? ` (${each.join(", ")})` : "";
        console.log(
          `  ${String(score).padStart(3)}  ${title}${range}${faults.length > 0 ? `: ${faults.join("; ")}` : ""}`,
        );
      }
    }
  } finally {
    server.close();
  }
  if (below > 0) throw new Failure(`${below} scores are below ${LEAST}`);
}

await main().catch(fail);
