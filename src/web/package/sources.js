/** Where the WebAssembly modules come from: every entry of the package says so for its surroundings, before anything is called. */

let sources;

/** `{ whole, files }`: functions that give a module's bytes, a response of them, or the module. */
export function comeFrom(given) {
  sources = given;
}

/** A module of that name as `init` of its glue takes it. */
export const sourceOf = async (name) => sources[name]();
