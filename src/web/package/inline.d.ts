export * from "./isoflat.js";
export { default } from "./isoflat.js";
