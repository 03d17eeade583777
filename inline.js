/** `isoflat/inline` for bundlers that look for a file of that name and read no `exports`. */
export { default } from "./pkg/inline.js";
export * from "./pkg/inline.js";
