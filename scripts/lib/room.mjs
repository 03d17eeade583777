/** Room on the disk: a compiler that runs out of it says so in the middle of its work, once for every step that is left. */

import { existsSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Failure, root } from "./process.mjs";

const GB = 1e9;

/** What a fresh clone takes on Linux, most of it in target/, and a little over: 1.7 GB to start, 5.6 GB to test. */
const WHOLE = { start: 2.5 * GB, tests: 7 * GB };
/** What is built already is built over in place, as far as anybody can tell without building. */
const AGAIN = { start: 0.5 * GB, tests: 1.5 * GB };

const shown = (bytes) => (bytes < GB ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / GB).toFixed(1)} GB`);

/** What is to be said of so many free bytes: a sentence, or a failure that says how many are needed. */
export function room(free, isBuilt, { tests = false } = {}) {
  const wanted = (isBuilt ? AGAIN : WHOLE)[tests ? "tests" : "start"];
  if (free >= wanted) return `${shown(free)} free`;
  throw new Failure(
    `there are ${shown(free)} free on the disk, and building${tests ? " and testing" : ""} takes up to ${shown(wanted)}. ` +
      "Make room, or name a folder on another disk in CARGO_TARGET_DIR, which most of it goes into.",
  );
}

export function checkRoom(options) {
  const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
  const isBuilt = existsSync(target);
  // A folder that is still to be made is on the disk of the nearest one that there is.
  let folder = target;
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  return room(bavail * bsize, isBuilt, options);
}
