/** The package, as browsers, Node, Deno, Bun and bundlers take it: its modules are files beside this one. */

import * as sources from "./beside.js";
import { comeFrom } from "./sources.js";

comeFrom(sources);

export * from "./api.js";
export { default } from "./api.js";
