/**
 * An engine's threads that fail: one that throws in the middle of its work, and one that is ended without a word. Needs a page that
 * may have threads; elsewhere the engine has one, and nothing happens.
 */

/** Where a thread answers a message, in the text that it is started from. */
const ANSWER = "wasm.isoflat_helper_answer()";

/** Changes what is global while `body` runs. */
async function withGlobal(name, of, body) {
  const original = globalThis[name];
  globalThis[name] = of(original);
  try {
    return await body();
  } finally {
    globalThis[name] = original;
  }
}

/** Threads that throw at their n-th message. */
const throwing = (n) => (Blob) =>
  class extends Blob {
    constructor(parts, options) {
      const fault = `(globalThis.n = (globalThis.n ?? 0) + 1) > ${n} ? (() => { throw new RangeError("out of luck"); })() : `;
      super(
        parts.map((part) => (typeof part === "string" ? part.replace(ANSWER, `(${fault}${ANSWER})`) : part)),
        options,
      );
    }
  };

/** Threads that are known, so that they can be ended. */
const known = (list) => (Worker) =>
  class extends Worker {
    constructor(...args) {
      super(...args);
      list.push(this);
    }
  };

const withThreads = (world, name, of) =>
  withGlobal(name, of, async () => {
    world.handles.engine = world.own(await world.isoflat.Engine.create(world.setup.engineOptions));
  });

/** Works, and works again: both times with right numbers or with `device_lost`. */
async function twice(run, world, work) {
  await run(world, work, {});
  const after = await run(world, work, {});
  const { code } = after.error ?? {};
  if (code !== undefined && code !== "device_lost")
    world.fault({ failure: "after-loss", detail: code }, `engine.${work}`);
}

export const throwsInThread =
  (run) =>
  async (world, { work, at }) => {
    await withThreads(world, "Blob", throwing(at));
    await twice(run, world, work);
  };

export const killsThread =
  (run) =>
  async (world, { work, ms }) => {
    const workers = [];
    await withThreads(world, "Worker", known(workers));
    setTimeout(() => workers.forEach((worker) => void worker.terminate()), ms);
    await twice(run, world, work);
  };
