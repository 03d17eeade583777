/** The package in JavaScript alone: its modules are texts in it. Nothing is fetched, and nothing is imported while it runs. */

import * as files from "./isoflat_files_text.js";
import * as relaxed from "./isoflat_relaxed_text.js";
import * as plain from "./isoflat_text.js";
import { carried } from "./load.js";
import { hasRelaxedSimd } from "./simd.js";
import { comeFrom } from "./sources.js";

comeFrom({
  whole: () => carried(hasRelaxedSimd() ? relaxed : plain),
  files: () => carried(files),
});

export * from "./api.js";
export { default } from "./api.js";
