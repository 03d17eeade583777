/**
 * `npm start`: sets up, builds, serves the page on this computer and opens it.
 * `npm start -- --no-open --port 5000`.
 *
 * It serves the built page, not Vite's development server: one bundle loads at once, where the development server would
 * hand over hundreds of modules one by one, and what is seen is what is shipped.
 */

import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildSite, buildWasm, staleOf } from "./build.mjs";
import { Failure, fail, isWindows, root, which } from "./lib/process.mjs";
import { buildMnist } from "./mnist.mjs";
import { setUp } from "./setup.mjs";

function options() {
  const { values } = parseArgs({ options: { "no-open": { type: "boolean" }, port: { type: "string" } } });
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65536)) {
    throw new Failure(`--port takes a number from 1 to 65535, not ${values.port}.`);
  }
  return { open: !values["no-open"], port };
}

/** Opens the address where a person is likely to see it; says nothing when that fails, since the address is printed. */
function openBrowser(address) {
  if (process.env.CI) return;
  const { DISPLAY, WAYLAND_DISPLAY, COMSPEC } = process.env;
  if (process.platform === "linux" && !DISPLAY && !WAYLAND_DISPLAY) return;
  let command = [which("xdg-open"), address];
  if (process.platform === "darwin") command = ["open", address];
  if (isWindows) command = [COMSPEC ?? "cmd.exe", "/c", "start", "", address];
  if (command[0] === undefined) return;
  spawn(command[0], command.slice(1), { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
}

async function start() {
  const { open, port } = options();
  await setUp();
  // What the lab cannot do without.
  await buildWasm(["files", "whole"]);
  await buildMnist();
  await buildSite();

  // Vite is there only now.
  const { preview } = await import("vite");
  const server = await preview({
    configFile: join(root, "www", "vite.config.ts"),
    // 4173 is where Vite looks first; without --port it goes on until it finds a free one.
    preview: { host: "localhost", port: port ?? 4173, strictPort: port !== undefined, open: false },
  }).catch((error) => {
    throw new Failure(`The page could not be served${port === undefined ? "" : ` on port ${port}`}: ${error.message}.`);
  });
  const address = server.resolvedUrls.local[0];
  console.log(`\nThe lab is at ${address}, its guides and the package's reference at ${address}docs/\nCtrl-C ends it.`);
  if (open) openBrowser(address);

  for (const signal of ["SIGINT", "SIGTERM"]) {
    // Open connections of a page would keep the process alive.
    process.once(signal, () => {
      console.log("\nEnded.");
      process.exit(0);
    });
  }
  if (staleOf(["relaxed"]).length > 0) await buildFaster();
}

/** The module with relaxed SIMD, while the lab is in use: beside it, not in its way. */
async function buildFaster() {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  try {
    await buildWasm(["relaxed"]);
    console.log("From the next start on the lab computes with relaxed SIMD.");
  } catch (error) {
    console.error(`The module with relaxed SIMD could not be built: ${error.message}. The lab runs without it.`);
  }
}

await start().catch(fail);
