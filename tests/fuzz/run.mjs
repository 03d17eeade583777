/**
 * The fuzzer. How it is made:
 *
 * - `kinds/` has a file a kind of case. A case is plain JSON, drawn from a seed (`random.mjs`); what JSON does not know, from NaN to
 *   a revoked Proxy, is spelt as `values.mjs` says. `grammar.mjs` and `api.mjs` know every method's options and which are wrong;
 *   `mutate.mjs` changes files; `reference.mjs` computes what must come out, without a line of what it checks.
 * - `oracle.mjs` says what a call owes its caller. `call.mjs` makes one call and judges it, `interpret.mjs` runs a list of them, with a
 *   `canary.mjs` after each case: a known gradient on the same engine and on a fresh one.
 * - Cases run in processes of their own (`processes.mjs`; `child.mjs` in Node, `native.mjs` and `native/` for the crate on the CPU and on a
 *   software GPU, `chrome.mjs` and `page/` in a browser) under limits of time and memory. One that dies is a finding.
 * - `minimize.mjs` makes failing cases smaller, `findings.mjs` writes them to target/fuzz/, one for each kind of failure.
 *
 * `npm run fuzz -- --help` shows how it is run.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, seconds } from "../../scripts/lib/process.mjs";
import { ChromeProcess, closeChrome } from "./chrome.mjs";
import { Findings } from "./findings.mjs";
import { useGolden } from "./kinds/files.mjs";
import { caseOf, kinds } from "./kinds.mjs";
import { minimize } from "./minimize.mjs";
import { NativeProcess } from "./native.mjs";
import { signature } from "./oracle.mjs";
import { NodeProcess } from "./processes.mjs";

export const targets = {
  wasm: () => NodeProcess.start(root),
  cpu: () => NativeProcess.start("cpu"),
  gpu: () => NativeProcess.start("gpu"),
  chrome: () => ChromeProcess.start(),
};

/** Cases of one kind in a row, before the next kind has its turn. */
const ROW = { files: 60, options: 40, hostile: 40, extremes: 30, invariance: 20, stopping: 4, faults: 4 };
/** A kind that is slow, or fails slowly, gives its turn away after this, in milliseconds. */
const TURN = 6000;
/** For making one case smaller, and for all of them: a share of the run. */
const SMALLER = { tries: 60, milliseconds: 5000, share: 0.3 };
/** Cases that stay as they are: what takes too long to try again and again, and what is wrong to accept only as it stands. */
const kept = new Set(["hang", "never-settled", "memory", "growth", "accepted"]);

function loadGolden() {
  const folder = join(root, "tests", "golden");
  useGolden(readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8"))));
}

/** A target's process, made anew when it has ended. */
class Runner {
  constructor(target) {
    this.target = target;
  }

  async run(test) {
    if (this.process === undefined || this.process.isOver) this.process = await targets[this.target]();
    return this.process.run(test);
  }

  end() {
    this.process?.end();
  }
}

const keyOf = (target, test, fault) => `${target} | ${signature({ kind: test.kind, ...fault })}`;

/** The smallest case with the same failure that a little time finds. */
function smaller(runner, test, key, limits) {
  return minimize(
    test,
    async (candidate) =>
      (await runner.run(candidate)).faults.some((fault) => keyOf(runner.target, candidate, fault) === key),
    limits,
  );
}

/** Runs cases of these kinds on these targets until the time is over. Resolves with counts and findings. */
export async function fuzz({ minutes, seed, chosen, only, quiet = false }) {
  loadGolden();
  const [begin, findings, counts] = [performance.now(), new Findings(), new Map()];
  const until = begin + 60_000 * minutes;
  const runners = chosen.map((target) => new Runner(target));
  const turns = runners.flatMap((runner) =>
    Object.values(kinds)
      .filter((kind) => kind.targets.includes(runner.target) && (only === undefined || only.includes(kind.name)))
      .map((kind) => ({ runner, kind, next: 0 })),
  );
  let spent = 0;
  const gaps = { longest: 0, late: 0 };
  if (turns.length === 0) return { findings, counts, gaps };
  for (let turn = 0; performance.now() < until; turn++) {
    const { runner, kind } = turns[turn % turns.length];
    const count = counts.get(`${runner.target} ${kind.name}`) ?? {
      target: runner.target,
      kind: kind.name,
      cases: 0,
      calls: 0,
      ms: 0,
    };
    counts.set(`${runner.target} ${kind.name}`, count);
    const end = Math.min(until, performance.now() + TURN);
    for (let row = 0; row < ROW[kind.name] && performance.now() < end; row++) {
      const index = turns[turn % turns.length].next++;
      const test = caseOf(kind.name, runner.target, seed, index);
      const found = await runner.run(test);
      count.cases++;
      count.calls += found.calls ?? 1;
      count.ms += found.ms;
      count.cells = (count.cells ?? 0) + (found.cells ?? 0);
      gaps.longest = Math.max(gaps.longest, found.gap ?? 0);
      gaps.late = Math.max(gaps.late, found.late ?? 0);
      for (const fresh of findings.fresh(runner.target, test, found.faults)) {
        let least = test;
        const command = findings.write(fresh, runner.target, test, { seed, index });
        if (!quiet) console.log(`✗ ${fresh.key}\n  ${fresh.fault.detail ?? ""}\n  ${command}`);
        const start = performance.now();
        if (!kept.has(fresh.fault.failure) && spent < SMALLER.share * (start - begin)) {
          least = await smaller(runner, test, fresh.key, SMALLER);
          findings.write(fresh, runner.target, least, { seed, index });
        }
        spent += performance.now() - start;
      }
    }
  }
  for (const runner of runners) runner.end();
  await closeChrome();
  return { findings, counts, gaps };
}

/** Runs one case of a file again, tells `say` what fails, and makes it smaller. */
export async function again(file, say) {
  loadGolden();
  const { target, test, key } = JSON.parse(readFileSync(file, "utf8"));
  const runner = new Runner(target);
  const { faults, ms } = await runner.run(test);
  const same = faults.find((fault) => keyOf(target, test, fault) === key) ?? faults[0];
  say(faults, ms);
  let least = test;
  if (same !== undefined && !kept.has(same.failure))
    least = await smaller(runner, test, keyOf(target, test, same), { tries: 400, milliseconds: 30_000 });
  runner.end();
  await closeChrome();
  return { faults, least };
}

/** A table of what was tried. */
export function report({ findings, counts, gaps }, milliseconds) {
  const rows = [...counts.values()].map(({ target, kind, cases, calls, cells, ms }) => [
    target,
    kind,
    `${cases} cases`,
    cells > 0 ? `${cells} cells` : `${calls} calls`,
    seconds(ms),
  ]);
  for (const row of rows) console.log(row.map((text, i) => (i < 2 ? text.padEnd(12) : text.padStart(14))).join(" "));
  const total = (key) => [...counts.values()].reduce((sum, count) => sum + count[key], 0);
  if (gaps.longest > 0)
    console.log(
      `the event loop was held for ${gaps.longest.toFixed(0)} ms at most, a stop was heard after ${gaps.late.toFixed(0)} ms at most`,
    );
  console.log(
    `${total("cases")} cases, ${total("calls")} calls in ${seconds(milliseconds)}: ${findings.size === 0 ? "nothing found" : `${findings.size} kinds of failure`}`,
  );
  for (const { key, times } of findings.list()) console.log(`${`${times}`.padStart(6)} × ${key}`);
}
