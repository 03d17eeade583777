/** Chrome, its driver, Firefox and a Vulkan driver: what the tests need and `npm start` does not. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { capture, Failure, isWindows, run, which } from "./process.mjs";

const programFiles = [process.env.PROGRAMFILES, process.env["PROGRAMFILES(X86)"], process.env.LOCALAPPDATA];

const usualChromes = {
  darwin: [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
  ],
  win32: programFiles.filter(Boolean).map((folder) => join(folder, "Google", "Chrome", "Application", "chrome.exe")),
  linux: ["/opt/google/chrome/chrome", "/snap/bin/chromium"],
};

const usualDrivers = {
  darwin: ["/opt/homebrew/bin/chromedriver", "/usr/local/bin/chromedriver"],
  win32: programFiles.filter(Boolean).map((folder) => join(folder, "ChromeDriver", "chromedriver.exe")),
  linux: [
    "/usr/lib/chromium/chromedriver",
    "/usr/lib/chromium-browser/chromedriver",
    "/snap/bin/chromium.chromedriver",
  ],
};

/** What was named in the environment must be there; a quiet fall back to another browser would mislead. */
function named(variable) {
  const value = process.env[variable];
  if (value === undefined || value === "") return undefined;
  const found = which(value);
  if (found === undefined) throw new Failure(`${variable} is ${value}, but there is no such program.`);
  return found;
}

export const findChrome = () =>
  named("CHROME") ??
  which(
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    ...(usualChromes[process.platform] ?? []),
  );

export const findDriver = () =>
  named("CHROMEDRIVER") ?? which("chromedriver", ...(usualDrivers[process.platform] ?? []));

const usualFirefoxes = {
  darwin: ["/Applications/Firefox.app/Contents/MacOS/firefox"],
  win32: programFiles.filter(Boolean).map((folder) => join(folder, "Mozilla Firefox", "firefox.exe")),
  linux: ["/usr/lib/firefox-esr/firefox-esr", "/snap/bin/firefox"],
};

export const findFirefox = () =>
  named("FIREFOX") ?? which("firefox-esr", "firefox", ...(usualFirefoxes[process.platform] ?? []));

export const noFirefox = "Firefox was not found: install it, or name it in FIREFOX";

/** Is there any Vulkan driver? Linux only: macOS and Windows bring Metal and DX12 (WARP) with them. */
export function hasVulkan() {
  if (process.platform !== "linux" || process.env.VK_DRIVER_FILES || process.env.VK_ICD_FILENAMES) return true;
  return ["/usr/share", "/usr/local/share", "/etc"]
    .map((folder) => join(folder, "vulkan", "icd.d"))
    .some((folder) => existsSync(folder) && readdirSync(folder).some((file) => file.endsWith(".json")));
}

function isDebian() {
  try {
    return /^ID(_LIKE)?=.*\bdebian\b/m.test(readFileSync("/etc/os-release", "utf8"));
  } catch {
    return false;
  }
}

/** Ubuntu's chromium is a wrapper around a snap, which does not run in a container. */
const isUbuntu = () => /^ID=ubuntu/m.test(readFileSync("/etc/os-release", "utf8"));

/** Installs Debian packages where this script may; otherwise the sentence says what is missing. */
export async function installDebian(packages, missing, say) {
  if (process.getuid?.() === 0 && isDebian() && !isUbuntu()) {
    say(`installing ${packages.join(", ")} with apt-get`);
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    await run("apt-get", ["update", "-qq"], { env });
    await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], { env });
    return;
  }
  throw new Failure(missing);
}

const majorVersion = (text) => /(\d+)\.\d+\.\d+/.exec(text ?? "")?.[1];

/** A driver drives its own major version of Chrome only, and says so in a way that is hard to read. */
export function checkPair(chrome, driver) {
  if (isWindows) return "found"; // chrome.exe opens a window instead of printing its version
  const versions = [chrome, driver].map((program) => majorVersion(capture(program, "--version")));
  if (versions[0] === undefined) throw new Failure(`${chrome} does not run (\`--version\` fails).`);
  if (versions[1] === undefined) throw new Failure(`${driver} does not run (\`--version\` fails).`);
  if (versions[0] !== versions[1]) {
    throw new Failure(
      `${chrome} is version ${versions[0]} but ${driver} is version ${versions[1]}: they must be the same. ` +
        "Name a matching pair in the variables CHROME and CHROMEDRIVER.",
    );
  }
  return `${chrome}, version ${versions[0]}`;
}

const commonFlags = [
  "--headless=new",
  "--disable-background-networking",
  "--disable-dev-shm-usage", // containers often have 64 MB there, too little for a GPU process
  // Chrome refuses to run as root with its sandbox, and CI containers seldom allow one. It opens our own pages only.
  ...(process.getuid?.() === 0 || process.env.CI ? ["--no-sandbox"] : []),
];

/**
 * With: a software adapter (SwiftShader) counts too, which Chrome offers only on being asked. Without: no hardware, and
 * not asked, so that `requestAdapter` gives null. (Chrome 156 takes no notice of `--disable-features=WebGPU`.)
 */
const webgpuFlags = { true: ["--enable-unsafe-webgpu"], false: ["--disable-gpu"] };

/** What Chrome is started with, by whoever starts it. */
export const chromeArguments = (webgpu) => [...commonFlags, ...webgpuFlags[webgpu]];

/** What chromedriver is told: the browser found, with WebGPU or without. */
export const driverCapabilities = (chrome, webgpu) => ({
  "goog:chromeOptions": { binary: chrome, args: chromeArguments(webgpu) },
});
