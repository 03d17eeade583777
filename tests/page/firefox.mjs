/** Firefox as it is installed, driven by WebDriver BiDi: Playwright's own protocol wants a Firefox of its own, which is not what people have. */

import { spawn } from "node:child_process";
import { findFirefox } from "../../scripts/lib/browser.mjs";
import { which } from "../../scripts/lib/process.mjs";

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

/**
 * Firefox 153 does not know the command by which media features are set. A context is made with one all the same, so it is left out;
 * reduced motion is a preference here.
 */
function withoutMediaFeatures(browser) {
  const session = browser._connection.toImpl(browser)._browserSession;
  const prototype = Object.getPrototypeOf(session);
  const { send } = prototype;
  prototype.send = function (method, ...rest) {
    return method === "emulation.setMediaFeaturesOverride" ? Promise.resolve({}) : send.call(this, method, ...rest);
  };
}

export async function launchFirefox(playwright) {
  const screen = await display();
  const browser = await playwright.firefox.launch({
    channel: "moz-firefox",
    executablePath: findFirefox(),
    headless: screen.headless,
    env: { ...process.env, ...(screen.name ? { DISPLAY: screen.name } : {}) },
    firefoxUserPrefs: {
      "ui.prefersReducedMotion": 1,
      "webgl.force-enabled": true,
      // On Linux it is off, and an adapter without a GPU is on its blocklist.
      "dom.webgpu.enabled": true,
      "gfx.webgpu.ignore-blocklist": true,
    },
  });
  withoutMediaFeatures(browser);
  return {
    browser,
    close: async () => {
      await browser.close();
      screen.close();
    },
  };
}
