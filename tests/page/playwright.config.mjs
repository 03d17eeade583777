/** How the page is driven: a project a way of computing. */

import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "@playwright/test";
import { chromeArguments, findChrome } from "../../scripts/lib/browser.mjs";

const MINUTE = 60_000;

/**
 * Of each window Chrome has two pages of its own ready under the address line, which take two thirds of what opening the window does and
 * which nobody comes to see here. It takes one list of such features, the last: so Playwright's own are in it too.
 */
const WITHOUT = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "TcpPortRandomizationWin",
  "ThirdPartyStoragePartitioning",
];

/** Chrome as it is installed: none is downloaded. Without a GPU surfaces are drawn by SwiftShader. */
const chrome = (webgpu) => ({
  browserName: "chromium",
  launchOptions: {
    executablePath: process.env.ISOFLAT_CHROME || findChrome(),
    args: [...chromeArguments(webgpu), "--enable-unsafe-swiftshader", `--disable-features=${WITHOUT.join()}`],
  },
});

/**
 * The page as it was at each step of a second try, to be opened and looked into. To write one of every first try takes a seventh of the
 * time or more, and a picture of every moment more than that.
 */
const TRACE = { mode: "on-first-retry", screenshots: false, snapshots: true, sources: true };

const projects = [
  // The page brings its policy itself, as on a plain file server; here the server sends it, so that it holds in workers too.
  { name: "webgpu", testMatch: ["webgpu.spec.mjs", "tuning.spec.mjs"], use: { ...chrome(true), sendsPolicy: true } },
  // Alone, and after the others: what it measures is of a computer that does nothing else.
  { name: "timed", testMatch: "timed.spec.mjs", use: { ...chrome(false), trace: { ...TRACE, snapshots: false } } },
  // Among the first: at the end one long test would leave a core without work.
  { name: "looks", testMatch: ["axe.spec.mjs", "looks.spec.mjs"], use: chrome(false) },
  { name: "cpu", testMatch: ["visits.spec.mjs", "cpu.spec.mjs"], use: chrome(false) },
  { name: "files", testMatch: "files.spec.mjs", use: chrome(false) },
  { name: "threads", testMatch: "threads.spec.mjs", use: chrome(false) },
  { name: "docs", testMatch: "docs.spec.mjs", use: chrome(false) },
];

/** What is run only by name: a browser that may not be there, what takes long, what is made for people to look at. */
const asked = [
  { name: "firefox", testMatch: "firefox.spec.mjs" },
  { name: "large", testMatch: "large.spec.mjs", use: chrome(true), timeout: 60 * MINUTE },
  { name: "pictures", testMatch: "pictures.spec.mjs", use: chrome(false) },
];

const names = process.env.ISOFLAT_PROJECTS?.split(",");
// A run empties its folder first, and should leave another one's traces.
const kept = fileURLToPath(new URL(`../../target/page/${names?.join("-") ?? "all"}/`, import.meta.url));

export default defineConfig({
  testDir: ".",
  outputDir: kept,
  projects: names ? [...projects, ...asked].filter(({ name }) => names.includes(name)) : projects,
  reporter: [["./reporter.mjs"]],
  globalSetup: "./built.mjs",
  // Two pages leave no core without work while one of them waits. Firefox has one at a time, and what is measured the computer for itself.
  workers: names?.some((name) => ["timed", "firefox"].includes(name)) ? 1 : Math.min(2, availableParallelism()),
  fullyParallel: true,
  // A computer that is busy with other things makes two waits meet that never meet otherwise. What holds at the second try only
  // is named at the end, UNSTEADY, and by `npm test` in its summary: it is a fault of the test or of the page all the same.
  retries: 1,
  forbidOnly: true,
  timeout: 10 * MINUTE,
  expect: { timeout: MINUTE },
  snapshotPathTemplate: "{testDir}/looks/{arg}{ext}",
  updateSnapshots: "none",
  use: {
    trace: TRACE,
    screenshot: "only-on-failure",
  },
});
