/** Firefox as it is installed, driven by WebDriver BiDi: Playwright's own protocol wants a Firefox of its own, which is not what people have. */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findFirefox } from "../../scripts/lib/browser.mjs";
import { capture, which } from "../../scripts/lib/process.mjs";

const sha256 = (text) => `sha256-${createHash("sha256").update(text).digest("base64")}`;

/**
 * Firefox 140 holds a page's policy against its driver too, 153 no more: such a one gets the page with a policy that lets it evaluate, and
 * the service worker that knows that page by its hash.
 */
export function pageForDriver(folder) {
  const [version] = /\d+/.exec(capture(findFirefox(), "--version") ?? "") ?? [];
  if (Number(version) >= 153) return undefined;
  const [page, worker] = ["index.html", "sw.js"].map((name) => join(folder, name));
  const html = readFileSync(page, "utf8");
  const allowing = html.replace("&#39;wasm-unsafe-eval&#39;", "$& &#39;unsafe-eval&#39;");
  return new Map([
    [page, allowing],
    [worker, readFileSync(worker, "utf8").replace(sha256(html), sha256(allowing))],
  ]);
}

/** Firefox draws no 3D without a display. A virtual one will do, where there is one. */
async function display() {
  if (process.platform !== "linux") return { headless: true, close() {} };
  if (process.env.DISPLAY) return { headless: false, close() {} };
  const xvfb = which("Xvfb");
  if (xvfb === undefined) return { headless: true, close() {} };
  // It takes a free number, and writes it where it is told.
  const child = spawn(xvfb, ["-displayfd", "3", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const number = await new Promise((resolve) => {
    child.stdio[3].once("data", (text) => resolve(`${text}`.trim()));
    child.once("error", () => resolve(undefined));
    child.once("exit", () => resolve(undefined));
  });
  if (number === undefined) return { headless: true, close() {} };
  return { headless: false, name: `:${number}`, close: () => child.kill() };
}

/** What Playwright sends for each browser and context, not every Firefox knows (153 sets no media features, 140 no screen), and nothing here needs. */
const isSpared = (method) => /^emulation\.|^browser\.setDownloadBehavior$|^network\.addDataCollector$/.test(method);

/** Firefox's "unknown command" is no failure where that command can be spared. Playwright sends them on its way to a browser, so this stands before it. */
function spareCommands(playwright) {
  const firefox = playwright.firefox._connection.toImpl(playwright.firefox)._bidiFirefox;
  const { connectToTransport } = Object.getPrototypeOf(firefox);
  firefox.connectToTransport = (transport, ...rest) => {
    const sent = new Set();
    const between = {
      send(message) {
        if (isSpared(message.method)) sent.add(message.id);
        transport.send(message);
      },
      close: () => transport.close(),
      closeAndWait: () => transport.closeAndWait?.(),
    };
    transport.onmessage = (message) => {
      const isUnknown = sent.delete(message.id) && message.error === "unknown command";
      between.onmessage?.(isUnknown ? { id: message.id, type: "success", result: {} } : message);
    };
    transport.onclose = (...reason) => between.onclose?.(...reason);
    return connectToTransport.call(firefox, between, ...rest);
  };
}

export async function launchFirefox(playwright) {
  const screen = await display();
  spareCommands(playwright);
  const browser = await playwright.firefox.launch({
    channel: "moz-firefox",
    executablePath: findFirefox(),
    headless: screen.headless,
    env: { ...process.env, ...(screen.name ? { DISPLAY: screen.name } : {}) },
    firefoxUserPrefs: {
      // What Playwright says of it may have been spared.
      "ui.prefersReducedMotion": 1,
      "webgl.force-enabled": true,
      // On Linux it is off, and an adapter without a GPU is on its blocklist.
      "dom.webgpu.enabled": true,
      "gfx.webgpu.ignore-blocklist": true,
    },
  });
  return {
    browser,
    close: async () => {
      await browser.close();
      screen.close();
    },
  };
}
