/**
 * Runs a case that is a list of steps: calls with arguments out of `values.mjs`, some at the same time, handles that are made and
 * freed in between. Works in Node and in a page. Resolves with what was wrong.
 */

import { Call, IN_BROWSER } from "./call.mjs";
import { checkCanary } from "./canary.mjs";
import { faultOf } from "./oracle.mjs";
import { data } from "./problems.mjs";

export class World {
  handles = {};
  faults = [];
  calls = 0;
  #later = [];
  #own = new Set();
  #passMs = 0;

  constructor(host, setup) {
    this.host = host;
    this.isoflat = host.isoflat;
    this.setup = setup;
  }

  /**
   * A stop is to be heard within 100 ms or one pass over the data; half as much again, since computers are shared, and more in a
   * browser, which does not say how much of the time it had a processor.
   */
  stopLimit() {
    return (IN_BROWSER ? 400 : 150) + 2 * this.#passMs;
  }

  async open() {
    const { isoflat, setup } = this;
    const found = setup.problem;
    const isFresh = setup.engine !== "kept";
    const options = setup.engineOptions ?? { backend: "cpu", precision: setup.precision ?? "f64" };
    this.handles.engine = isFresh
      ? this.own(await isoflat.Engine.create(options))
      : await this.host.engine(setup.precision ?? "f64");
    if (found === undefined) return;
    const network = this.own(isoflat.Network.fromJSON(found.network));
    const { inputs, targets, parameters } = data(found);
    const typed = {
      loss: found.loss,
      inputs: Float64Array.from(inputs),
      targets: found.loss === "cross_entropy" ? Uint32Array.from(targets) : Float64Array.from(targets),
    };
    const problem = this.own(new isoflat.Problem(network, typed));
    const other = Float64Array.from(data({ ...found, seed: found.seed + 1 }).parameters);
    Object.assign(this.handles, { network, problem, parameters: Float64Array.from(parameters), other });
    if (setup.measurePass) {
      await this.handles.engine.gradient(problem, other);
      const start = performance.now();
      await this.handles.engine.gradient(problem, this.handles.parameters);
      this.#passMs = performance.now() - start;
    }
  }

  own(handle) {
    if (typeof handle?.free === "function") this.#own.add(handle);
    return handle;
  }

  /** A handle by its name; `anew`: another of its kind, that may be freed without harm to the rest. */
  handle(name, anew = false) {
    if (!anew) return this.handles[name];
    const { network, problem } = this.handles;
    if (name === "network") return problem.network;
    if (name === "problem") return problem.first(1);
    return network.space(this.handles.parameters, { type: "weights" });
  }

  free(name) {
    if (name === "engine") this.isEngineFreed = true;
    this.handles[name].free();
  }

  later(step) {
    this.#later.push(this.run(step));
  }

  fault(fault, where) {
    if (this.faults.length < 20) this.faults.push({ where, ...fault });
  }

  async run(step) {
    if (step.parallel !== undefined) return void (await Promise.all(step.parallel.map((inner) => this.run(inner))));
    if (step.pause !== undefined) return void (await new Promise((resolve) => setTimeout(resolve, step.pause)));
    for (let round = 0; round < (step.repeat ?? 1); round++) {
      // Finalisers run between turns of the event loop only.
      if (round % 64 === 63) await new Promise((resolve) => setTimeout(resolve));
      if ((await this.#once(step)) === "failed") return;
    }
  }

  async #once(step) {
    const where = step.call ?? step.get ?? `free ${step.free}`;
    this.calls++;
    const call = new Call(this, step);
    let work;
    try {
      work = this.#work(step, call);
    } catch (error) {
      // Building the arguments runs our own code alone, but for handles that are freed.
      const fault = call.own.includes(error) ? undefined : faultOf(error, this.isoflat);
      if (fault !== undefined) this.fault({ ...fault, detail: `while arguments were made: ${fault.detail}` }, where);
      return "failed";
    }
    const value = await call.settle(work);
    if (step.as !== undefined && value !== undefined) this.handles[step.as] = value;
    if (!step.forget) {
      this.own(value);
      this.own(value?.problem);
      this.own(value?.network);
    }
    for (const fault of call.faults) this.fault(fault, where);
    return call.faults.length > 0 ? "failed" : "held";
  }

  /** What a step does, as a function without arguments. */
  #work(step, call) {
    if (step.free !== undefined) return () => this.free(step.free);
    const { receiver, target, member } = this.#find(step, call);
    if (step.get !== undefined) {
      return () => (step.this === undefined ? receiver[member] : Reflect.get(target, member, receiver));
    }
    const args = call.arguments();
    if (step.call.startsWith("new ")) return () => new target(...args);
    return () => Reflect.apply(step.this === undefined ? receiver[member] : target[member], receiver, args);
  }

  /** "engine.trace", "Network.dense", "Engine.prototype.trace" with a `this`, "parseIdx", "new Problem". */
  #find(step, call) {
    const path = step.call ?? step.get;
    if (path.startsWith("new ")) return { target: this.isoflat[path.slice(4)] };
    const parts = path.split(".");
    const member = parts.pop();
    const target = parts.reduce((object, part) => object?.[part], { ...this.isoflat, ...this.handles }) ?? this.isoflat;
    const odd = step.this === undefined ? target : call.world.decodeThis(step.this, call);
    return {
      receiver: parts.length === 0 ? undefined : odd,
      target: parts.length === 0 ? this.isoflat : target,
      member,
      ...(parts.length === 0 && { receiver: this.isoflat }),
    };
  }

  decodeThis(spec, call) {
    return this.host.decode(spec, call);
  }

  async close() {
    await Promise.all(this.#later);
    const { engine } = this.handles;
    if (!this.setup.expectsLostEngine && !this.isEngineFreed)
      for (const fault of await checkCanary(this.isoflat, engine)) this.fault(fault, "canary");
    for (const handle of [...this.#own].reverse()) {
      try {
        handle.free();
      } catch (error) {
        const freedBefore = faultOf(error, this.isoflat) === undefined;
        if (!freedBefore)
          this.fault({ failure: "cannot-free", detail: `${handle.constructor?.name}: ${error?.message}` }, "free");
      }
    }
  }
}

/** Runs a case of steps. */
export async function interpret({ setup = {}, steps }, host) {
  const world = new World(host, setup);
  try {
    await world.open();
  } catch (error) {
    return { faults: [{ failure: "setup", detail: `${error?.name}: ${error?.message}`, where: "setup" }], calls: 1 };
  }
  for (const step of steps) await world.run(step);
  await world.close();
  return { faults: world.faults, calls: world.calls };
}
