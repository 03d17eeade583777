/** The package in Chrome, with WebGPU on SwiftShader and with threads: a page that runs the same cases. */

import { chromeArguments, findChrome } from "../../scripts/lib/browser.mjs";
import { Failure, root } from "../../scripts/lib/process.mjs";
import { serve } from "../page/server.mjs";
import { Process } from "./processes.mjs";

/** Threads need memory that no other origin sees. */
const ISOLATED = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

let shared;

async function open() {
  const executablePath = findChrome();
  if (executablePath === undefined) throw new Failure("the target chrome needs Chrome or Chromium");
  // Not at the top: `npm test` reads this file before it has installed anything.
  const { chromium } = await import("@playwright/test");
  const browser = await chromium.launch({
    executablePath,
    args: [...chromeArguments(true), "--enable-unsafe-swiftshader"],
  });
  const server = await serve(root.replace(/\/$/, ""), ISOLATED);
  return { browser, server };
}

export class ChromeProcess extends Process {
  static async start() {
    shared ??= await open();
    const started = new ChromeProcess();
    const page = await shared.browser.newPage();
    started.page = page;
    page.on("console", (message) => started.keep(`${message.text()}\n`));
    // Nothing may escape into the page either, but for what a case throws itself.
    page.on("pageerror", (error) =>
      started.escaped.push({ failure: "uncaught", detail: `${error.name}: ${error.message}`, where: "" }),
    );
    started.died = new Promise((resolve) => {
      page.on("crash", () => resolve({ ended: "died", how: "the page crashed" }));
    });
    started.escaped = [];
    await page.goto(`${shared.server.url}tests/fuzz/page/`);
    await page.waitForFunction(() => window.run !== undefined);
    return started;
  }

  async ask(test) {
    this.escaped.length = 0;
    try {
      const found = await this.page.evaluate((test) => window.run(test), test);
      found.faults.push(...this.escaped);
      return found;
    } catch (error) {
      if (/Target|closed|crash/i.test(error.message)) return { ended: "died", how: error.message.split("\n")[0] };
      return { faults: [{ failure: "harness", detail: `${error.stack}`, where: "harness" }], calls: 0 };
    }
  }

  end() {
    this.isOver = true;
    // A page that hangs does not close by itself; the browser ends it.
    void this.page.close({ runBeforeUnload: false }).catch(() => {});
  }
}

export async function closeChrome() {
  await shared?.browser.close();
  shared?.server.close();
  shared = undefined;
}
