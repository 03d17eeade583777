/** Engines on the CPU, one of each precision, made when it is first asked for. */

import { Engine } from "isoflat";

export class CpuEngines {
  readonly #engines = new Map<"f32" | "f64", Promise<Engine>>();

  of(precision: "f32" | "f64"): Promise<Engine> {
    const engine = this.#engines.get(precision) ?? Engine.create({ backend: "cpu", precision });
    this.#engines.set(precision, engine);
    // One that failed is made anew.
    engine.catch(() => this.#engines.delete(precision));
    return engine;
  }
}
