/**
 * Checks what isoflat is built with and installs what is missing. Run alone: `node scripts/setup.mjs [--tests]`.
 * With everything there it takes under two seconds.
 */

import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkPair, findChrome, findDriver, findFirefox, hasVulkan, installDebian, noFirefox } from "./lib/browser.mjs";
import { hasMpi, mpiPackages, noMpi } from "./lib/mpi.mjs";
import { capture, environment, Failure, fail, isMain, npmCommand, root, run, step, which } from "./lib/process.mjs";
import { checkRoom } from "./lib/room.mjs";

const read = (file) => readFileSync(join(root, file), "utf8");

/** Is version a (1.95.0) at least b (1.95)? */
function atLeast(a, b) {
  const [left, right] = [a, b].map((text) => text.split(".").map(Number));
  for (let i = 0; i < right.length; i++) {
    if ((left[i] ?? 0) !== right[i]) return (left[i] ?? 0) > right[i];
  }
  return true;
}

function checkNode() {
  const found = process.versions.node;
  const ranges = JSON.parse(read("package.json")).engines.node.split(" || ");
  // `^20.19` is that line alone, `>=22.12` all that came later.
  const fits = (range) => {
    const least = range.replace(/^\D+/, "");
    return atLeast(found, least) && (!range.startsWith("^") || found.split(".")[0] === least.split(".")[0]);
  };
  if (!ranges.some(fits)) {
    throw new Failure(`Node.js ${found} is too old: ${ranges.join(" or ")} is needed.`);
  }
  return process.versions.node;
}

async function checkRust(say) {
  const needed = /^rust-version = "(.+)"/m.exec(read("Cargo.toml"))[1];
  if (which("cargo") === undefined || which("rustc") === undefined) {
    throw new Failure(
      `Rust was not found: cargo and rustc are on neither PATH nor ~/.cargo/bin. Install Rust ${needed} or newer with ` +
        "rustup, as its home page says, then run this command again.",
    );
  }
  const version = () => /^rustc (\d+\.\d+\.\d+)/.exec(capture("rustc", "--version") ?? "")?.[1];
  if (version() === undefined && which("rustup") !== undefined) {
    // rustup does so by itself, unless it is told not to.
    const pinned = /^channel = "(.+)"/m.exec(read("rust-toolchain.toml"))[1];
    say(`installing the toolchain ${pinned} with rustup`);
    try {
      await run("rustup", ["toolchain", "install", pinned, "--profile", "minimal"]);
    } catch (error) {
      // Without a network the one that is there will do, if it is new enough.
      environment.RUSTUP_TOOLCHAIN = "stable";
      if (!atLeast(version() ?? "0", needed)) throw error;
      say(`${pinned} cannot be had; going on with the installed Rust ${version()}`);
    }
  }
  const found = version();
  if (found === undefined) throw new Failure("`rustc --version` fails: this Rust installation is damaged.");
  if (!atLeast(found, needed)) {
    throw new Failure(
      `Rust ${found} is too old: ${needed} or newer is needed. Install Rust with rustup, which takes the version that ` +
        "rust-toolchain.toml names.",
    );
  }
  if (process.platform !== "win32" && which("cc", "clang", "gcc") === undefined) {
    throw new Failure(
      "No C compiler was found, and Rust links with it. Install one: `build-essential` on Debian and Ubuntu, " +
        "`xcode-select --install` on macOS.",
    );
  }
  return found;
}

async function checkTarget(say) {
  const target = "wasm32-unknown-unknown";
  const present = () => existsSync(join(capture("rustc", "--print", "sysroot"), "lib", "rustlib", target, "lib"));
  if (present()) return "there";
  if (which("rustup") === undefined) {
    throw new Failure(`This Rust has no ${target} target and no rustup to add it: install Rust with rustup.`);
  }
  say("adding it with rustup");
  await run("rustup", ["target", "add", target]);
  return "added";
}

/** rustfmt and clippy, which a minimal toolchain lacks. */
async function checkLints(say) {
  const missing = ["rustfmt", "clippy"].filter(
    (tool) => capture("cargo", tool === "rustfmt" ? "fmt" : tool, "--version") === undefined,
  );
  if (missing.length === 0) return "there";
  if (which("rustup") === undefined) throw new Failure(`cargo has no ${missing.join(" and ")}: install them.`);
  say(`adding ${missing.join(" and ")} with rustup`);
  await run("rustup", ["component", "add", ...missing]);
  return "added";
}

