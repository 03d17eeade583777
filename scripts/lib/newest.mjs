/** When the newest of the files below was changed. */

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Folders count too, since deleting a file changes only them; what is not there, or among `except`, does not. */
export function newest(path, except = []) {
  if (!existsSync(path) || except.includes(path)) return 0;
  const state = statSync(path);
  if (!state.isDirectory()) return state.mtimeMs;
  return Math.max(state.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name), except)));
}
