/** What cases run against: the module, engines that are kept from case to case, the module's memory. In Node and in a page. */

import { computeInPackage, parseInPackage } from "./compute.mjs";
import { interpret } from "./interpret.mjs";
import { kinds } from "./kinds.mjs";
import { decode } from "./values.mjs";

/** Sees to it that the module's memory can be looked at, whatever `init` hands over. Before `init`. */
export function watchMemory() {
  const watched = { memory: undefined };
  const keep = (instance) => {
    const memory = Object.values(instance.exports).find((value) => value instanceof WebAssembly.Memory);
    if (memory !== undefined) watched.memory = memory;
  };
  for (const name of ["instantiate", "instantiateStreaming"]) {
    const original = WebAssembly[name];
    WebAssembly[name] = async (...args) => {
      const found = await original.apply(WebAssembly, args);
      keep(found.instance ?? found);
      return found;
    };
  }
  const { Instance } = WebAssembly;
  WebAssembly.Instance = new Proxy(Instance, {
    construct(target, args) {
      const instance = new target(...args);
      keep(instance);
      return instance;
    },
  });
  return () => watched.memory?.buffer.byteLength ?? 0;
}

export class Host {
  #engines = new Map();

  constructor(isoflat, memory) {
    this.isoflat = isoflat;
    this.memory = memory;
  }

  decode = decode;
  compute = (request) => computeInPackage(this, request);
  parse = (request) => parseInPackage(this, request);

  /** An engine that lives on, so that what a case leaves behind in it is seen. */
  async engine(precision) {
    if (!this.#engines.has(precision))
      this.#engines.set(precision, await this.isoflat.Engine.create({ backend: "cpu", precision }));
    return this.#engines.get(precision);
  }

  /** Runs one case: `{faults, calls, bytes}`. */
  async run(test) {
    const kind = kinds[test.kind];
    const before = this.memory();
    const found = await (kind.execute ?? interpret)(test, this);
    return { ...found, grown: this.memory() - before, bytes: this.memory() };
  }
}