async function checkWasmPack(say) {
  const version = () => capture("wasm-pack", "--version")?.split(" ")[1];
  if (version() === undefined) {
    say("installing it with cargo (about a minute)");
    // It only starts others: unoptimised it is there in less than half the time.
    await run("cargo", ["install", "--force", "--debug", "wasm-pack"], { env: { CARGO_PROFILE_DEV_DEBUG: "0" } });
  }
  return version() ?? "installed, but it does not run";
}

/** The command must be of exactly the library's version: the two share a format that is not stable. */
async function checkWasmBindgen(say) {
  const needed = /name = "wasm-bindgen"\r?\nversion = "(.+)"/.exec(read("Cargo.lock"))[1];
  const version = () => capture("wasm-bindgen", "--version")?.split(" ")[1];
  if (version() === needed) return needed;
  say(`installing wasm-bindgen-cli ${needed} with cargo (two minutes)`);
  // Another project may need the version that is there: then ours goes into this folder, which is searched first.
  const where = version() === undefined ? [] : ["--root", ".tools"];
  // --force: cargo may have it on its list though its file is gone, and would then install nothing.
  // Not --locked: the lock file it was published with names a crate that can no longer be had.
  // A fifth of the time less to compile it, and it makes a module in the same second.
  const env = { CARGO_PROFILE_RELEASE_OPT_LEVEL: "1" };
  await run("cargo", ["install", "--force", "wasm-bindgen-cli", "--version", needed, ...where], { env });
  if (version() !== needed) {
    throw new Failure(
      `wasm-bindgen is ${version() ?? "missing"} after installing ${needed}: look for another on PATH.`,
    );
  }
  return needed;
}

async function checkPackages(say) {
  const stamp = join(root, "node_modules", ".isoflat-lock");
  const lock = createHash("sha256").update(read("package-lock.json")).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return "as package-lock.json has them";
  say("installing them with npm ci");
  const [command, ...args] = npmCommand();
  await run(command, [...args, "ci", "--no-audit", "--no-fund"]);
  writeFileSync(stamp, lock);
  return "installed";
}

async function checkBrowser(say) {
  if (findChrome() === undefined || findDriver() === undefined) {
    const [chrome, driver] = [findChrome(), findDriver()].map((found) => found ?? "not found");
    await installDebian(
      ["chromium", "chromium-driver"],
      `The tests run in Chrome (${chrome}) through chromedriver (${driver}). Install Google Chrome or Chromium and the ` +
        "chromedriver of the same version; if they are in unusual places, name them in CHROME and CHROMEDRIVER.",
      say,
    );
  }
  return checkPair(findChrome(), findDriver());
}

/** The page is tried in Firefox too, which draws surfaces where it has a display. Where there is none to be had the rest goes on, and the summary says so. */
async function checkFirefox(say) {
  if (findFirefox() === undefined) {
    try {
      await installDebian(["firefox-esr", "xvfb"], noFirefox, say);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return `${error.message}; its tests are skipped`;
    }
  }
  return findFirefox() ?? `${noFirefox}; its tests are skipped`;
}

async function checkVulkan(say) {
  if (hasVulkan()) return "there";
  await installDebian(
    ["mesa-vulkan-drivers", "libvulkan1"],
    "The GPU tests need a Vulkan driver; a software one will do. Install Mesa's (`mesa-vulkan-drivers` and `libvulkan1` " +
      "on Debian and Ubuntu).",
    say,
  );
  return "installed";
}

/** The program on many machines is tried with MPI. Where there is none to be had the rest goes on, and the summary says so. */
async function checkMpi(say) {
  if (hasMpi()) return "there";
  try {
    await installDebian(mpiPackages, noMpi, say);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `${error.message}; its tests are skipped`;
  }
  return "installed";
}

/** Everything `npm start` needs; with `tests` what `npm test` needs besides. */
export async function setUp({ tests = false } = {}) {
  await step("Node.js", checkNode);
  await step("Disk", () => checkRoom({ tests }));
  await step("Rust", checkRust);
  await step("Rust's wasm32 target", checkTarget);
  if (tests) await step("rustfmt and clippy", checkLints);
  await step("wasm-bindgen", checkWasmBindgen);
  await step("npm packages", checkPackages);
  if (tests) {
    await step("wasm-pack", checkWasmPack);
    await step("Chrome and chromedriver", checkBrowser);
    await step("Firefox", checkFirefox);
    await step("Vulkan", checkVulkan);
    await step("MPI", checkMpi);
  }
}

if (isMain(import.meta)) await setUp({ tests: process.argv.includes("--tests") }).catch(fail);
