/** `isoflat/plots` for bundlers that look for a file of that name and read no `exports`. */
export * from "./pkg/plots/plots.js";
