/** One of isoflat's WebAssembly modules, where a tool imports such files as modules. */
declare const module: WebAssembly.Module;
export default module;
